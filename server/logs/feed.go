package logs

import (
	"bytes"
	"time"
)

// maxLine is how long a line may be: a longer one is kept as several.
const maxLine = 64 << 10

// position is how far a source has been read. It gives lines with times and can be asked for those since a time, in whole
// seconds, so a line is known by its time and its number among those of the same time.
type position struct {
	Time   time.Time `json:"time"`
	Lines  int64     `json:"lines"`            // that carry this time
	Pieces int64     `json:"pieces,omitempty"` // of the line behind them, which is too long to be kept as one
}

// piece is a line as it is kept.
type piece struct {
	at    time.Time
	text  []byte
	whole bool // ends with a line feed, or is cut to maxLine
}

// feed makes lines of the bytes of a source. A source that is read again gives some of them again; feed leaves out those
// that lie before the position that it was made with.
type feed struct {
	at     position // behind the last line that was given
	known  position // where the reading before this one stopped
	seen   int64    // lines of known.Time that came again
	line   []byte   // as far as it has come, with its time
	begun  bool     // the time of line has been read
	stamp  time.Time
	first  bool  // no line with a time has come yet
	skip   bool  // line has been given before
	pieces int64 // of line that were cut off it, and of those how many were given before
	old    int64
}

// newFeed goes on behind a position; the zero position is the beginning. start is the time of lines that carry none.
func newFeed(at position, start time.Time) *feed {
	return &feed{at: at, known: at, stamp: start, first: true}
}

// take gives the lines that are complete with b. Their texts lie in memory of their own.
func (f *feed) take(b []byte) (pieces []piece) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		ends := end >= 0
		if !ends {
			end = len(b)
		}
		// No more at once than makes one line too long.
		if room := maxLine + maxStamp - len(f.line); end > room {
			end, ends = room, false
		}
		f.line = append(f.line, b[:end]...)
		b = b[end:]
		if ends {
			b = b[1:]
			pieces = f.end(pieces)
			continue
		}
		if !f.begun && len(f.line) >= maxStamp {
			f.begin()
		}
		for f.begun && len(f.line) > maxLine {
			pieces = f.cut(pieces)
		}
	}
	return pieces
}

// maxStamp is how long a time may be, with the space behind it.
const maxStamp = 40

// begin reads the time of a line. A line without one, which is the rest of one that another stream's line broke into, has
// that of the line before.
func (f *feed) begin() {
	f.begun, f.skip, f.pieces, f.old = true, false, 0, 0
	text, _, _ := bytes.Cut(f.line[:min(len(f.line), maxStamp)], []byte{' '})
	if stamp, err := time.Parse(time.RFC3339Nano, string(text)); err == nil {
		f.stamp, f.line = stamp.UTC(), f.line[min(len(text)+1, len(f.line)):]
	} else if f.first && !f.known.Time.IsZero() {
		f.skip = true // the rest of a line that began before what was asked for
		return
	}
	f.first = false
	switch {
	case f.stamp.Before(f.known.Time):
		f.skip = true
	case f.stamp.Equal(f.known.Time) && f.seen < f.known.Lines:
		f.seen++
		f.skip = true
	case f.stamp.Equal(f.known.Time) && f.seen == f.known.Lines:
		f.seen++
		f.old = f.known.Pieces
	default:
		f.known = position{} // past what was read before: the clock may even go back now
	}
	if !f.skip && !f.stamp.Equal(f.at.Time) {
		f.at = position{Time: f.stamp}
	}
}

// cut takes a piece off a line that is too long.
func (f *feed) cut(pieces []piece) []piece {
	text := f.line[:maxLine:maxLine]
	f.line = append([]byte(nil), f.line[maxLine:]...)
	if f.pieces++; f.skip || f.pieces <= f.old {
		return pieces
	}
	f.at.Pieces = f.pieces
	return append(pieces, piece{f.stamp, text, true})
}

// end completes a line.
func (f *feed) end(pieces []piece) []piece {
	if !f.begun {
		f.begin()
	}
	for len(f.line) > maxLine {
		pieces = f.cut(pieces)
	}
	if !f.skip {
		f.at.Lines, f.at.Pieces = f.at.Lines+1, 0
		if len(f.line) > 0 || f.pieces == 0 { // else nothing is left of it
			pieces = append(pieces, piece{f.stamp, f.line, true})
		}
	}
	f.line, f.begun = nil, false
	return pieces
}

// rest is the line that has no end yet, nil when there is none or it was given before; final says that it will have none.
func (f *feed) rest(final bool) *piece {
	if len(f.line) == 0 {
		return nil
	}
	if !f.begun {
		if !final && !bytes.Contains(f.line, []byte{' '}) {
			return nil // half a time
		}
		f.begin()
	}
	if f.skip || len(f.line) == 0 {
		return nil
	}
	return &piece{f.stamp, f.line[:len(f.line):len(f.line)], false}
}
