package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/pipeline"
)

// Request asks for a run. The manifest comes from Manifest alone, or from VersionID, or from PipelineID (its default version);
// PipelineID beside VersionID only checks that they belong together.
type Request struct {
	Name           string // empty: the pipeline's name and the time
	Description    string
	ExperimentID   string // empty: the default experiment
	PipelineID     string
	VersionID      string
	Manifest       []byte      // YAML or JSON
	Parameters     []Parameter // override the manifest's defaults; a name that the manifest does not know is refused
	ServiceAccount string      // empty: the manifest's, else pipeline-runner
}

// Creator starts runs, and checks requests without starting anything.
type Creator struct {
	c      *Config
	outbox *Outbox
}

// Create accepts a run durably and hands it to the cluster. A cluster that does not answer delays the run; it does not fail it.
func (s *Creator) Create(ctx context.Context, q Request) (Run, error) {
	r, manifest, err := s.resolve(ctx, q)
	if err != nil {
		return Run{}, err
	}
	for range nameAttempts {
		if err = s.launch(ctx, &r, manifest, q.ServiceAccount, nil); apierr.KindOf(err) != apierr.Conflict || err == nil {
			break // a Conflict means that the random name is taken: choose another
		}
	}
	if err != nil {
		return Run{}, err
	}
	s.c.Feed.Publish(r.ID)
	return r, nil
}

// Plan resolves and checks a request without starting anything: the run it gives is what Create would start.
func (s *Creator) Plan(ctx context.Context, q Request) (Run, []byte, error) {
	r, manifest, err := s.resolve(ctx, q)
	if err != nil {
		return Run{}, nil, err
	}
	prepared, err := s.c.Engine.Prepare(ctx, manifest, s.options(r, q.ServiceAccount, nil))
	r.ServiceAccount = prepared.ServiceAccount
	return r, manifest, err
}

// Launch starts a run that a schedule made, for one of its ticks. A run of that id that exists already is a Conflict.
func (s *Creator) Launch(ctx context.Context, r Run, manifest []byte, o Tick) error {
	r.Namespace, r.CreatedAt = s.c.Namespace, s.c.Now()
	if err := s.launch(ctx, &r, manifest, r.ServiceAccount, &o); err != nil {
		return err
	}
	s.c.Feed.Publish(r.ID)
	return nil
}

// resolve finds what a request asks for and gives the run it would make.
func (s *Creator) resolve(ctx context.Context, q Request) (Run, []byte, error) {
	r, manifest, err := s.draft(ctx, q)
	if err != nil {
		return Run{}, nil, err
	}
	err = s.enter(ctx, q, &r)
	return r, manifest, err
}

// enter puts a run into its experiment.
func (s *Creator) enter(ctx context.Context, q Request, r *Run) error {
	e, err := s.experiment(ctx, q.ExperimentID)
	r.ExperimentID, r.ExperimentName = e.ID, e.Name
	return err
}

// draft is a run without an experiment.
func (s *Creator) draft(ctx context.Context, q Request) (Run, []byte, error) {
	r := Run{
		ID: uuid.NewString(), Name: strings.TrimSpace(q.Name), Description: q.Description,
		Namespace: s.c.Namespace, CreatedAt: s.c.Now(), Parameters: q.Parameters,
	}
	manifest, err := s.source(ctx, q, &r)
	if err != nil {
		return Run{}, nil, err
	}
	if r.Name == "" {
		r.Name = strings.TrimSpace(fmt.Sprintf("%s %s %s", r.PipelineName, r.CreatedAt.UTC().Format("2006-01-02 15:04:05"), r.ID[:4]))
	}
	return r, manifest, nil
}

func (s *Creator) options(r Run, serviceAccount string, o *Tick) Options {
	options := Options{
		RunID: r.ID, RunName: r.Name, Parameters: r.Parameters, ServiceAccount: serviceAccount,
		Namespace: s.c.Namespace, Bucket: s.c.Bucket, Tick: o,
	}
	if !s.c.NoCache {
		options.Reusable = s.c.Store.CachedFamilies
	}
	return options
}

// nameAttempts is how many names a Workflow tries before the run is refused.
const nameAttempts = 3

// source finds the manifest of a request and notes on r where it came from.
func (s *Creator) source(ctx context.Context, q Request, r *Run) ([]byte, error) {
	if len(q.Manifest) > 0 {
		if q.PipelineID != "" || q.VersionID != "" {
			return nil, apierr.New(apierr.Invalid, "give either a workflow manifest or a pipeline, not both")
		}
		return q.Manifest, nil
	}
	if q.VersionID == "" && q.PipelineID == "" {
		return nil, apierr.New(apierr.Invalid, "the run needs a pipeline, a pipeline version or a workflow manifest")
	}
	version := pipeline.Version{ID: q.VersionID, PipelineID: q.PipelineID}
	if q.VersionID != "" {
		v, err := s.c.Pipelines.Version(ctx, q.VersionID)
		if err != nil {
			return nil, err
		}
		if q.PipelineID != "" && v.PipelineID != q.PipelineID {
			return nil, apierr.New(apierr.Invalid, "version %s does not belong to pipeline %s", q.VersionID, q.PipelineID)
		}
		version = v
	}
	p, err := s.c.Pipelines.Get(ctx, version.PipelineID)
	if err != nil {
		return nil, err
	}
	if q.VersionID == "" {
		if p.Default.ID == "" {
			return nil, apierr.New(apierr.Invalid, "pipeline %q has no version left; upload one", p.Name)
		}
		version = p.Default
	}
	r.PipelineID, r.PipelineName, r.VersionID, r.VersionName = p.ID, p.Name, version.ID, version.Name
	r.ByVersion = q.PipelineID == ""
	return s.c.Pipelines.Manifest(ctx, version.ID)
}

func (s *Creator) experiment(ctx context.Context, id string) (experiment.Experiment, error) {
	if id == "" {
		return s.c.Experiments.Default(ctx)
	}
	return s.c.Experiments.Get(ctx, id)
}
