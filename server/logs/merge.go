package logs

import (
	"container/heap"
	"context"
	"errors"
	"io"
)

// Place is a line of one of several logs.
type Place struct {
	Log  int   // index, from 0
	Line int64 // number, from 1
}

// FoundIn says where a text is in several logs.
type FoundIn struct {
	Total    int64   // lines that hold it
	Places   []Place // some of them, by the times of the lines
	Searched int64   // lines of all logs
}

// FindIn reads several logs to their ends, as one in the order of time, and finds the lines that hold a text as Find does. The
// lines of a log stay in their order.
func FindIn(ctx context.Context, all []Lines, text string, skip, most int64) (FoundIn, error) {
	f := FoundIn{Places: []Place{}}
	var merged heads
	for i, log := range all {
		h := &head{of: i, log: log}
		more, err := h.read(ctx)
		if err != nil {
			return FoundIn{}, err
		}
		if more {
			merged = append(merged, h)
		}
	}
	heap.Init(&merged)
	s := newSought(text)
	for len(merged) > 0 {
		h := merged[0]
		line := h.lines[0]
		if line.Number != h.last {
			f.Searched++
		}
		if line.Number != h.counted && s.in(line.Text) {
			h.counted = line.Number
			if f.Total++; f.Total > skip && int64(len(f.Places)) < most {
				f.Places = append(f.Places, Place{h.of, line.Number})
			}
		}
		h.last = line.Number
		more, err := h.step(ctx)
		if err != nil {
			return FoundIn{}, err
		}
		if more {
			heap.Fix(&merged, 0)
		} else {
			heap.Pop(&merged)
		}
	}
	return f, nil
}

// head is where a log is read.
type head struct {
	of            int
	log           Lines
	lines         []Line // the next ones
	last, counted int64  // numbers of the last line, and of the last one that matched: one that grows may come twice
}

// step goes on to the next line; more is false at the end.
func (h *head) step(ctx context.Context) (more bool, err error) {
	if h.lines[0].Growing {
		return false, nil
	}
	if h.lines = h.lines[1:]; len(h.lines) > 0 {
		return true, nil
	}
	return h.read(ctx)
}

func (h *head) read(ctx context.Context) (more bool, err error) {
	h.lines, err = h.log.Next(ctx)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

// heads are logs, that with the earliest line first.
type heads []*head

func (h heads) Len() int { return len(h) }

func (h heads) Less(i, j int) bool {
	if c := h[i].lines[0].At.Compare(h[j].lines[0].At); c != 0 {
		return c < 0
	}
	return h[i].of < h[j].of
}

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *heads) Push(x any) { *h = append(*h, x.(*head)) }

func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
