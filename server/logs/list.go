package logs

import (
	"cmp"
	"context"
	"slices"
)

// live gives the recordings of a run, or all.
func (a *Archive) live(run string) (all []*recording) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if run != "" {
		if act := a.runs[run]; act != nil {
			all = slices.Clone(act.recordings)
		}
		return all
	}
	for _, act := range a.runs {
		all = append(all, act.recordings...)
	}
	return all
}

// List gives the logs of a run, or of one node of it, in the order in which they began, those that grow as they are now.
func (a *Archive) List(ctx context.Context, run, node string) ([]Log, error) {
	list, _, err := a.list(ctx, run, node)
	return list, err
}

func (a *Archive) list(ctx context.Context, run, node string) ([]Log, []*recording, error) {
	live := a.live(run) // before the store: what ends meanwhile is there
	list, err := a.c.Store.Logs(ctx, run, node)
	if err != nil {
		return nil, nil, err
	}
	recordings := make([]*recording, len(list))
	for _, r := range live {
		l := r.now()
		if node != "" && l.NodeID != node {
			continue
		}
		if i := slices.IndexFunc(list, l.same); i < 0 {
			list, recordings = append(list, l), append(recordings, r)
		} else if list[i].State == Live {
			list[i], recordings[i] = l, r
		}
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return inOrder(list[i], list[j]) })
	sorted, theirs := make([]Log, len(list)), make([]*recording, len(list))
	for to, from := range order {
		sorted[to], theirs[to] = list[from], recordings[from]
	}
	return sorted, theirs, nil
}

func inOrder(x, y Log) int {
	return cmp.Or(cmp.Compare(x.Attempt, y.Attempt), x.StartedAt.Compare(y.StartedAt), cmp.Compare(x.Role, y.Role),
		cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Container, y.Container), cmp.Compare(x.Restart, y.Restart))
}
