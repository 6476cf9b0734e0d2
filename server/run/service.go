package run

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/artifact"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/page"
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

// Config holds what the service needs; all of it is required but the bucket and the wait.
type Config struct {
	Store       Store
	Engine      Engine
	Pipelines   *pipeline.Service
	Experiments *experiment.Service
	Artifacts   artifact.Store
	Logs        *logs.Archive
	Feed        *Feed
	Namespace   string        // where Workflows are created
	Bucket      string        // of artifacts, which manifests may ask for
	NoCache     bool          // steps always run
	PromptWait  time.Duration // for the cluster to refuse a run while its caller waits; 0 is a quarter of a second
	Now         func() time.Time
	Log         *slog.Logger
}

// Service is what the API offers on runs. Errors are *fault.Error.
type Service struct {
	c       Config
	locks   locks
	wake    chan struct{}  // nudges the outbox
	handing sync.WaitGroup // runs that are being handed to the cluster
}

// NewService makes the service. Its outbox works while Run runs.
func NewService(c Config) *Service {
	return &Service{c: c, wake: make(chan struct{}, 1)}
}

// Create accepts a run durably and hands it to the cluster. A cluster that does not answer delays the run; it does not fail it.
func (s *Service) Create(ctx context.Context, q Request) (Run, error) {
	r, manifest, err := s.resolve(ctx, q)
	if err != nil {
		return Run{}, err
	}
	for range nameAttempts {
		if err = s.launch(ctx, &r, manifest, q.ServiceAccount, nil); fault.KindOf(err) != fault.Conflict || err == nil {
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
func (s *Service) Plan(ctx context.Context, q Request) (Run, []byte, error) {
	r, manifest, err := s.resolve(ctx, q)
	if err != nil {
		return Run{}, nil, err
	}
	prepared, err := s.c.Engine.Prepare(ctx, manifest, s.options(r, q.ServiceAccount, nil))
	r.ServiceAccount = prepared.ServiceAccount
	return r, manifest, err
}

// Launch starts a run that a schedule made, for one of its occasions. A run of that id that exists already is a Conflict.
func (s *Service) Launch(ctx context.Context, r Run, manifest []byte, o Occasion) error {
	r.Namespace, r.CreatedAt = s.c.Namespace, s.c.Now()
	if err := s.launch(ctx, &r, manifest, r.ServiceAccount, &o); err != nil {
		return err
	}
	s.c.Feed.Publish(r.ID)
	return nil
}

// resolve finds what a request asks for and gives the run it would make.
func (s *Service) resolve(ctx context.Context, q Request) (Run, []byte, error) {
	r, manifest, err := s.draft(ctx, q)
	if err != nil {
		return Run{}, nil, err
	}
	err = s.enter(ctx, q, &r)
	return r, manifest, err
}

// enter puts a run into its experiment.
func (s *Service) enter(ctx context.Context, q Request, r *Run) error {
	e, err := s.experiment(ctx, q.ExperimentID)
	r.ExperimentID, r.ExperimentName = e.ID, e.Name
	return err
}

// draft is a run without an experiment.
func (s *Service) draft(ctx context.Context, q Request) (Run, []byte, error) {
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

func (s *Service) options(r Run, serviceAccount string, o *Occasion) Options {
	options := Options{
		RunID: r.ID, RunName: r.Name, Parameters: r.Parameters, ServiceAccount: serviceAccount,
		Namespace: s.c.Namespace, Bucket: s.c.Bucket, Occasion: o,
	}
	if !s.c.NoCache {
		options.Reusable = s.c.Store.CachedFamilies
	}
	return options
}

// nameAttempts is how many names a Workflow tries before the run is refused.
const nameAttempts = 3

// source finds the manifest of a request and notes on r where it came from.
func (s *Service) source(ctx context.Context, q Request, r *Run) ([]byte, error) {
	if len(q.Manifest) > 0 {
		if q.PipelineID != "" || q.VersionID != "" {
			return nil, fault.New(fault.Invalid, "give either a workflow manifest or a pipeline, not both")
		}
		return q.Manifest, nil
	}
	if q.VersionID == "" && q.PipelineID == "" {
		return nil, fault.New(fault.Invalid, "the run needs a pipeline, a pipeline version or a workflow manifest")
	}
	version := pipeline.Version{ID: q.VersionID, PipelineID: q.PipelineID}
	if q.VersionID != "" {
		v, err := s.c.Pipelines.Version(ctx, q.VersionID)
		if err != nil {
			return nil, err
		}
		if q.PipelineID != "" && v.PipelineID != q.PipelineID {
			return nil, fault.New(fault.Invalid, "version %s does not belong to pipeline %s", q.VersionID, q.PipelineID)
		}
		version = v
	}
	p, err := s.c.Pipelines.Get(ctx, version.PipelineID)
	if err != nil {
		return nil, err
	}
	if q.VersionID == "" {
		if p.Default.ID == "" {
			return nil, fault.New(fault.Invalid, "pipeline %q has no version left; upload one", p.Name)
		}
		version = p.Default
	}
	r.PipelineID, r.PipelineName, r.VersionID, r.VersionName = p.ID, p.Name, version.ID, version.Name
	r.ByVersion = q.PipelineID == ""
	return s.c.Pipelines.Manifest(ctx, version.ID)
}

func (s *Service) experiment(ctx context.Context, id string) (experiment.Experiment, error) {
	if id == "" {
		return s.c.Experiments.Default(ctx)
	}
	return s.c.Experiments.Get(ctx, id)
}

// Get gives a run with its parameters, metrics and warnings.
func (s *Service) Get(ctx context.Context, id string) (Run, error) {
	return s.c.Store.Run(ctx, id)
}

// List gives a page of runs. Sort and filter fields: id, name, created_at, scheduled_at, description, storage_state, status,
// experiment_id, pipeline_id and metric:<name>; runs without that metric come last whatever the direction.
func (s *Service) List(ctx context.Context, q page.Query, sc Scope) (page.Page[Run], error) {
	return s.c.Store.Runs(ctx, q, sc)
}

// Groups groups runs by a parameter; see Store.
func (s *Service) Groups(ctx context.Context, filter []page.Predicate, sc Scope, g Grouping) ([]Group, int, error) {
	return s.c.Store.Groups(ctx, filter, sc, g)
}

// Fields names the parameters, labels and metrics that runs have.
func (s *Service) Fields(ctx context.Context) (Fields, error) { return s.c.Store.Fields(ctx) }

// Nodes gives the nodes of a run's Workflow in the order they started; empty until the controller has seen it.
func (s *Service) Nodes(ctx context.Context, id string) ([]Node, error) {
	return s.c.Store.Nodes(ctx, id)
}

// ListNodes gives a page of the nodes of a run.
func (s *Service) ListNodes(ctx context.Context, id string, q NodeQuery) (page.Page[Node], error) {
	return s.c.Store.ListNodes(ctx, id, q)
}

// Workflow gives the newest known Workflow of a run, spec and status, as JSON.
func (s *Service) Workflow(ctx context.Context, id string) ([]byte, error) {
	return s.c.Store.Workflow(ctx, id)
}

// Manifest gives the manifest that a run was made from, as it was uploaded or sent.
func (s *Service) Manifest(ctx context.Context, id string) ([]byte, error) {
	return s.c.Store.RunManifest(ctx, id)
}

// Manifests gives the manifests of some runs, each once, and the place of each run's in them.
func (s *Service) Manifests(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error) {
	return s.c.Store.RunManifests(ctx, ids)
}

// Warn keeps a warning on a run, once.
func (s *Service) Warn(ctx context.Context, id, warning string) error {
	if err := s.c.Store.AddWarning(ctx, id, warning); err != nil {
		return err
	}
	s.c.Feed.Publish(id)
	return nil
}

// Archive sets or clears the archived flag.
func (s *Service) Archive(ctx context.Context, id string, archived bool) error {
	if err := s.c.Store.ArchiveRun(ctx, id, archived); err != nil {
		return err
	}
	s.c.Feed.Publish(id)
	return nil
}

// Terminate stops a run: its status is Terminating until the cluster has stopped every step. Only a run that has not ended can be stopped.
func (s *Service) Terminate(ctx context.Context, id string) error {
	defer s.locks.lock(id)()
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	switch r.Status {
	case "", Pending, Running:
	case Terminating:
		return nil
	default:
		return fault.New(fault.Invalid, "the run has ended (%s); only a run that is pending or running can be terminated", r.Status)
	}
	if err := s.c.Store.SetStatus(ctx, id, Terminating, ""); err != nil {
		return err
	}
	defer s.c.Feed.Publish(id)
	// The intent is stored, so the reconciler or the outbox carries it out when the cluster answers again.
	if err := s.stop(ctx, r); err != nil {
		s.c.Log.Warn("run could not be stopped yet", "run", id, "error", err)
		s.nudge()
	}
	return nil
}

// stop tells the cluster to terminate a run's Workflow; a run whose Workflow was never made ends here.
func (s *Service) stop(ctx context.Context, r Run) error {
	err := s.c.Engine.Terminate(ctx, r.Namespace, r.Workflow)
	if fault.KindOf(err) != fault.NotFound || err == nil {
		return err
	}
	if err := s.c.Store.SetStatus(ctx, r.ID, Terminated, "terminated before its workflow was created"); err != nil {
		return err
	}
	if err := s.c.Store.Submitted(ctx, r.ID); err != nil {
		return err
	}
	return s.c.Store.Settle(ctx, r.ID)
}

// Delete stops a run that is still going, and removes it with its logs.
func (s *Service) Delete(ctx context.Context, id string) error {
	defer s.locks.lock(id)()
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	if err := s.c.Engine.DeleteWorkflow(ctx, r.Namespace, r.Workflow); err != nil {
		return err
	}
	if err := s.c.Logs.Delete(ctx, id); err != nil {
		s.c.Log.Warn("logs of a deleted run stay behind", "run", id, "error", err)
	}
	if err := s.c.Store.DeleteRun(ctx, id); err != nil {
		return err
	}
	s.c.Feed.Publish(id)
	return nil
}

// ReadArtifact gives an output artifact of a node as it lies in the artifact store (a tarball, unless the step says otherwise).
func (s *Service) ReadArtifact(ctx context.Context, id, nodeID, name string) (io.ReadCloser, error) {
	n, err := s.node(ctx, id, nodeID)
	if err != nil {
		return nil, err
	}
	for _, a := range n.Artifacts {
		if a.Name == name {
			return s.c.Artifacts.Get(ctx, a.Key)
		}
	}
	return nil, fault.New(fault.NotFound, "step %s has no artifact %q", n.DisplayName, name)
}

func (s *Service) node(ctx context.Context, id, nodeID string) (Node, error) {
	n, err := s.c.Store.Node(ctx, id, nodeID)
	if err == nil || fault.KindOf(err) != fault.NotFound {
		return n, err
	}
	if _, missing := s.c.Store.Run(ctx, id); missing != nil {
		return Node{}, missing
	}
	return Node{}, fault.New(fault.NotFound, "run %s has no step %s", id, nodeID)
}

// Subscribe tells of changes to one run, or to all with an empty id, until it is closed.
func (s *Service) Subscribe(id string) *Subscription {
	return s.c.Feed.Subscribe(id)
}
