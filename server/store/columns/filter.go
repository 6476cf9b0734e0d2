package columns

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// A Filter keeps the rows of which a value in one of the columns is as it asks for; with Not, the others. One question is to
// be set, of the kind that the columns are of.
type Filter struct {
	Columns []string
	Not     bool

	Ints     [][2]int64         // it is in one of the ranges, ends included
	Words    func(string) bool  // asked once for each word
	Equals   *string            // it is the text
	Contains *string            // it has the text in it; A to Z are as a to z
	Text     func([]byte) bool  // asked for each text
	Number   func(float64) bool // asked for each number
}

// marks has 1 for each place of a block that is kept.
type marks [blockRows]byte

// bits gives 64 marks as bits, eight by eight: the product has them side by side in its highest byte.
func (m *marks) bits(word int) (bits uint64) {
	for i := range 8 {
		bits |= binary.LittleEndian.Uint64(m[64*word+8*i:]) * 0x0102040810204080 >> 56 << (8 * i)
	}
	return bits
}

// A sieve is a filter at work.
type sieve struct {
	f      Filter
	load   loader
	words  []byte // by code: 1 if it is kept
	needle []byte
	low    []byte
	hit    marks
}

func (t *Table) sieve(f Filter) *sieve {
	s := &sieve{f: f, load: loader{t: t}}
	if f.Contains != nil {
		s.needle = lower(nil, []byte(*f.Contains))
	}
	if f.Words != nil {
		for i, name := range t.schema.Words {
			if name == f.Columns[0] {
				for _, w := range t.words[i].words {
					kept := byte(0)
					if f.Words(w) {
						kept = 1
					}
					s.words = append(s.words, kept)
				}
			}
		}
	}
	return s
}

// effort puts those first that read little: then texts are looked at only where they matter.
func (s *sieve) effort() int {
	switch {
	case s.f.Ints != nil || s.f.Words != nil:
		return 0
	case s.f.Number != nil:
		return 1
	}
	return 1 + len(s.f.Columns)
}

// sift takes the places away that the filter does not keep.
func (s *sieve) sift(b *block, keep *bitmap) error {
	if all, none := s.known(b); all {
		return nil
	} else if none {
		*keep = bitmap{}
		return nil
	}
	s.hit = marks{}
	for _, column := range s.f.Columns {
		if err := s.mark(b, column, keep); err != nil {
			return err
		}
	}
	for w := range keep {
		bits := s.hit.bits(w)
		if s.f.Not {
			bits = ^bits
		}
		keep[w] &= bits
	}
	return nil
}

// known tells when the least and the largest number of a block tell all.
func (s *sieve) known(b *block) (all, none bool) {
	if len(s.f.Ints) != 1 || b.sections == nil {
		return false, false
	}
	at, of := b.sections[s.f.Columns[0]], s.f.Ints[0]
	all = of[0] <= at.min && at.max <= of[1]
	none = at.max < of[0] || of[1] < at.min
	if s.f.Not {
		return none, all
	}
	return all, none
}

func (s *sieve) mark(b *block, column string, keep *bitmap) error {
	switch {
	case s.f.Words != nil:
		codes, err := s.load.words(b, column)
		for i, code := range codes {
			s.hit[i] = s.words[code]
		}
		return err
	case s.f.Number != nil:
		x, err := s.load.numbers(b, column)
		if err != nil {
			return err
		}
		for i, place := range x.places {
			if s.f.Number(x.values[i]) {
				s.hit[place] = 1
			}
		}
		return nil
	case s.f.Equals != nil || s.f.Contains != nil || s.f.Text != nil:
		x, err := s.load.texts(b, column)
		if err != nil {
			return err
		}
		s.markTexts(x, keep)
		return nil
	}
	values, err := s.load.ints(b, column)
	for _, r := range s.f.Ints {
		for i, v := range values {
			if r[0] <= v && v <= r[1] {
				s.hit[i] = 1
			}
		}
	}
	return err
}

func (s *sieve) markTexts(x *texts, keep *bitmap) {
	switch {
	case s.f.Contains != nil:
		s.markContaining(x)
	case s.f.Equals != nil:
		start, text := uint32(0), *s.f.Equals
		for i, end := range x.ends {
			if int(end-start) == len(text) && string(x.all[start:end]) == text {
				s.hit[x.places[i]] = 1
			}
			start = end + 1
		}
	default:
		for i, place := range x.places {
			if keep.has(int(place)) && s.f.Text(x.at(i)) {
				s.hit[place] = 1
			}
		}
	}
}

// markContaining looks through all texts at once: none has the zeros in it that stand between them.
func (s *sieve) markContaining(x *texts) {
	if len(s.needle) == 0 {
		for _, place := range x.places {
			s.hit[place] = 1
		}
		return
	}
	s.low = lower(s.low, x.all)
	for from, i := 0, 0; i < len(x.ends); i++ {
		n := bytes.Index(s.low[from:], s.needle)
		if n < 0 {
			return
		}
		at := uint32(from + n)
		i += sort.Search(len(x.ends)-i, func(j int) bool { return x.ends[i+j] >= at })
		s.hit[x.places[i]] = 1
		from = int(x.ends[i]) + 1
	}
}
