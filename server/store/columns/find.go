package columns

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// A Query asks for the first rows, in an order, of those that all filters keep.
type Query struct {
	Filters []Filter
	By      string // a column of any kind; rows that lack its value come last
	Then    string // the first column of Texts, to order those whose values are the same; empty: by their keys, unless the order is of texts
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
		defer of.release()
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
	sieves := t.sieves(q.Filters)
	defer release(sieves)
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
		keep, n, err := sift(sieves, b)
		if err != nil {
			return 0, err
		}
		total += n
		if n > 0 {
			if err := top.take(b, &keep); err != nil {
				return 0, err
			}
		}
	}
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
