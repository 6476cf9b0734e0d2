package podlog

import (
	"bytes"
	"fmt"
	"time"
)

// Streams of a container.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// The format is that of container runtimes (CRI): the time a piece arrived, its
// stream, F where it ends a line or P where the line goes on in the next entry
// of the stream, and the text.
const (
	timeFormat = "2006-01-02T15:04:05.000000000Z"
	textAt     = KindAt + len("F ")

	maxPiece = 16 << 10 // bytes of text in an entry
	// KindAt is where in an entry stands whether it ends a line ('F') or not ('P').
	KindAt = len(timeFormat) + len(" stdout ")
	// MaxEntry is the longest entry, in bytes, with its line feed.
	MaxEntry = textAt + maxPiece + 1
)

// Entry is one entry of a log.
type Entry struct {
	At     time.Time
	Stream string
	Whole  bool // it ends a line
	Text   []byte
}

// AppendEntry writes a piece of output as an entry. A line feed at its end is what makes it whole.
func AppendEntry(b *bytes.Buffer, at time.Time, stream string, piece []byte) {
	b.Write(at.UTC().AppendFormat(b.AvailableBuffer(), timeFormat))
	b.WriteByte(' ')
	b.WriteString(stream)
	text, whole := bytes.CutSuffix(piece, []byte("\n"))
	if whole {
		b.WriteString(" F ")
	} else {
		b.WriteString(" P ")
	}
	b.Write(text)
	b.WriteByte('\n')
}

// ParseEntry reads an entry without its line feed. The text is part of line.
func ParseEntry(line []byte) (Entry, error) {
	if len(line) < textAt || line[len(timeFormat)] != ' ' || line[KindAt-1] != ' ' || line[KindAt+1] != ' ' {
		return Entry{}, fmt.Errorf("not an entry of a log: %.40q", line)
	}
	at, err := time.Parse(timeFormat, string(line[:len(timeFormat)]))
	if err != nil {
		return Entry{}, fmt.Errorf("not an entry of a log: %w", err)
	}
	stream := string(line[len(timeFormat)+1 : KindAt-1])
	if stream != Stdout && stream != Stderr {
		return Entry{}, fmt.Errorf("not an entry of a log: stream %q", stream)
	}
	if kind := line[KindAt]; kind != 'F' && kind != 'P' {
		return Entry{}, fmt.Errorf("not an entry of a log: kind %q", kind)
	}
	return Entry{At: at, Stream: stream, Whole: line[KindAt] == 'F', Text: line[textAt:]}, nil
}
