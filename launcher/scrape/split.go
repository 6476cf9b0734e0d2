package scrape

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

const (
	// maxLine is how much of an endless line is kept before it is taken as it is.
	maxLine = 64 << 10
	// maxHeld bounds what all ranks together may hold of unfinished lines.
	maxHeld = 8 << 20
)

// splitter takes a stream apart into the lines of each rank. Text without a
// line end stays with its rank until the rest of the line comes, whatever other
// ranks print in between.
type splitter struct {
	emit func(rank int, line []byte) // the line is valid until it returns

	raw   []byte // the physical line so far, tags and all
	start bool   // raw begins where a line begins
	cur   source // who wrote what comes next
	sure  bool   // a tag was seen that cannot be anything else

	lines int // that have ended

	held map[source][]byte // unfinished lines
	size int               // bytes in held
}

func newSplitter(emit func(rank int, line []byte)) *splitter {
	return &splitter{emit: emit, start: true, cur: unranked, held: map[source][]byte{}}
}

func (s *splitter) write(p []byte) {
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		for {
			bar := bytes.IndexByte(line, '\r')
			if bar < 0 {
				break
			}
			s.finish(line[:bar]) // the same rank goes on: mpirun tags a progress bar only once
			line = line[bar+1:]
		}
		if !ended {
			s.append(line)
			return
		}
		s.finish(line)
		s.lines++
		s.cur = unranked
		p = rest
	}
}

// between tells whether no line has begun.
func (s *splitter) between() bool { return len(s.held) == 0 && len(s.raw) == 0 }

// fresh tells whether what comes next stands where a line of its own begins.
func (s *splitter) fresh() bool { return s.start && s.cur == unranked && s.between() }

// finish takes the physical line that ends with p.
func (s *splitter) finish(p []byte) {
	if len(s.raw) > 0 || len(p) > maxLine {
		s.append(p)
		p = s.raw
	}
	s.take(p)
	s.raw = s.raw[:0]
	s.start = true
}

// append adds to the physical line, and takes pieces off one that does not end.
func (s *splitter) append(p []byte) {
	for len(s.raw)+len(p) > maxLine {
		n := maxLine - len(s.raw)
		s.raw = append(s.raw, p[:n]...)
		p = p[n:]
		cut := len(s.raw)
		// Between words, so that no number and no tag is cut in two.
		if at := bytes.LastIndexAny(s.raw[maxLine-1024:], " \t"); at >= 0 {
			cut = maxLine - 1024 + at + 1
		}
		s.take(s.raw[:cut])
		s.raw = append(s.raw[:0], s.raw[cut:]...)
		s.start = false
	}
	s.raw = append(s.raw, p...)
}

// take gives the text of a physical line to the ranks that its tags name. The line of the last of them ends here.
func (s *splitter) take(raw []byte) {
	s.end(s.rest(raw))
}

// rest gives text in front of tags to its ranks, and returns what stands behind the last tag.
func (s *splitter) rest(raw []byte) []byte {
	b := stripColour(raw)
	if s.start && !s.sure {
		if src, end, ok := leadingTag(b); ok {
			s.cur, b = src, b[end:]
		}
	}
	for {
		src, start, end, ok := nextTag(b)
		if !ok {
			return b
		}
		s.sure = true
		s.hold(b[:start])
		s.cur, b = src, b[end:]
	}
}

// end finishes the current rank's line with the rest of its text.
func (s *splitter) end(rest []byte) {
	if len(s.held) > 0 {
		if _, begun := s.held[s.cur]; begun {
			s.hold(rest)
			s.flush(s.cur)
			return
		}
	}
	if len(rest) > 0 {
		s.emit(s.cur.rank, rest)
	}
}

func (s *splitter) hold(text []byte) {
	if len(text) == 0 {
		return
	}
	s.held[s.cur] = append(s.held[s.cur], text...)
	s.size += len(text)
	if len(s.held[s.cur]) > maxLine {
		s.flush(s.cur)
	}
	if s.size > maxHeld {
		s.flushAll()
	}
}

func (s *splitter) flush(src source) {
	line, ok := s.held[src]
	if !ok {
		return
	}
	s.size -= len(line)
	delete(s.held, src)
	s.emit(src.rank, line)
}

func (s *splitter) flushAll() {
	order := slices.SortedFunc(maps.Keys(s.held), func(a, b source) int {
		switch {
		case a.rank != b.rank:
			return cmp.Compare(a.rank, b.rank)
		case a.err:
			return 1
		}
		return -1
	})
	for _, src := range order {
		s.flush(src)
	}
}

// close takes what was left without a line end.
func (s *splitter) close() {
	s.hold(s.rest(s.raw))
	s.raw = nil
	s.flushAll()
}
