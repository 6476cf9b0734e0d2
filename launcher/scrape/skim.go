package scrape

import (
	"bytes"
	"strings"
)

// skimmer passes over lines that no rule reads, which are most of a log. What it looks for in a piece of the log it finds
// ahead, so that a line costs little more than finding its end.
type skimmer struct {
	piece []byte
	bar   ahead // a carriage return
	code  ahead // the beginning of a colour
	mark  ahead // the rare byte of a rank's tag
	names []nameAhead
}

func newSkimmer(rules []Rule) *skimmer {
	s := &skimmer{bar: ahead{char: '\r'}, code: ahead{char: 0x1b}, mark: ahead{char: '<'}}
	for _, r := range rules {
		if r.Pattern != nil || r.Name == "" || strings.Contains(r.Name, "\n") {
			return nil // it may match any line, or none
		}
		s.names = append(s.names, nameAhead{name: []byte(r.Name)})
	}
	return s
}

// over begins with another piece of the log.
func (s *skimmer) over(piece []byte) {
	s.piece = piece
	s.bar.at, s.code.at, s.mark.at = -1, -1, -1
	for i := range s.names {
		s.names[i].over(piece)
	}
}

// plain tells whether piece[from:end] is a line of one rank alone, without colours and progress bars: that of the tag that it begins
// with, or Unranked. What the rank printed begins at text.
func (s *skimmer) plain(from, end int) (rank, text int, ok bool) {
	if end-from > maxLine || s.bar.in(s.piece, from) < end || s.code.in(s.piece, from) < end {
		return 0, 0, false
	}
	mark := s.mark.in(s.piece, from)
	if mark >= end {
		return Unranked, from, true
	}
	if mark == from || s.piece[mark-1] != ']' || !bytes.HasPrefix(s.piece[mark:end], []byte("<std")) {
		return 0, 0, false
	}
	text = mark + len("<std")
	size, _ := streamName(s.piece[text:end])
	if size == 0 {
		return 0, 0, false
	}
	rank, open := rankBefore(s.piece[from : mark-1])
	return rank, text + size, open == 0 && s.mark.in(s.piece, text) >= end
}

// named tells whether the name of a rule stands in piece[from:end].
func (s *skimmer) named(from, end int) bool {
	for i := range s.names {
		if s.names[i].in(s.piece, from) < end {
			return true
		}
	}
	return false
}

// last finds the value of a rule in piece[from:end], the last where there are several.
func (s *skimmer) last(rule, from, end int) (found match, ok bool) {
	n := &s.names[rule]
	for at := n.in(s.piece, from); at < end; at = n.in(s.piece, at+1) {
		if m, hit := matchAt(s.piece[from:end], at-from, n.name); hit {
			found, ok = m, true
		}
	}
	return found, ok
}

// ahead is where a byte stands next.
type ahead struct {
	char byte
	at   int
}

// in is where the byte stands in the piece from there on; the length of the piece when it does not. It never goes back.
func (a *ahead) in(piece []byte, from int) int {
	if a.at < from {
		a.at = a.find(piece, from)
	}
	return a.at
}

func (a *ahead) find(piece []byte, from int) int {
	if at := bytes.IndexByte(piece[from:], a.char); at >= 0 {
		return from + at
	}
	return len(piece)
}

// nameAhead is where a name stands next.
type nameAhead struct {
	name []byte
	rare int // the place in the name of the byte that is rarest in the log
	at   int
}

// rareSample is how much of a piece tells which bytes are rare.
const rareSample = 4 << 10

func (n *nameAhead) over(piece []byte) {
	n.at = -1
	if len(piece) < rareSample {
		return
	}
	fewest := rareSample + 1
	for i := range n.name {
		if count := bytes.Count(piece[:rareSample], n.name[i:i+1]); count < fewest {
			n.rare, fewest = i, count
		}
	}
}

// in is where the name stands in the piece from there on; the length of the piece when it does not. It never goes back.
func (n *nameAhead) in(piece []byte, from int) int {
	if n.at < from {
		n.at = n.find(piece, from)
	}
	return n.at
}

func (n *nameAhead) find(piece []byte, from int) int {
	for at := from + n.rare; at < len(piece); at++ {
		next := bytes.IndexByte(piece[at:], n.name[n.rare])
		if next < 0 {
			break
		}
		at += next
		if bytes.HasPrefix(piece[at-n.rare:], n.name) {
			return at - n.rare
		}
	}
	return len(piece)
}
