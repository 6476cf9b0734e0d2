package columns

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// top collects the first entries of an order. What it has is sorted and cut whenever it has become much.
type top struct {
	q      Query
	ranks  []int64 // of the words, by code; nil: the order is not of words
	words  []string
	kind   kind
	keys   []ordered // those that are among the first, and some more
	full   bool      // the last of the first is known
	last   ordered
	from   *ordered
	load   *loader // of what is ordered by
	others *loader // of what decides between equals
	values []int64 // of a block
	chosen []choice
}

type kind int

const (
	ofInts kind = iota
	ofWords
	ofTexts
	ofNumbers
)

// ordered is a sort key: a number or a text, then a text or a key.
type ordered struct {
	n    int64
	text string
	then string
	key  int64
	// Where the row is, if its key is not known yet.
	block *block
	place int
}

// spare is how many entries top collects beyond those that it is asked for.
const spare = 1024

func (t *Table) top(q Query) (*top, error) {
	if q.Then != "" && q.Then != t.schema.Texts[0] || q.Then == "" && slices.Contains(t.schema.Texts, q.By) {
		return nil, fmt.Errorf("no column %q orders rows", q.Then)
	}
	p := &top{q: q, load: t.loader(), others: t.loader()}
	switch {
	case slices.Contains(t.schema.Ints, q.By):
		p.kind = ofInts
	case slices.Contains(t.schema.Words, q.By):
		p.kind = ofWords
		p.rank(t.words[slices.Index(t.schema.Words, q.By)].words)
	case slices.Contains(t.schema.Texts, q.By):
		p.kind = ofTexts
	default:
		p.kind = ofNumbers
	}
	if q.From != nil {
		p.from = &ordered{n: q.From.Int, text: q.From.Text, then: q.From.Then, key: q.From.Key}
		switch p.kind {
		case ofWords:
			p.from.text = ""
			p.from.n = int64(sort.SearchStrings(p.words, q.From.Text)) * 2
			if i := int(p.from.n / 2); i == len(p.words) || p.words[i] != q.From.Text {
				p.from.n-- // between two words
			}
		case ofNumbers:
			p.from.n = p.lacking()
			if !q.From.Lacks {
				p.from.n = sortable(q.From.Value)
			}
		}
	}
	return p, nil
}

// rank numbers words by their order, in even numbers.
func (p *top) rank(words []string) {
	p.words = slices.Sorted(slices.Values(words))
	p.ranks = make([]int64, len(words))
	for i, w := range words {
		p.ranks[i] = 2 * int64(sort.SearchStrings(p.words, w))
	}
}

// lacking is the number of rows that come last.
func (p *top) lacking() int64 {
	if p.q.Desc {
		return math.MinInt64
	}
	return math.MaxInt64
}

// sortable gives whole numbers in the order of numbers.
func sortable(v float64) int64 {
	n := int64(math.Float64bits(v + 0)) // which makes the negative zero the other
	return n ^ int64(uint64(n>>63)>>1)
}

func unsortable(n int64) float64 { return math.Float64frombits(uint64(n ^ int64(uint64(n>>63)>>1))) }

func (p *top) release() {
	p.load.release()
	p.others.release()
}

// take looks at the places of a block that are kept.
func (p *top) take(b *block, keep *bitmap) error {
	switch {
	case b.sections == nil:
		return p.takeNewest(b, keep)
	case p.kind == ofTexts:
		return p.takeTexts(b, keep)
	}
	return p.takeNumbers(b, keep)
}

// takeNewest looks at the block that is in memory and in no order.
func (p *top) takeNewest(b *block, keep *bitmap) error {
	var values []int64
	tail := p.load.t.tail
	if p.kind != ofTexts {
		var err error
		if values, err = p.numbers(b); values == nil || err != nil {
			return err
		}
	}
	for i := range tail.n {
		if p.q.Desc { // the newest rows are mostly the last in whatever order
			i = tail.n - 1 - i
		}
		if !keep.has(i) {
			continue
		}
		o := ordered{block: b, place: i}
		if values != nil {
			o.n = values[i]
		} else {
			o.text = string(tail.texts[p.q.By].at(i))
		}
		if p.q.Then == "" {
			o.key = tail.ints[keyColumn][i]
		} else {
			o.then = string(tail.texts[p.q.Then].at(i))
		}
		p.offer(o)
	}
	return nil
}

// numbers gives what the places of a block are ordered by; nil when none of them can be among the first.
func (p *top) numbers(b *block) ([]int64, error) {
	switch p.kind {
	case ofInts:
		if s := b.sections[p.q.By]; b.sections != nil {
			if p.full && (!p.q.Desc && s.min > p.last.n || p.q.Desc && s.max < p.last.n) ||
				p.from != nil && (!p.q.Desc && s.max < p.from.n || p.q.Desc && s.min > p.from.n) {
				return nil, nil
			}
		}
		return p.load.ints(b, p.q.By)
	case ofWords:
		codes, err := p.load.words(b, p.q.By)
		p.values = slices.Grow(p.values[:0], len(codes))[:len(codes)]
		for i, code := range codes {
			p.values[i] = p.ranks[code]
		}
		return p.values, err
	}
	x, err := p.load.numbers(b, p.q.By)
	if err != nil {
		return nil, err
	}
	p.values = slices.Grow(p.values[:0], blockRows)[:blockRows]
	for i := range p.values {
		p.values[i] = p.lacking()
	}
	for i, place := range x.places {
		p.values[place] = sortable(x.values[i])
	}
	return p.values, nil
}

// offer takes an entry, unless it is too late or too early.
func (p *top) offer(o ordered) {
	if p.full && p.compare(&o, &p.last) > 0 || p.from != nil && p.compare(&o, p.from) < 0 {
		return
	}
	if p.keys = append(p.keys, o); len(p.keys) >= p.q.Limit+spare || !p.full && len(p.keys) == p.q.Limit {
		p.cut()
	}
}

func (p *top) compare(a, b *ordered) int {
	c := cmp.Or(cmp.Compare(a.n, b.n), strings.Compare(a.text, b.text), strings.Compare(a.then, b.then))
	if c == 0 && p.q.Then == "" {
		c = cmp.Compare(a.key, b.key)
	}
	if p.q.Desc {
		return -c
	}
	return c
}

func (p *top) cut() {
	slices.SortFunc(p.keys, func(a, b ordered) int { return p.compare(&a, &b) })
	if len(p.keys) >= p.q.Limit && p.q.Limit > 0 {
		p.keys = p.keys[:p.q.Limit]
		p.full, p.last = true, p.keys[p.q.Limit-1]
	}
}

func (p *top) entries() (found []Entry, err error) {
	p.cut()
	found = make([]Entry, len(p.keys))
	for i, o := range p.keys {
		if p.q.Then != "" { // otherwise it is known
			if o.key, err = p.load.t.int(o.block, keyColumn, o.place); err != nil {
				return nil, err
			}
		}
		e := Entry{Key: o.key, Int: o.n, Text: o.text, Then: o.then}
		switch p.kind {
		case ofWords:
			e.Int, e.Text = 0, p.words[o.n/2]
		case ofNumbers:
			e.Int, e.Lacks = 0, o.n == p.lacking()
			if !e.Lacks {
				e.Value = unsortable(o.n)
			}
		}
		found[i] = e
	}
	return found, nil
}
