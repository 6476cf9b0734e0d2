package columns

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// A loader reads columns of blocks, each time into the same memory: what it gave before is gone.
type loader struct {
	t      *Table
	buf    []byte
	number []int64
	code   []uint32
	places []uint16
	text   texts
	num    numbers
}

// loader gives one that is no longer used, if there is one, so that lists leave little behind them.
func (t *Table) loader() *loader {
	l, ok := t.loaders.Get().(*loader)
	if !ok {
		l = &loader{}
	}
	l.t = t
	return l
}

func (l *loader) release() {
	t := l.t
	l.t = nil
	t.loaders.Put(l)
}

func (l *loader) read(b *block, column string) (section, []byte, error) {
	s, ok := b.sections[column]
	if !ok {
		return s, nil, nil
	}
	buf, err := l.piece(s, 0, int(s.length))
	return s, buf, err
}

// piece reads a part of a section.
func (l *loader) piece(s section, from, length int) ([]byte, error) {
	l.buf = slices.Grow(l.buf[:0], length)[:length]
	return l.buf, l.t.readAt(l.buf, s.offset+int64(from))
}

func (t *Table) readAt(buf []byte, offset int64) error {
	if _, err := t.file.ReadAt(buf, offset); err != nil && err != io.EOF {
		return fmt.Errorf("read the columns of lists: %w", err)
	}
	return nil
}

func (l *loader) ints(b *block, column string) ([]int64, error) {
	if b.sections == nil {
		return l.t.tail.ints[column], nil
	}
	s, buf, err := l.read(b, column)
	l.number = slices.Grow(l.number[:0], int(s.n))[:s.n]
	for i := range l.number {
		l.number[i] = int64(binary.LittleEndian.Uint64(buf[8*i:]))
	}
	return l.number, err
}

// longs gives places as numbers.
func (l *loader) longs(places []uint16) []int64 {
	l.number = slices.Grow(l.number[:0], len(places))[:len(places)]
	for i, place := range places {
		l.number[i] = int64(place)
	}
	return l.number
}

// int reads one number.
func (t *Table) int(b *block, column string, i int) (int64, error) {
	if b.sections == nil {
		return t.tail.ints[column][i], nil
	}
	var buf [8]byte
	err := t.readAt(buf[:], b.sections[column].offset+8*int64(i))
	return int64(binary.LittleEndian.Uint64(buf[:])), err
}

func (l *loader) words(b *block, column string) ([]uint32, error) {
	if b.sections == nil {
		return l.t.tail.words[column], nil
	}
	s, buf, err := l.read(b, column)
	if err != nil {
		return nil, err
	}
	l.code = uint32s(l.code, buf, int(s.n))
	return l.code, nil
}

// texts gives those of a column that rows of a block have. They are not to be changed.
func (l *loader) texts(b *block, column string) (*texts, error) {
	if b.sections == nil {
		return l.t.tail.known(column), nil
	}
	s, buf, err := l.read(b, column)
	if err != nil {
		return nil, err
	}
	n := int(s.n)
	l.text.places, l.text.ends, l.text.all = uint16s(l.text.places, buf, n), uint32s(l.text.ends, buf[2*n:], n), buf[6*n:]
	return &l.text, nil
}

// ends gives where texts are from, and where they end.
func (l *loader) ends(b *block, column string) ([]uint16, []uint32, error) {
	if b.sections == nil {
		x := l.t.tail.known(column)
		return x.places, x.ends, nil
	}
	s := b.sections[column]
	n := int(s.n)
	buf, err := l.piece(s, 0, 6*n)
	if err != nil {
		return nil, nil, err
	}
	l.text.places, l.text.ends = uint16s(l.text.places, buf, n), uint32s(l.text.ends, buf[2*n:], n)
	return l.text.places, l.text.ends, nil
}

// low gives the texts with A to Z as a to z.
func (l *loader) low(into []byte, b *block, column string) ([]byte, error) {
	if b.sections == nil {
		return lower(into, l.t.tail.known(column).all), nil
	}
	s, ok := b.sections[lowColumn+column]
	if !ok { // they are all low
		s = b.sections[column]
		s.offset, s.length = s.offset+6*int64(s.n), s.length-6*s.n
	}
	into = slices.Grow(into[:0], int(s.length))[:s.length]
	return into, l.t.readAt(into, s.offset)
}

func (l *loader) numbers(b *block, column string) (*numbers, error) {
	if b.sections == nil {
		if x := l.t.tail.nums[column]; x != nil {
			return x, nil
		}
		return &numbers{}, nil
	}
	s, buf, err := l.read(b, column)
	if err != nil {
		return nil, err
	}
	n := int(s.n)
	l.num.places = uint32s(l.num.places, buf, n)
	l.num.values = slices.Grow(l.num.values[:0], n)[:n]
	for i := range l.num.values {
		l.num.values[i] = math.Float64frombits(binary.LittleEndian.Uint64(buf[4*n+8*i:]))
	}
	return &l.num, nil
}

func uint16s(into []uint16, buf []byte, n int) []uint16 {
	into = slices.Grow(into[:0], n)[:n]
	for i := range into {
		into[i] = binary.LittleEndian.Uint16(buf[2*i:])
	}
	return into
}

func uint32s(into []uint32, buf []byte, n int) []uint32 {
	into = slices.Grow(into[:0], n)[:n]
	for i := range into {
		into[i] = binary.LittleEndian.Uint32(buf[4*i:])
	}
	return into
}
