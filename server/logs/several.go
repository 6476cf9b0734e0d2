package logs

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Several finds logs of one node that are read together, each one once.
type Several struct {
	a       *Archive
	node    Query   // RunID, NodeID, Attempt, Ranks and Follow
	wanted  []Query // empty: every log of the node
	opened  map[logID]bool
	Missing *Query // one of wanted that the last call of Open did not find
}

// logID tells the logs of a node apart.
type logID struct {
	pod, container string
	restart        int64
}

func idOf(l Log) logID { return logID{l.PodUID, l.Container, l.Restart} }

// Several prepares the reading of the logs that queries choose, or of all logs of the node where there are none.
func (a *Archive) Several(node Query, queries []Query) *Several {
	return &Several{a: a, node: node, wanted: queries, opened: map[logID]bool{}}
}

// Open opens the logs that exist now, each once over all calls, and waits until they hold what was printed so far.
func (s *Several) Open(ctx context.Context) (opened []Lines, err error) {
	var readers []*Reader
	defer func() {
		if err != nil {
			for _, d := range readers {
				d.Close()
			}
		}
	}()
	list, recordings, err := s.a.list(ctx, s.node.RunID, s.node.NodeID)
	if err != nil {
		return nil, err
	}
	for _, i := range s.choose(list) {
		d, err := s.a.reader(ctx, list[i], recordings[i], s.node)
		if errors.Is(err, ErrNone) { // it is recorded on soon
			continue
		}
		readers = append(readers, d)
		if err != nil {
			return nil, err
		}
	}
	limit := time.NewTimer(catchPatience)
	defer limit.Stop()
	for _, d := range readers {
		if err := d.catchUp(ctx, limit.C); err != nil && (ctx.Err() != nil || !s.node.Follow) {
			return nil, err
		}
	}
	for _, d := range readers {
		s.opened[idOf(d.log)] = true
		opened = append(opened, d)
	}
	return opened, nil
}

// All tells whether the logs that queries choose are open; of all logs of a node it is never known.
func (s *Several) All() bool { return len(s.wanted) > 0 && len(s.opened) >= len(s.wanted) }

// choose gives the indexes of the wanted logs that are not open yet.
func (s *Several) choose(list []Log) (fits []int) {
	s.Missing = nil
	if len(s.wanted) == 0 {
		for i, l := range list {
			if (s.node.Attempt == 0 || l.Attempt == s.node.Attempt-1) && (l.Role != "" || !s.node.Ranks) && !s.opened[idOf(l)] {
				fits = append(fits, i)
			}
		}
		return fits
	}
	for n := range s.wanted {
		i := s.wanted[n].choose(list)
		if i < 0 {
			s.Missing = &s.wanted[n]
		} else if !s.opened[idOf(list[i])] && !slices.Contains(fits, i) {
			fits = append(fits, i)
		}
	}
	return fits
}
