package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
)

// Parts are what can be removed of a run.
type Parts struct {
	Run       bool // all of it
	Artifacts bool
	Logs      bool
}

// Object is something in the artifact store.
type Object struct {
	Key   string
	Bytes int64
}

// Pruned is what was removed of a run, or would be.
type Pruned struct {
	Run       Run
	Parts     Parts
	Artifacts []Object
	Logs      []Object
	Kept      string // why something of it stays that was to go; empty when nothing does
}

// Bytes is how much the artifact store holds less.
func (p Pruned) Bytes() (sum int64) {
	for _, o := range slices.Concat(p.Artifacts, p.Logs) {
		sum += o.Bytes
	}
	return sum
}

// Prune removes parts of a run that is settled and not archived: first what it left in the artifact store, then its Workflow
// and its rows, so that a prune that was broken off is completed by the next. With dry it only tells. Artifacts that other
// runs took over from this one stay as long as these have theirs, and the run with them. Why is kept with a run that stays.
func (s *Changer) Prune(ctx context.Context, id string, parts Parts, why string, dry bool) (Pruned, error) {
	defer s.outbox.locks.lock(id)()
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return Pruned{}, err
	}
	p := Pruned{Run: r, Parts: parts}
	if !r.Settled || r.Archived { // it was retried or archived since it was chosen
		p.Parts, p.Kept = Parts{}, "it is going on, or archived"
		return p, nil
	}
	if !dry && (parts.Run || parts.Artifacts) {
		if err := s.c.Store.DropCacheEntries(ctx, id); err != nil { // from here on no run can take anything from it
			return p, err
		}
	}
	if err := s.survey(ctx, &p); err != nil || dry {
		return p, err
	}
	for _, o := range p.Artifacts {
		if err := s.c.Artifacts.DeleteAll(ctx, o.Key); err != nil {
			return p, err
		}
	}
	if p.Parts.Run || p.Parts.Logs {
		if err := s.c.Logs.Delete(ctx, id); err != nil {
			return p, err
		}
	}
	if p.Parts.Run {
		if err := s.c.Engine.DeleteWorkflow(ctx, r.Namespace, r.Workflow); err != nil {
			return p, err
		}
		err = s.c.Store.DeleteRun(ctx, id)
	} else if p.Parts != (Parts{}) {
		err = s.c.Store.SetPruned(ctx, id, p.Parts.Artifacts, p.Parts.Logs, p.gone(why))
	}
	if err == nil {
		s.c.Feed.Publish(id)
	}
	return p, err
}

// severable reports whether the artifacts of a run may be removed: it makes no more of them, and no other run uses them.
func (s *Changer) severable(ctx context.Context, r Run) error {
	if !r.Settled {
		return apierr.New(apierr.Aborted, "the run has not ended, or is still being recorded: it may leave more artifacts; terminate it first")
	}
	takers, err := s.c.Store.Takers(ctx, r.ID)
	if err == nil && len(takers) > 0 {
		err = apierr.New(apierr.Aborted, "run %s uses its artifacts through the cache; delete that run first, or this one without its artifacts", takers[0])
	}
	return err
}

// dropArtifacts removes what a run left in the artifact store, where only it puts anything.
func (s *Changer) dropArtifacts(ctx context.Context, id string) error {
	defer s.outbox.locks.lock(id)()
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	if err := s.c.Store.DropCacheEntries(ctx, id); err != nil { // from here on no run can take anything from it
		return err
	}
	if err := s.severable(ctx, r); err != nil {
		return err
	}
	p := Pruned{Run: r, Parts: Parts{Artifacts: true}}
	if err := s.survey(ctx, &p); err != nil {
		return err
	}
	for _, o := range p.Artifacts {
		if err := s.c.Artifacts.DeleteAll(ctx, o.Key); err != nil {
			return err
		}
	}
	return nil
}

// gone says what a run that stays has no more.
func (p Pruned) gone(why string) string {
	what := "artifacts"
	switch {
	case p.Parts.Artifacts && p.Parts.Logs:
		what = "artifacts and logs"
	case p.Parts.Logs:
		what = "logs"
	}
	return fmt.Sprintf("its %s were removed by retention (%s)", what, why)
}

// survey finds what is to go, and what has to stay.
func (s *Changer) survey(ctx context.Context, p *Pruned) error {
	nodes, err := s.c.Store.Nodes(ctx, p.Run.ID)
	if err != nil {
		return err
	}
	takers, err := s.c.Store.Takers(ctx, p.Run.ID)
	if err != nil {
		return err
	}
	if len(takers) > 0 && (p.Parts.Run || p.Parts.Artifacts) {
		p.Parts.Run, p.Parts.Artifacts = false, false
		p.Kept = fmt.Sprintf("run %s uses its artifacts through the cache", takers[0])
	}
	seen := map[string]bool{}
	if p.Parts.Run || p.Parts.Logs {
		if err := s.measure(ctx, &p.Logs, seen, logs.Folder(p.Run.ID)); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if n.CachedFrom != nil || !p.Parts.Run && !p.Parts.Artifacts {
			continue
		}
		for _, a := range n.Artifacts {
			if !ownKey(p.Run, n, a.Key) {
				continue
			}
			if err := s.measure(ctx, &p.Artifacts, seen, a.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownKey tells whether an artifact lies where only its run puts anything. Others, of a key that the manifest fixes, may be
// another run's by now, and stay.
func ownKey(r Run, n Node, key string) bool {
	for part := range strings.SplitSeq(key, "/") {
		if part != "" && (part == r.ID || part == r.Workflow || part == n.PodName) {
			return true
		}
	}
	return false
}

// measure adds an object to a list, once, if it is there.
func (s *Changer) measure(ctx context.Context, list *[]Object, seen map[string]bool, key string) error {
	if key == "" || seen[key] {
		return nil
	}
	seen[key] = true
	size, err := s.c.Artifacts.Size(ctx, key)
	if err != nil && apierr.KindOf(err) == apierr.NotFound {
		return nil
	}
	if err == nil {
		*list = append(*list, Object{Key: key, Bytes: size})
	}
	return err
}
