package columns

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// texts are those that rows have in a column, each followed by a zero, which none has in it: in memory in the order of their
// places, in the file in their own.
type texts struct {
	places []uint16
	ends   []uint32 // of the texts in all, without the zero
	all    []byte
}

// at gives the i-th text.
func (t *texts) at(i int) []byte {
	if i == 0 {
		return t.all[:t.ends[0]]
	}
	return t.all[t.ends[i-1]+1 : t.ends[i]]
}

func (t *texts) add(place int, text []byte) {
	t.places = append(t.places, uint16(place))
	t.all = append(t.all, text...)
	t.ends = append(t.ends, uint32(len(t.all)))
	t.all = append(t.all, 0)
}

// sorted gives the texts in their order; what is the same goes by the ranks of the places, nil: by the places.
func (t *texts) sorted(ranks []uint16) *texts {
	order := make([]int, len(t.places))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) uint16 {
		if ranks == nil {
			return t.places[i]
		}
		return ranks[t.places[i]]
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := bytes.Compare(t.at(a), t.at(b)); c != 0 {
			return c
		}
		return cmp.Compare(rank(a), rank(b))
	})
	s := &texts{all: make([]byte, 0, len(t.all))}
	for _, i := range order {
		s.add(int(t.places[i]), t.at(i))
	}
	return s
}

// ranks gives where each place stands in the order of texts that every place has one of.
func (t *texts) ranks() []uint16 {
	ranks := make([]uint16, len(t.places))
	for i, place := range t.places {
		ranks[place] = uint16(i)
	}
	return ranks
}

// A reading reads single texts of a block in the file, whose columns of texts are in their order.
type reading struct {
	l    *loader
	b    *block
	s    section // of the column
	ties string  // the column that decides between equal texts
	err  error   // the first
}

func (l *loader) reading(b *block, column string) *reading {
	return &reading{l: l, b: b, s: b.sections[column], ties: l.t.schema.Texts[0]}
}

func (r *reading) piece(s section, from, length int) []byte {
	buf, err := r.l.piece(s, from, length)
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return make([]byte, length)
	}
	return buf
}

// at reads the i-th text. It is gone with the next.
func (r *reading) at(i int) []byte { return r.text(r.s, i) }

func (r *reading) text(s section, i int) []byte {
	start, at := 0, 2*int(s.n)+4*i
	var end int
	if i == 0 {
		end = int(binary.LittleEndian.Uint32(r.piece(s, at, 4)))
	} else {
		buf := r.piece(s, at-4, 8)
		start, end = int(binary.LittleEndian.Uint32(buf))+1, int(binary.LittleEndian.Uint32(buf[4:]))
	}
	return r.piece(s, 6*int(s.n)+start, max(end-start, 0))
}

// tie reads the text that decides between rows, of a place.
func (r *reading) tie(place int) []byte {
	rank := binary.LittleEndian.Uint16(r.piece(r.b.sections[ranksColumn], 2*place, 2))
	return r.text(r.b.sections[r.ties], int(rank))
}

// place reads where the i-th text is from.
func (r *reading) place(i int) int { return int(binary.LittleEndian.Uint16(r.piece(r.s, 2*i, 2))) }

// seek gives the first place in the order that is not before a text and, of those that are the same, before another one that
// decides between them.
func (r *reading) seek(text, tie string) int {
	return sort.Search(int(r.s.n), func(i int) bool {
		if at := r.at(i); tie == "" || string(at) != text {
			return string(at) >= text
		}
		return string(r.tie(r.place(i))) >= tie
	})
}

// places reads where the texts from one to before another are from. They are gone with the next that are read.
func (r *reading) places(begin, end int) []uint16 {
	if begin >= end {
		return nil
	}
	r.l.places = uint16s(r.l.places, r.piece(r.s, 2*begin, 2*(end-begin)), end-begin)
	return r.l.places
}

// lower gives a text with A to Z as a to z, eight letters at a time.
func lower(into, text []byte) []byte {
	into = append(into[:0], text...)
	i := 0
	for ; i+8 <= len(into); i += 8 {
		x := binary.LittleEndian.Uint64(into[i:])
		low := x & 0x7f7f7f7f7f7f7f7f
		atLeastA := low + (0x80-'A')*0x0101010101010101
		aboveZ := low + (0x80-'Z'-1)*0x0101010101010101
		capital := atLeastA & ^aboveZ & ^x & 0x8080808080808080
		binary.LittleEndian.PutUint64(into[i:], x|capital>>2)
	}
	for ; i < len(into); i++ {
		if 'A' <= into[i] && into[i] <= 'Z' {
			into[i] |= 0x20
		}
	}
	return into
}
