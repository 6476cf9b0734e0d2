package columns

import (
	"cmp"
	"math/bits"
	"slices"
)

// What comes first in a block that lies in the file is chosen by numbers alone: the values, the keys, and the ranks of texts
// within the block. Texts are read of the rows that are chosen.

// choice is a row of a block. The order is that of value and tie, either way round; see flip.
type choice struct {
	value, tie int64
	place      int
}

func (c choice) compare(o choice) int {
	return cmp.Or(cmp.Compare(c.value, o.value), cmp.Compare(c.tie, o.tie))
}

// takeTexts walks along the order of the block, from where the list begins to where others are before it.
func (p *top) takeTexts(b *block, keep *bitmap) error {
	r := p.load.reading(b, p.q.By)
	begin, end := 0, int(r.s.n)
	if p.q.Desc {
		if p.from != nil {
			end = r.seek(p.from.text, After(p.from.then))
		}
		if p.full {
			begin = r.seek(p.last.text, After(p.last.then))
		}
	} else {
		if p.from != nil {
			begin = r.seek(p.from.text, p.from.then)
		}
		if p.full {
			end = r.seek(p.last.text, p.last.then)
		}
	}
	places := r.places(begin, end)
	if p.q.Desc {
		slices.Reverse(places)
	}
	for n, i := 0, 0; i < len(places) && n < p.q.Limit; i++ {
		place := int(places[i])
		if !keep.has(place) {
			continue
		}
		n++
		at := begin + i
		if p.q.Desc {
			at = end - 1 - i
		}
		o := ordered{text: string(r.at(at)), block: b, place: place}
		if o.then = o.text; p.q.By != p.q.Then {
			o.then = string(r.tie(place))
		}
		p.keys = append(p.keys, o)
	}
	p.cut()
	return r.err
}

// takeNumbers chooses by numbers.
func (p *top) takeNumbers(b *block, keep *bitmap) error {
	values, err := p.numbers(b)
	if values == nil || err != nil {
		return err
	}
	c := chooser{top: p, b: b, flip: p.flip(), values: values, chosen: p.chosen[:0]}
	err = c.choose(keep)
	p.chosen = c.chosen
	if err != nil {
		return err
	}
	r := p.others.reading(b, p.q.Then)
	for _, found := range c.chosen {
		o := ordered{n: found.value ^ c.flip, block: b, place: found.place}
		if p.q.Then == "" {
			o.key = found.tie ^ c.flip
		} else {
			o.then = string(r.at(int(found.tie ^ c.flip)))
		}
		p.keys = append(p.keys, o)
	}
	p.cut()
	return r.err
}

// flip turns numbers around when the last come first: what is flipped goes up.
func (p *top) flip() int64 {
	if p.q.Desc {
		return -1
	}
	return 0
}

// A chooser finds the first rows of a block.
type chooser struct {
	*top
	b           *block
	flip        int64
	values      []int64
	ties        []int64 // nil: not needed yet
	chosen      []choice
	first, last *choice // where the list begins, and what is before all that are chosen; nil: not known
}

func (c *chooser) choose(keep *bitmap) error {
	if c.from != nil {
		c.first = &choice{value: c.from.n ^ c.flip, tie: -1}
	}
	if c.full {
		c.last = &choice{value: c.top.last.n ^ c.flip, tie: -1}
	}
	for w := range keep {
		if c.flip != 0 {
			w = len(keep) - 1 - w
		}
		for rest := keep[w]; rest != 0; {
			i := bits.TrailingZeros64(rest)
			if c.flip != 0 { // the newest rows are mostly the last in whatever order
				i = 63 - bits.LeadingZeros64(rest)
			}
			rest &^= 1 << i
			place := 64*w + i
			value := c.values[place] ^ c.flip
			if c.last != nil && value > c.last.value || c.first != nil && value < c.first.value {
				continue
			}
			if err := c.take(value, place); err != nil {
				return err
			}
		}
	}
	c.cutChosen()
	return nil
}

// take looks at a row whose value may be among the first.
func (c *chooser) take(value int64, place int) error {
	if c.ties == nil {
		if err := c.readTies(); err != nil {
			return err
		}
	}
	row := choice{value, c.ties[place] ^ c.flip, place}
	if c.last != nil && row.compare(*c.last) >= 0 || c.first != nil && row.compare(*c.first) < 0 {
		return nil
	}
	if c.chosen = append(c.chosen, row); len(c.chosen) >= c.q.Limit+spare || c.last == nil && len(c.chosen) == c.q.Limit {
		c.cutChosen()
	}
	return nil
}

func (c *chooser) cutChosen() {
	slices.SortFunc(c.chosen, choice.compare)
	if len(c.chosen) >= c.q.Limit && c.q.Limit > 0 {
		c.chosen = c.chosen[:c.q.Limit]
		last := c.chosen[c.q.Limit-1]
		last.tie++ // it is among them
		c.last = &last
	}
}

// readTies reads what decides between equals, and finds where the bounds are among it.
func (c *chooser) readTies() (err error) {
	if c.q.Then == "" {
		c.ties, err = c.others.ints(c.b, keyColumn)
		if c.first != nil {
			c.first.tie = c.from.key ^ c.flip
		}
		if c.last != nil {
			c.last.tie = c.top.last.key ^ c.flip
		}
		return err
	}
	r := c.others.reading(c.b, ranksColumn)
	ranks := r.places(0, int(r.s.n))
	c.ties = c.others.longs(ranks)
	ids := c.others.reading(c.b, c.q.Then)
	bound := func(id string) int64 {
		if c.flip != 0 {
			return ^int64(ids.seek(After(id), "") - 1)
		}
		return int64(ids.seek(id, ""))
	}
	if c.first != nil {
		c.first.tie = bound(c.from.then)
	}
	if c.last != nil {
		c.last.tie = bound(c.top.last.then)
	}
	return cmp.Or(r.err, ids.err)
}
