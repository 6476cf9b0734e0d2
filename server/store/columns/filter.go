package columns

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// A Filter keeps the rows whose value in one of its columns matches; with Not, the others. Exactly one comparison is
// set, of the columns' kind.
type Filter struct {
	Columns []string
	Not     bool

	Ints     [][2]int64         // it is in one of the ranges, ends included
	Words    func(string) bool  // asked once for each word
	Spans    []Span             // of texts: it is in one of them; none is in no span
	Contains *string            // it has the text in it; A to Z are as a to z
	Number   func(float64) bool // asked for each number
}

// A Span has the texts from one on, up to those that are before another. No text has a zero in it.
type Span struct {
	From   string
	Before *string // nil: all that follow
}

// Only is the span of one text.
func Only(text string) Span { return Span{From: text, Before: new(After(text))} }

// After is the text that follows another in the order of all texts.
func After(text string) string { return text + "\x00" }

func (s Span) has(text []byte) bool {
	return string(text) >= s.From && (s.Before == nil || string(text) < *s.Before)
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
	load   *loader
	words  []byte // by code: 1 if it is kept
	needle []byte
	low    []byte
	hit    marks
}

func (t *Table) sieve(f Filter) *sieve {
	s := &sieve{f: f, load: t.loader()}
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

// sieves are filters at work, in the order in which they are asked.
func (t *Table) sieves(filters []Filter) []*sieve {
	sieves := make([]*sieve, len(filters))
	for i, f := range filters {
		sieves[i] = t.sieve(f)
	}
	slices.SortStableFunc(sieves, func(a, b *sieve) int { return a.effort() - b.effort() })
	return sieves
}

func release(sieves []*sieve) {
	for _, s := range sieves {
		s.load.release()
	}
}

// sift gives the places of a block that all sieves keep, and their number.
func sift(sieves []*sieve, b *block) (keep bitmap, n int, err error) {
	keep = b.alive
	n = keep.count()
	for _, s := range sieves {
		if n == 0 {
			break
		}
		if err := s.sift(b, &keep); err != nil {
			return keep, 0, err
		}
		n = keep.count()
	}
	return keep, n, nil
}

// effort puts those first that read little: then others may have nothing to look at.
func (s *sieve) effort() int {
	switch {
	case s.f.Contains != nil:
		return 1 + len(s.f.Columns)
	case s.f.Number != nil:
		return 1
	}
	return 0
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
		if err := s.mark(b, column); err != nil {
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

func (s *sieve) mark(b *block, column string) error {
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
	case s.f.Contains != nil:
		return s.markContaining(b, column)
	case s.f.Spans != nil:
		return s.markSpans(b, column)
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

// markSpans looks for the ends of spans in what is in order.
func (s *sieve) markSpans(b *block, column string) error {
	if b.sections == nil {
		x, err := s.load.texts(b, column)
		for i, place := range x.places {
			if slices.ContainsFunc(s.f.Spans, func(of Span) bool { return of.has(x.at(i)) }) {
				s.hit[place] = 1
			}
		}
		return err
	}
	r := s.load.reading(b, column)
	for _, of := range s.f.Spans {
		begin, end := r.seek(of.From, ""), int(r.s.n)
		if of.Before != nil {
			end = r.seek(*of.Before, "")
		}
		for _, place := range r.places(begin, end) {
			s.hit[place] = 1
		}
	}
	return r.err
}

// markContaining looks through all texts at once: none has the zeros in it that stand between them.
func (s *sieve) markContaining(b *block, column string) (err error) {
	if s.low, err = s.load.low(s.low, b, column); err != nil {
		return err
	}
	n := bytes.Index(s.low, s.needle)
	if n < 0 {
		return nil
	}
	places, ends, err := s.load.ends(b, column)
	if err != nil {
		return err
	}
	for from, i := 0, 0; i < len(ends) && n >= 0; i++ {
		at := uint32(from + n)
		i += sort.Search(len(ends)-i, func(j int) bool { return ends[i+j] >= at })
		s.hit[places[i]] = 1
		from = int(ends[i]) + 1
		n = bytes.Index(s.low[from:], s.needle)
	}
	return nil
}
