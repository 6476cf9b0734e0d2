package run

import (
	"context"
	"fmt"
)

// Shortage is a step that the cluster can never hold.
type Shortage struct {
	Step, Asks, Has, Change string
	Parameters              []string // of the pipeline, to lower; those that are known
}

func (s Shortage) String() string {
	return fmt.Sprintf("step %s asks %s; %s: %s", s.Step, s.Asks, s.Has, s.Change)
}

// Concern is a step that will wait, or fail, unless something is made or raised before it runs.
type Concern struct{ Step, Why string }

// Warnings are the shortages and risks as a run keeps them.
func (p Prepared) Warnings() (texts []string) {
	for _, s := range p.Shortages {
		texts = append(texts, s.String())
	}
	return append(texts, p.Risks...)
}

// Check does all of Create that leaves no trace: it resolves and prepares the run, and compares its steps with the cluster. The run
// has no id, and no experiment unless the request names one.
func (s *Creator) Check(ctx context.Context, q Request) (Run, Prepared, error) {
	r, manifest, err := s.draft(ctx, q)
	if err == nil && q.ExperimentID != "" {
		err = s.enter(ctx, q, &r)
	}
	if err != nil {
		return Run{}, Prepared{}, err
	}
	options := s.options(r, q.ServiceAccount, nil)
	options.Concerns = true
	prepared, err := s.c.Engine.Prepare(ctx, manifest, options)
	r.ID, r.ServiceAccount, r.Defaults, r.Labels = "", prepared.ServiceAccount, prepared.Defaults, prepared.Labels
	r.Warnings = prepared.Warnings()
	return r, prepared, err
}
