package logs

import (
	"context"
	"slices"
	"time"
)

// mostAsked is how many live logs that are read together are followed at once because of that. More are recorded in their turn.
const mostAsked = 64

// Several finds logs of one node, or of all nodes of a run, that are read together, each one once.
type Several struct {
	a       *Archive
	of      Query   // RunID, NodeID (empty: the run), Attempt, Ranks and Follow
	wanted  []Query // empty: every log
	found   map[logID]bool
	readers []*Reader
	until   time.Time // until when the opening of logs waits for their lines; zero: none has been opened
	Missing *Query    // one of wanted that the last call of Find did not find
}

// logID tells the logs of a run apart.
type logID struct {
	pod, container string
	restart        int64
}

func idOf(l Log) logID { return logID{l.PodUID, l.Container, l.Restart} }

// Several prepares the reading of the logs that queries choose, or of all logs of the node or run where there are none.
func (a *Archive) Several(of Query, queries []Query) *Several {
	return &Several{a: a, of: of, wanted: queries, found: map[logID]bool{}}
}

// Find finds the logs that exist now, each once over all calls. Opened, a log holds what was printed so far.
func (s *Several) Find(ctx context.Context) (found []Opening, err error) {
	list, recordings, err := s.a.list(ctx, s.of.RunID, s.of.NodeID)
	if err != nil {
		return nil, err
	}
	s.readers = slices.DeleteFunc(s.readers, func(d *Reader) bool { return d.r == nil })
	s.askOn()
	if s.of.Ranks {
		s.endRepeats(list)
	}
	for _, i := range s.choose(list) {
		l, r := list[i], recordings[i]
		s.found[idOf(l)] = true
		found = append(found, Opening{l.StartedAt, func(ctx context.Context) (Lines, error) { return s.open(ctx, l, r) }})
	}
	return found, nil
}

// open opens a log that was found. ErrNone: it is recorded on soon, and found again then.
func (s *Several) open(ctx context.Context, l Log, r *recording) (Lines, error) {
	d, err := s.a.reader(ctx, l, r, s.of)
	if err != nil {
		delete(s.found, idOf(l))
		return nil, err
	}
	if r == nil {
		return d, nil
	}
	s.readers = append(s.readers, d)
	s.askOn()
	if !d.asks && r.runs() { // its turn comes
		return d, nil
	}
	if s.until.IsZero() {
		s.until = time.Now().Add(catchPatience)
	}
	limit := time.NewTimer(time.Until(s.until))
	defer limit.Stop()
	if err := d.catchUp(ctx, limit.C); err != nil && (ctx.Err() != nil || !s.of.Follow) {
		d.Close()
		return nil, err
	}
	return d, nil
}

// askOn has as many of the live logs followed at once as may be.
func (s *Several) askOn() {
	asked := 0
	for _, d := range s.readers {
		if d.r != nil && d.r.runs() && asked < mostAsked { // one that has ended is read anyway
			d.ask()
			asked++
		}
	}
}

// All tells whether the logs that queries choose have been found; of all logs of a node it is never known.
func (s *Several) All() bool { return len(s.wanted) > 0 && len(s.found) >= len(s.wanted) }

// choose gives the indexes of the wanted logs that have not been found yet.
func (s *Several) choose(list []Log) (fits []int) {
	s.Missing = nil
	if len(s.wanted) == 0 {
		repeats := s.repeats(list)
		for i, l := range list {
			if (s.of.Attempt == 0 || l.Attempt == s.of.Attempt-1) && !repeats(l) && !s.found[idOf(l)] {
				fits = append(fits, i)
			}
		}
		return fits
	}
	for n := range s.wanted {
		i := s.wanted[n].choose(list)
		if i < 0 {
			s.Missing = &s.wanted[n]
		} else if !s.found[idOf(list[i])] && !slices.Contains(fits, i) {
			fits = append(fits, i)
		}
	}
	return fits
}

// repeats tells the logs that are left out as they repeat what the ranks of a job print: those of the own pod of a step that has ranks.
func (s *Several) repeats(list []Log) func(Log) bool {
	if !s.of.Ranks {
		return func(Log) bool { return false }
	}
	if s.of.NodeID != "" { // before the ranks begin too
		return func(l Log) bool { return l.Role == "" }
	}
	type step struct {
		node    string
		attempt int64
	}
	ranked := map[step]bool{}
	for _, l := range list {
		if l.Role != "" {
			ranked[step{l.NodeID, l.Attempt}] = true
		}
	}
	return func(l Log) bool { return l.Role == "" && ranked[step{l.NodeID, l.Attempt}] }
}

// endRepeats ends the logs that are open and repeat, as ranks have begun to print, what these print.
func (s *Several) endRepeats(list []Log) {
	repeats := s.repeats(list)
	for _, d := range s.readers {
		if repeats(d.log) {
			d.end = d.next
		}
	}
}
