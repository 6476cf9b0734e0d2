// Package run holds runs: what was asked for, what the cluster made of it, and what it measured.
package run

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
)

// Statuses of a run: the phase of its Workflow, as KFP v1 names them, but for Terminated, which KFP calls Failed. Empty means
// accepted and not yet begun.
const (
	Pending     = "Pending"
	Running     = "Running"
	Succeeded   = "Succeeded"
	Failed      = "Failed"
	Error       = "Error"
	Terminating = "Terminating"
	Terminated  = "Terminated"
)

// Waiting is what a run is shown as that has not ended and has Waits. Status never has it: only a filter on ShownStatus
// knows it.
const (
	Waiting     = "Waiting"
	ShownStatus = "shown_status"
)

// Statuses lists them, but for Waiting.
var Statuses = []string{Pending, Running, Succeeded, Failed, Error, Terminating, Terminated}

// Label marks the Workflow of a run, and its pods, with the run's id (KFP v1).
const Label = "pipeline/runid"

// Final tells whether a status can change no more.
func Final(status string) bool {
	return status == Succeeded || status == Failed || status == Error || status == Terminated
}

// Parameter is an input or output value by name.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Run is one execution of a pipeline. Names of related resources are filled in on reading.
type Run struct {
	ID, Name, Description        string
	ExperimentID, ExperimentName string
	PipelineID, PipelineName     string // empty for a run of an inline manifest
	VersionID, VersionName       string
	ByVersion                    bool   // the request named the version alone, which KFP's API shows without its pipeline
	ScheduleID, ScheduleName     string // of the schedule that started it; empty for the others
	ServiceAccount               string
	Namespace, Workflow          string // of the Workflow; its name is chosen when the run is accepted
	Status, Message              string
	Archived                     bool
	CreatedAt, ScheduledAt       time.Time
	StartedAt, FinishedAt        time.Time         // zero: not yet
	Parameters                   []Parameter       // as given in the request
	Defaults                     []Parameter       // the manifest's own values of parameters that the request left alone
	Labels                       map[string]string // the manifest's, unless the request sets others
	Metrics                      []Metric
	Curves                       []Curve // one for each metric that the run printed while it ran
	Warnings                     []string
	Waits                        *Waits // nil: a step runs, or none says what it waits for
	Settled                      bool   // final, with its logs and metrics in: nothing more will come
	Attempt                      int64  // how often the run was retried
	Revision                     int64  // of its last change; no two changes of runs have the same, and later ones have greater ones
}

// Waits says what a run waits for while none of its steps runs: the reason that most steps share, and one of those steps.
type Waits struct {
	NodeID, Step string
	Why          string // a sentence
	Steps        int    // that wait, for this or for something else
}

// Artifact is a file that a node left in the artifact store under Key.
type Artifact struct {
	Name string `json:"name"`
	Key  string `json:"key"`
	Size *int64 `json:"size,omitempty"` // in bytes, as stored; nil until the node is harvested
}

// Node is one node of the run's Workflow.
type Node struct {
	ID, Name, DisplayName string
	Type, Template        string
	Phase, Message        string // as the workflow engine says
	Waiting               string // what it waits for before it starts, in a sentence; empty when it does not
	ExitCode              string // empty: none known
	PodName               string
	BoundaryID            string
	Children              []string
	StartedAt, FinishedAt time.Time
	Inputs, Outputs       []Parameter
	Artifacts             []Artifact
	LogKey                string   // key of the main container's log; empty until that is in, or when there is none
	Harvested             bool     // ended, with its log and metrics in
	LogRevision           int64    // of the run when the log was complete; 0: it is not yet
	Scrape                []string // metrics to look for in the log while the node runs, as launcher/scrape writes rules
	Job                   string   // the kind of distributed job that it runs, while it does; not kept
	CachedFrom            *Origin  // the step whose outputs this one took instead of running; nil: it ran
}

// Shown is the phase for display: a node that waits to start is Pending although a program of its pod runs, such as the launcher of a job
// that waits for resources.
func (n Node) Shown() string {
	if n.Phase == Running && n.Waiting != "" {
		return Pending
	}
	return n.Phase
}

// Origin is the step of another run (or of the same) that something comes from.
type Origin struct{ RunID, NodeID string }

// Metric formats.
const (
	Raw        = "RAW"
	Percentage = "PERCENTAGE"
)

// Metric is one number that a node reported; (NodeID, Name) is its key within a run and the first write wins.
type Metric struct {
	NodeID, Name string
	Value        float64
	Format       string
}

// State is what the reconciler saw of a Workflow at one moment.
type State struct {
	Status, Message       string
	StartedAt, FinishedAt time.Time
	Nodes                 []Node
	Workflow              []byte // the live object, spec and status, as JSON
	Attempt               int64  // of the run that the Workflow carried out at that moment
	CutShort              bool   // the Workflow was deleted before it ended, and this is the end that it comes to
}

// Seen is a Workflow as the cluster has it.
type Seen struct {
	RunID               string
	Namespace, Workflow string
	Gone                bool                  // the cluster has it no more, or shows it no more; the rest but the names is empty
	Stopping            bool                  // a client has terminated it
	Persisted           bool                  // it is marked as settled
	Deleting            bool                  // it was deleted, and waits only to be recorded
	State               func() (State, error) // reads it; costs as much as the Workflow is large
}

// Scope narrows a list of runs; a zero scope is all of them.
type Scope struct {
	ExperimentID string
	ScheduleID   string
}

// Fields are the names of the parameters, labels and metrics that runs have. Curves are the metrics with a curve: their Figures
// can be asked for as well.
type Fields struct{ Parameters, Labels, Metrics, Curves []string }

// NodeQuery asks for one page of a run's nodes: those that began first first, and last those that did not begin.
type NodeQuery struct {
	Size   int      // more than 0
	Phases []string // empty: all
	Types  []string // empty: all
	Name   string   // a part of the name or display name
	Start  *listing.Cursor
}

// Pending work of the outbox: a run that was accepted and whose Workflow may not exist yet.
type Accepted struct {
	RunID    string
	Workflow []byte
}

// Store keeps runs. Errors are *apierr.Error.
type Store interface {
	Changes
	Curves
	Visuals
	// Accept stores a run with its parameters, the manifest that it was asked for with and its prepared Workflow (JSON)
	// durably, before anything is created in the cluster.
	Accept(ctx context.Context, r Run, manifest, workflow []byte) error
	// Submitted marks a run's Workflow as created; Unsubmitted lists those that are not (the outbox).
	Submitted(ctx context.Context, id string) error
	Unsubmitted(ctx context.Context) ([]Accepted, error)

	Run(ctx context.Context, id string) (Run, error)
	Runs(ctx context.Context, q listing.Query, s Scope) (listing.Page[Run], error)
	// Groups groups runs by a parameter, and sums up metrics: at most limit groups, those with the most runs, in the order of
	// their values, and how many there are in all.
	Groups(ctx context.Context, filter []listing.Predicate, s Scope, g Grouping) ([]Group, int, error)
	// Fields names what runs can be searched for.
	Fields(ctx context.Context) (Fields, error)
	Nodes(ctx context.Context, id string) ([]Node, error)
	Node(ctx context.Context, id, nodeID string) (Node, error)
	ListNodes(ctx context.Context, id string, q NodeQuery) (listing.Page[Node], error)
	// Workflow gives the newest known Workflow of a run as JSON; RunManifest gives the manifest that it was made from.
	Workflow(ctx context.Context, id string) ([]byte, error)
	RunManifest(ctx context.Context, id string) ([]byte, error)
	// RunManifests gives the manifests of some runs, each once, and the place of each run's in them.
	RunManifests(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error)
	// Unsettled lists the runs that were submitted and are not settled; only the fields of the run's own row are filled in.
	Unsettled(ctx context.Context) ([]Run, error)

	// Retry opens an ended run again: status Running, not settled, and in the outbox with the Workflow of the new attempt.
	// The metrics of the nodes that will run again are removed, as the first value of a metric stays.
	Retry(ctx context.Context, id string, attempt int64, again Again) error
	// Record stores what the reconciler saw. It is idempotent, never takes a final status back unless the run was retried,
	// passes over what was seen of an earlier attempt, and tells whether anything changed.
	Record(ctx context.Context, id string, s State) (changed bool, err error)
	SetStatus(ctx context.Context, id, status, message string) error
	// SetHarvested marks an ended node whose metrics are in; logKey is that of its main container's log, empty when it has none, and
	// sizes are those of its artifacts by their keys. Record keeps the sizes.
	SetHarvested(ctx context.Context, id, nodeID, logKey string, sizes map[string]int64) error
	// AddMetrics stores metrics; a metric already there keeps its value and is returned in duplicates.
	AddMetrics(ctx context.Context, id string, ms []Metric) (duplicates []Metric, err error)
	// AddWarning keeps a warning once.
	AddWarning(ctx context.Context, id, warning string) error
	// Settle marks a final run as complete: its logs and metrics are in.
	Settle(ctx context.Context, id string) error

	// CachedFamilies is that of cache.Store.
	CachedFamilies(ctx context.Context, families []string) ([]string, error)

	// DropCacheEntries has what a run's steps left count no more; Takers gives the runs that took it over and still have it.
	DropCacheEntries(ctx context.Context, id string) error
	Takers(ctx context.Context, id string) ([]string, error)
	// SetPruned notes that a run has no artifacts or logs any more, with why as a warning.
	SetPruned(ctx context.Context, id string, artifacts, logs bool, why string) error

	ArchiveRun(ctx context.Context, id string, archived bool) error
	// SetLabels sets the labels of a run in place of those it has.
	SetLabels(ctx context.Context, id string, labels map[string]string) error
	DeleteRun(ctx context.Context, id string) error
}

// Options are what run creation sets on a manifest.
type Options struct {
	RunID, RunName string
	Parameters     []Parameter
	ServiceAccount string // empty: the manifest's, else pipeline-runner
	Namespace      string
	Bucket         string // of artifacts, which {{kfp-default-bucket}} stands for; empty: it stays as it is
	Tick           *Tick  // nil for runs that no schedule starts
	// Reusable returns the families of templates (see cache.Entry) with cached results. Nil: steps always run.
	Reusable func(ctx context.Context, families []string) ([]string, error)
	Concerns bool // look for what the steps refer to and what is not there
}

// Tick is one time that a schedule starts a run.
type Tick struct {
	Workflow string // the name of the Workflow, the same whenever the tick is tried again
	Schedule string // the name that the schedule goes by in the cluster
	Index    int64  // of the run among those of the schedule, from 1
	At       time.Time
}

// Prepared is a Workflow ready to be created.
type Prepared struct {
	Name           string      // metadata.name, fixed, so that creating twice cannot make two
	ServiceAccount string      // that it will run as
	Workflow       []byte      // JSON
	Parameters     []Parameter // those that were given, with their macros expanded
	Defaults       []Parameter // see Run.Defaults
	Labels         map[string]string
	Shortages      []Shortage // what the cluster can never hold
	Checked        bool       // the steps were compared with the nodes
	Concerns       []Concern  // where they were asked for
	Risks          []string   // what may go wrong with how it is placed
}

// Again is a Workflow that is to go on where it failed.
type Again struct {
	Workflow   []byte      // JSON
	Dropped    []string    // ids of the nodes that will run again
	Parameters []Parameter // of the run that have other values from here on
	Warnings   []string    // kept steps that used other values
}

// From says where a run that has ended is to go on.
type From struct {
	Step       string      // id, name or display name of a node; empty: what failed
	Parameters []Parameter // of the run that shall have other values from here on
}

// Engine runs Workflows; server/engine implements it on the Kubernetes API.
type Engine interface {
	// Prepare does to a manifest what KFP v1 run creation does (unknown parameters refused, macros, labels, service account, lint).
	Prepare(ctx context.Context, manifest []byte, o Options) (Prepared, error)
	// Again makes of an ended Workflow the one that its run's next attempt goes on with. What cannot be is Invalid.
	Again(workflow []byte, attempt int64, from From) (Again, error)
	// Submit creates the Workflow; one that exists already under that name and run id is success, and is brought to the
	// attempt of the one given if it is of an earlier one.
	// Unavailable means "try again", any other error that the cluster will never take it.
	Submit(ctx context.Context, workflow []byte) error
	// Terminate stops a Workflow; one that is not there is NotFound, one that has ended is left as it is.
	Terminate(ctx context.Context, namespace, workflow string) error
	// DeleteWorkflow removes a Workflow with all that it owns; one that is not there is success.
	DeleteWorkflow(ctx context.Context, namespace, workflow string) error
}
