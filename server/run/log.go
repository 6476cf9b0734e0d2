package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
)

// pollNode is how often a step whose pod is not known yet is looked at again, should no word of it come.
const pollNode = 500 * time.Millisecond

// Logs reads the logs of steps.
type Logs struct {
	c      *Config
	reader *Reader
}

// Text gives a log as text. With times, the time that a line was printed stands in front of it. Of a log that a server before 0.3 kept it
// gives all lines where the last ones are asked for.
func (s *Logs) Text(ctx context.Context, q logs.Query, times bool) (logs.Text, error) {
	n, err := s.reader.node(ctx, q.RunID, q.NodeID)
	if err != nil {
		return logs.Text{}, err
	}
	if logs.IsPlain(n.LogKey) && q == (logs.Query{RunID: q.RunID, NodeID: q.NodeID, Tail: q.Tail, Follow: q.Follow}) {
		plain, err := logs.OpenPlain(ctx, s.c.Artifacts, n.LogKey)
		return logs.Text{ReadCloser: plain, First: 1}, err
	}
	d, err := s.Open(ctx, q)
	if err != nil {
		return logs.Text{}, err
	}
	return d.Text(ctx, times), nil
}

// Lines returns a log line by line, including logs of earlier servers. With From and Follow it continues after a known line, and a last
// line without an end is passed on as it grows.
func (s *Logs) Lines(ctx context.Context, q logs.Query) (logs.Lines, error) {
	n, err := s.reader.node(ctx, q.RunID, q.NodeID)
	if err != nil {
		return nil, err
	}
	if logs.IsPlain(n.LogKey) {
		text, err := logs.OpenPlain(ctx, s.c.Artifacts, n.LogKey)
		if err != nil {
			return nil, err
		}
		return logs.PlainLines(text, q.From), nil
	}
	d, err := s.Open(ctx, q)
	if err != nil {
		return nil, err // not d: a nil *reader in an interface is not nil
	}
	return d, nil
}

// Find finds the lines of a log that hold what is wanted; see logs.Find.
func (s *Logs) Find(ctx context.Context, q logs.Query, what logs.Wanted, skip, most int64) (logs.Found, error) {
	lines, err := s.Lines(ctx, q)
	if err != nil {
		return logs.Found{}, err
	}
	defer lines.Close()
	return logs.Find(ctx, lines, what, skip, most)
}

// Open opens a log of a step. With Follow it waits for the step to start. The caller closes the reader.
func (s *Logs) Open(ctx context.Context, q logs.Query) (*logs.Reader, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	for {
		d, wait, err := s.try(ctx, q)
		if !wait {
			return d, err
		}
	}
}

// try opens a log; when it is worth waiting for, it waits until something has changed.
func (s *Logs) try(ctx context.Context, q logs.Query) (d *logs.Reader, again bool, err error) {
	changed, stop := s.c.Logs.Watch(q.RunID) // before the look, so that no change falls between
	defer stop()
	r, err := s.c.Store.Run(ctx, q.RunID)
	if err != nil {
		return nil, false, err
	}
	n, err := s.reader.node(ctx, q.RunID, q.NodeID)
	if err != nil {
		return nil, false, err
	}
	asked := q
	newest := q.Pod == "" && q.Attempt == 0 && !q.Previous
	if newest && n.PodName == "" {
		return nil, false, noPod(n)
	}
	if q.Pod == "" && q.Container == "" {
		q.Container = logs.Main
	}
	if newest && n.CachedFrom != nil && n.LogKey == "" {
		d, err := s.cached(ctx, q, n)
		return d, false, err
	}
	if newest {
		q.Pod = n.PodName
	}
	d, err = s.c.Logs.Open(ctx, q)
	if err == nil && newest && d.Log().Attempt < r.Attempt && !n.Harvested { // an earlier attempt's, and this one's is to come
		d.Close()
		err = logs.ErrNone
	}
	if !errors.Is(err, logs.ErrNone) {
		return d, false, err
	}
	closing := Final(n.Phase) && !n.Harvested // it is just being read
	if n.Harvested || !q.Follow && !closing || Final(r.Status) && r.Settled {
		return nil, false, s.none(ctx, asked, n)
	}
	select {
	case <-ctx.Done():
		return nil, false, ctx.Err()
	case <-changed:
	case <-time.After(pollNode):
	}
	return nil, true, nil
}

// cached opens the log of the step that a step took its outputs from.
func (s *Logs) cached(ctx context.Context, q logs.Query, n Node) (*logs.Reader, error) {
	from := *n.CachedFrom
	q.RunID, q.NodeID = from.RunID, from.NodeID
	d, err := s.c.Logs.Open(ctx, q)
	if errors.Is(err, logs.ErrNone) {
		return nil, apierr.New(apierr.NotFound, "step %s did not run: it took the outputs of step %s of run %s, whose log is gone", n.DisplayName, from.NodeID, from.RunID)
	}
	return d, err
}

// noPod says why a step ran no container.
func noPod(n Node) error {
	switch {
	case n.Type == "Pod":
		return apierr.New(apierr.NotFound, "step %s ran nothing, so it has no log: it was %s", n.DisplayName, n.Message)
	case n.Type == "Skipped" && n.Message != "":
		return apierr.New(apierr.NotFound, "step %s was skipped, so it has no log: %s", n.DisplayName, n.Message)
	case n.Type == "Skipped":
		return apierr.New(apierr.NotFound, "step %s was skipped, so it has no log", n.DisplayName)
	}
	return apierr.New(apierr.NotFound, "step %s is a %s and runs no container, so it has no log", n.DisplayName, n.Type)
}

// none says why a step has no such log, as far as is known.
func (s *Logs) none(ctx context.Context, q logs.Query, n Node) error {
	list, err := s.c.Logs.List(ctx, q.RunID, q.NodeID)
	if err != nil {
		return err
	}
	var names []string
	for _, l := range list {
		name := l.Container
		if l.Role != "" {
			name = l.Pod + "/" + name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) > 0:
		return apierr.New(apierr.NotFound, "step %s, which is %s, has no such log; it has those of %s", n.DisplayName, n.Phase, strings.Join(names, ", "))
	case n.Waiting != "":
		return apierr.New(apierr.NotFound, "step %s has no log yet: it has not started: %s", n.DisplayName, n.Waiting)
	case n.Message != "":
		return apierr.New(apierr.NotFound, "step %s has no log: it is %s: %s", n.DisplayName, n.Phase, n.Message)
	}
	return apierr.New(apierr.NotFound, "step %s, which is %s, has no log: its container has not started", n.DisplayName, n.Phase)
}

// List lists what is kept, and being kept, of the containers of a run's steps; of one step when nodeID is given.
func (s *Logs) List(ctx context.Context, id, nodeID string) ([]logs.Log, error) {
	if _, err := s.c.Store.Run(ctx, id); err != nil {
		return nil, err
	}
	list, err := s.c.Logs.List(ctx, id, nodeID)
	if err != nil || len(list) > 0 || nodeID == "" {
		return list, err
	}
	_, err = s.reader.node(ctx, id, nodeID)
	return list, err
}

// StepName is how the step of a log is called, with the number and the item of each loop around it; a step that is not known is
// called by the id of its node.
func (s *Logs) StepName(ctx context.Context, l logs.Log) string {
	n, err := s.reader.node(ctx, l.RunID, l.NodeID)
	if err != nil {
		return l.NodeID
	}
	shown := client.Node{Name: n.Name, DisplayName: n.DisplayName}
	return cmp.Or(shown.Label(), l.NodeID)
}
