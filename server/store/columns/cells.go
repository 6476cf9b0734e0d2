package columns

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// cells are the values of a block in memory, by column.
type cells struct {
	n     int
	ints  map[string][]int64
	words map[string][]uint32
	texts map[string]*texts
	nums  map[string]*numbers
}

func newCells() *cells {
	return &cells{ints: map[string][]int64{}, words: map[string][]uint32{}, texts: map[string]*texts{}, nums: map[string]*numbers{}}
}

// texts are those that rows have in a column: in the order of their places, each followed by a zero, which none has in it.
type texts struct {
	places []uint32
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

func (t *texts) add(place int, text string) {
	t.places = append(t.places, uint32(place))
	t.all = append(t.all, text...)
	t.ends = append(t.ends, uint32(len(t.all)))
	t.all = append(t.all, 0)
}

// numbers are those that rows have in a column, in the order of their places.
type numbers struct {
	places []uint32
	values []float64
}

func (c *cells) append(t *Table, r Row, digest int64) {
	c.ints[digestColumn] = append(c.ints[digestColumn], digest)
	c.ints[keyColumn] = append(c.ints[keyColumn], r.Key)
	for i, name := range t.schema.Ints {
		c.ints[name] = append(c.ints[name], r.Ints[i])
	}
	for i, name := range t.schema.Words {
		c.words[name] = append(c.words[name], t.words[i].code(r.Words[i]))
	}
	for i, name := range t.schema.Texts {
		c.text(name).add(c.n, r.Texts[i])
	}
	for _, tag := range r.Tags {
		c.text(tag.Column).add(c.n, tag.Text)
	}
	for _, n := range r.Numbers {
		if c.nums[n.Column] == nil {
			c.nums[n.Column] = &numbers{}
		}
		c.nums[n.Column].places = append(c.nums[n.Column].places, uint32(c.n))
		c.nums[n.Column].values = append(c.nums[n.Column].values, n.Value)
	}
	c.n++
}

func (c *cells) text(column string) *texts {
	if c.texts[column] == nil {
		c.texts[column] = &texts{}
	}
	return c.texts[column]
}

// A section is where a column of a block lies in the file: first the fixed numbers of all values, then what differs in length.
type section struct {
	offset   int64
	length   int32
	n        int32
	min, max int64 // of ints
}

// flush writes the newest block to the file and begins another.
func (t *Table) flush() error {
	b, c := t.blocks[len(t.blocks)-1], t.tail
	sections := map[string]section{}
	var buf []byte
	var err error
	put := func(column string, n int, s section) {
		if err == nil {
			_, err = t.file.WriteAt(buf, t.size)
		}
		s.offset, s.length, s.n = t.size, int32(len(buf)), int32(n)
		sections[column] = s
		t.size += int64(len(buf))
	}
	for column, values := range c.ints {
		buf = buf[:0]
		for _, v := range values {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(v))
		}
		put(column, len(values), section{min: slices.Min(values), max: slices.Max(values)})
	}
	for column, codes := range c.words {
		buf = appendUint32s(buf[:0], codes)
		put(column, len(codes), section{})
	}
	for column, x := range c.texts {
		buf = append(appendUint32s(appendUint32s(buf[:0], x.places), x.ends), x.all...)
		put(column, len(x.places), section{})
	}
	for column, x := range c.nums {
		buf = appendUint32s(buf[:0], x.places)
		for _, v := range x.values {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		put(column, len(x.places), section{})
	}
	if err != nil {
		return fmt.Errorf("write the columns of lists: %w", err)
	}
	b.sections = sections
	t.begin()
	return nil
}

func appendUint32s(b []byte, values []uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// A loader reads columns of blocks, each time into the same memory: what it gave before is gone.
type loader struct {
	t      *Table
	buf    []byte
	number []int64
	code   []uint32
	text   texts
	num    numbers
}

func (l *loader) read(b *block, column string) (section, []byte, error) {
	s, ok := b.sections[column]
	if !ok {
		return s, nil, nil
	}
	l.buf = slices.Grow(l.buf[:0], int(s.length))[:s.length]
	if _, err := l.t.file.ReadAt(l.buf, s.offset); err != nil && err != io.EOF {
		return s, nil, fmt.Errorf("read the columns of lists: %w", err)
	}
	return s, l.buf, nil
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

// int reads one number.
func (t *Table) int(b *block, column string, i int) (int64, error) {
	if b.sections == nil {
		return t.tail.ints[column][i], nil
	}
	var buf [8]byte
	if _, err := t.file.ReadAt(buf[:], b.sections[column].offset+8*int64(i)); err != nil {
		return 0, fmt.Errorf("read the columns of lists: %w", err)
	}
	return int64(binary.LittleEndian.Uint64(buf[:])), nil
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
		if x := l.t.tail.texts[column]; x != nil {
			return x, nil
		}
		return &texts{}, nil
	}
	s, buf, err := l.read(b, column)
	if err != nil {
		return nil, err
	}
	n := int(s.n)
	l.text.places = uint32s(l.text.places, buf, n)
	l.text.ends = uint32s(l.text.ends, buf[4*n:], n)
	l.text.all = buf[8*n:]
	return &l.text, nil
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

func uint32s(into []uint32, buf []byte, n int) []uint32 {
	into = slices.Grow(into[:0], n)[:n]
	for i := range into {
		into[i] = binary.LittleEndian.Uint32(buf[4*i:])
	}
	return into
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
