package columns

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// A Group is the rows that have the same text in a column.
type Group struct {
	Text  string
	Lacks bool // they have no text
	Rows  int
	Sums  []Sum // of the columns of numbers that were asked for, in their order
}

// A Sum sums up finite numbers.
type Sum struct {
	Rows           int
	Mean, Min, Max float64
	squares        float64 // of the distances from the mean
}

// Deviation is the standard deviation of the sample; not a number for fewer than two.
func (s Sum) Deviation() float64 { return math.Sqrt(s.squares / float64(s.Rows-1)) }

// add is Welford's way, which loses no digits where the numbers are large and close together.
func (s *Sum) add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if s.Rows++; s.Rows == 1 {
		s.Min, s.Max = v, v
	}
	away := v - s.Mean
	s.Mean += away / float64(s.Rows)
	s.squares += away * (v - s.Mean)
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
}

// Group groups the rows that all filters keep by a column of tags, and sums up columns of numbers. It gives the groups with the most
// rows, up to a limit, and how many there are. The rows are looked through twice, so that only the groups that are given have sums.
func (t *Table) Group(ctx context.Context, filters []Filter, by string, of []string, limit int) (groups []Group, total int, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	rows, lacking := map[string]int{}, 0
	err = t.grouped(ctx, filters, by, func(_ *block, texts *texts, keep *bitmap) error {
		lacking += keep.count()
		for i, place := range texts.places {
			if keep.has(int(place)) {
				rows[string(texts.at(i))]++
				lacking--
			}
		}
		return nil
	})
	for text, n := range rows {
		groups = append(groups, Group{Text: text, Rows: n})
	}
	if lacking > 0 {
		groups = append(groups, Group{Lacks: true, Rows: lacking})
	}
	total = len(groups)
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(b.Rows-a.Rows, cmp.Compare(a.Text, b.Text)) })
	groups = groups[:min(limit, total)]
	if err != nil || len(of) == 0 {
		return groups, total, err
	}
	return groups, total, t.sumUp(ctx, filters, by, of, groups)
}

func (t *Table) sumUp(ctx context.Context, filters []Filter, by string, of []string, groups []Group) error {
	const none = -1
	index, lacking := map[string]int32{}, int32(none)
	for i := range groups {
		groups[i].Sums = make([]Sum, len(of))
		if groups[i].Lacks {
			lacking = int32(i)
		} else {
			index[groups[i].Text] = int32(i)
		}
	}
	load := t.loader()
	defer load.release()
	at := make([]int32, blockRows) // the group of each place
	return t.grouped(ctx, filters, by, func(b *block, texts *texts, keep *bitmap) error {
		for place := range at {
			at[place] = lacking
		}
		for i, place := range texts.places {
			group, ok := index[string(texts.at(i))]
			if !ok {
				group = none
			}
			at[place] = group
		}
		for i, column := range of {
			x, err := load.numbers(b, column)
			if err != nil {
				return err
			}
			for j, place := range x.places {
				first := j == 0 || x.places[j-1] != place // as lists show it
				if group := at[place]; first && group != none && keep.has(int(place)) {
					groups[group].Sums[i].add(x.values[j])
				}
			}
		}
		return nil
	})
}

// grouped visits each block that has rows which all filters keep, with the texts of a column.
func (t *Table) grouped(ctx context.Context, filters []Filter, by string, visit func(*block, *texts, *bitmap) error) error {
	sieves := t.sieves(filters)
	defer release(sieves)
	load := t.loader()
	defer load.release()
	for _, b := range t.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		keep, n, err := sift(sieves, b)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		texts, err := load.texts(b, by)
		if err == nil {
			err = visit(b, texts, &keep)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
