package columns

import (
	"bytes"
	"encoding/binary"
	"fmt"
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
		c.text(name).add(c.n, []byte(r.Texts[i]))
	}
	for _, tag := range r.Tags {
		c.text(tag.Column).add(c.n, []byte(tag.Text))
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

// known gives the texts of a column, which may be none.
func (c *cells) known(column string) *texts {
	if x := c.texts[column]; x != nil {
		return x
	}
	return &texts{}
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
	var buf, low []byte
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
	ranks := c.texts[t.schema.Texts[0]].sorted(nil).ranks()
	for column, x := range c.texts {
		x = x.sorted(ranks)
		buf = append(appendUint32s(appendUint16s(buf[:0], x.places), x.ends), x.all...)
		put(column, len(x.places), section{})
		if low = lower(low, x.all); !bytes.Equal(low, x.all) {
			buf = append(buf[:0], low...)
			put(lowColumn+column, len(x.places), section{})
		}
	}
	buf = appendUint16s(buf[:0], ranks)
	put(ranksColumn, len(ranks), section{})
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

func appendUint16s(b []byte, values []uint16) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func appendUint32s(b []byte, values []uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
