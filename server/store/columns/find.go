package columns

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// A Query asks for the first rows, in an order, of those that all filters keep.
type Query struct {
	Filters []Filter
	By      string // a column of any kind; rows that lack its value come last
	Then    string // a column of Texts, to order those whose values are the same; empty: by their keys
	Desc    bool   // of both
	From    *Entry // the first that may be given; nil: of all
	Limit   int
}

// An Entry is a row that was found, with its place in the order.
type Entry struct {
	Key   int64
	Int   int64   // value of an int column
	Text  string  // value of a column of Words or Texts
	Value float64 // value of a column of Numbers
	Lacks bool    // has no value in a column of Numbers
	Then  string
}

// workers is how many goroutines look through the blocks of a query.
const workers = 4

// Find gives the entries, and how many rows the filters keep in all.
func (t *Table) Find(ctx context.Context, q Query) (found []Entry, total int, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var tops []*top
	for range min(workers, runtime.GOMAXPROCS(0), len(t.blocks)) {
		of, err := t.top(q)
		if err != nil {
			return nil, 0, err
		}
		tops = append(tops, of)
	}
	totals := make([]int, len(tops))
	var next atomic.Int64 // block
	group, ctx := errgroup.WithContext(ctx)
	for i, of := range tops {
		group.Go(func() (err error) {
			totals[i], err = t.search(ctx, q, of, &next)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	first := tops[0]
	for i, of := range tops {
		total += totals[i]
		if i > 0 {
			first.keys = append(first.keys, of.keys...)
		}
	}
	found, err = first.entries()
	return found, total, err
}

// search looks through blocks, one after the other, as long as there are any.
func (t *Table) search(ctx context.Context, q Query, top *top, next *atomic.Int64) (total int, err error) {
	sieves := make([]*sieve, len(q.Filters))
	for i, f := range q.Filters {
		sieves[i] = t.sieve(f)
	}
	slices.SortStableFunc(sieves, func(a, b *sieve) int { return a.effort() - b.effort() })
	for {
		i := int(next.Add(1)) - 1
		if i >= len(t.blocks) {
			return total, nil
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if q.Desc { // the newest rows are mostly the last in whatever order
			i = len(t.blocks) - 1 - i
		}
		b := t.blocks[i]
		keep := b.alive
		n := keep.count()
		for _, s := range sieves {
			if n == 0 {
				break
			}
			if err := s.sift(b, &keep); err != nil {
				return 0, err
			}
			n = keep.count()
		}
		total += n
		if n > 0 {
			if err := top.take(b, &keep); err != nil {
				return 0, err
			}
		}
	}
}

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
	load   loader // of what is ordered by
	thens  loader
	seqs   loader
	ids    *texts // of the block, when they were needed
	ofKeys []int64
	places []int64
}

type kind int

const (
	ofInts kind = iota
	ofWords
	ofTexts
	ofNumbers
)

// ordered is an entry by which others are compared: a number, or a text, and then a text or a key.
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
	p := &top{q: q, load: loader{t: t}, thens: loader{t: t}, seqs: loader{t: t}}
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
	if q.Then != "" && !slices.Contains(t.schema.Texts, q.Then) {
		return nil, fmt.Errorf("no column %q orders rows", q.Then)
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

// take looks at the places of a block that are kept.
func (p *top) take(b *block, keep *bitmap) (err error) {
	p.ids, p.ofKeys = nil, nil
	if p.kind == ofTexts {
		x, err := p.load.texts(b, p.q.By)
		if err != nil {
			return err
		}
		return p.each(keep, func(i int) error { return p.text(b, i, x.at(i)) })
	}
	values, err := p.numbers(b)
	if values == nil || err != nil {
		return err
	}
	sign := int64(1)
	if p.q.Desc {
		sign = -1
	}
	return p.each(keep, func(i int) error {
		n := values[i]
		if p.full && before(sign, p.last.n, n) || p.from != nil && before(sign, n, p.from.n) {
			return nil
		}
		return p.offer(b, i, ordered{n: n})
	})
}

func before(sign, a, b int64) bool {
	if sign < 0 {
		a, b = b, a
	}
	return a < b
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
		p.places = slices.Grow(p.places[:0], len(codes))[:len(codes)]
		for i, code := range codes {
			p.places[i] = p.ranks[code]
		}
		return p.places, err
	}
	x, err := p.load.numbers(b, p.q.By)
	if err != nil {
		return nil, err
	}
	p.places = slices.Grow(p.places[:0], blockRows)[:blockRows]
	for i := range p.places {
		p.places[i] = p.lacking()
	}
	for i, place := range x.places {
		p.places[place] = sortable(x.values[i])
	}
	return p.places, nil
}

func (p *top) each(keep *bitmap, f func(i int) error) error {
	if p.q.Desc {
		for w := len(keep) - 1; w >= 0; w-- {
			for rest := keep[w]; rest != 0; {
				i := 63 - bits.LeadingZeros64(rest)
				rest &^= 1 << i
				if err := f(64*w + i); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for w := range keep {
		for rest := keep[w]; rest != 0; rest &= rest - 1 {
			if err := f(64*w + bits.TrailingZeros64(rest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// text looks at a place whose order is that of a text.
func (p *top) text(b *block, i int, text []byte) error {
	far := func(a []byte, o string) bool { // a comes after o
		if p.q.Desc {
			return string(a) < o
		}
		return string(a) > o
	}
	if p.full && far(text, p.last.text) {
		return nil
	}
	if p.from != nil && string(text) != p.from.text && !far(text, p.from.text) {
		return nil
	}
	return p.offer(b, i, ordered{text: string(text)})
}

// offer takes an entry whose value is not too late and not too early, unless what it has beside that is.
func (p *top) offer(b *block, i int, o ordered) (err error) {
	if p.q.Then == "" {
		if p.ofKeys == nil {
			if p.ofKeys, err = p.seqs.ints(b, keyColumn); err != nil {
				return err
			}
		}
		o.key = p.ofKeys[i]
	} else {
		if p.ids == nil {
			if p.ids, err = p.thens.texts(b, p.q.Then); err != nil {
				return err
			}
		}
		then := p.ids.at(i)
		if p.full && p.compareThen(o, then, &p.last) > 0 || p.from != nil && p.compareThen(o, then, p.from) < 0 {
			return nil
		}
		o.then, o.block, o.place = string(then), b, i // the key is read of those that are found in the end
	}
	if p.full && p.compare(&o, &p.last) > 0 || p.from != nil && p.compare(&o, p.from) < 0 {
		return nil
	}
	if p.keys = append(p.keys, o); len(p.keys) >= p.q.Limit+spare || !p.full && len(p.keys) == p.q.Limit {
		p.cut()
	}
	return nil
}

// compareThen compares with an entry before a copy of the text is made that decides between equals.
func (p *top) compareThen(o ordered, then []byte, with *ordered) int {
	c := cmp.Or(cmp.Compare(o.n, with.n), strings.Compare(o.text, with.text))
	if c == 0 && string(then) != with.then {
		if c = 1; string(then) < with.then {
			c = -1
		}
	}
	if p.q.Desc {
		return -c
	}
	return c
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
		if o.block != nil {
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

// Explain says what a query reads.
func (t *Table) Explain(q Query) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var steps []string
	read := func(what string, names ...string) {
		var size int64
		blocks := 0
		for _, b := range t.blocks {
			for i, name := range names {
				if s, ok := b.sections[name]; ok {
					size += int64(s.length)
					if i == 0 {
						blocks++
					}
				}
			}
		}
		steps = append(steps, fmt.Sprintf("%s %s (%d blocks, %.1f MB at most)", what, strings.Join(names, ", "), blocks, float64(size)/1e6))
	}
	for _, f := range q.Filters {
		read("SIFT", f.Columns...)
	}
	read("ORDER", q.By)
	return steps
}
