package client

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Statuses of a run. An empty one means accepted and not yet begun.
const (
	Pending     = "Pending"
	Running     = "Running"
	Succeeded   = "Succeeded"
	Failed      = "Failed"
	Errored     = "Error"
	Terminating = "Terminating"
	Terminated  = "Terminated"
)

// StatusWaiting is how lists show a run with Waiting set, and a status that they can be searched for; Run.Status never has it.
const StatusWaiting = "Waiting"

// Ref names a resource.
type Ref struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// PipelineRef names the pipeline and version of a run; it is empty for a run of an inline manifest.
type PipelineRef struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	VersionID string `json:"version_id,omitempty"`
}

// WorkflowRef names the run's Workflow in the cluster.
type WorkflowRef struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Run is one execution of a pipeline. Lists leave Nodes out.
type Run struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Status    string    `json:"status,omitempty"`
	Error     string    `json:"error,omitempty"` // why it failed
	CreatedAt time.Time `json:"created_at,omitzero"`
	// ScheduledAt is the time for which a schedule created the run.
	ScheduledAt time.Time   `json:"scheduled_at,omitzero"`
	StartedAt   time.Time   `json:"started_at,omitzero"`
	FinishedAt  time.Time   `json:"finished_at,omitzero"`
	Experiment  Ref         `json:"experiment,omitzero"`
	Pipeline    PipelineRef `json:"pipeline,omitzero"`
	Workflow    WorkflowRef `json:"workflow,omitzero"`
	Parameters  []Parameter `json:"parameters,omitempty"`
	Nodes       []Node      `json:"nodes,omitempty"`
	Metrics     []Metric    `json:"metrics,omitempty"`
	Warnings    []string    `json:"warnings,omitempty"`
	// Curves has one entry for each metric that the run printed while it ran.
	Curves []RunCurve `json:"curves,omitempty"`
	// Labels are set with SetLabels; runs can be searched by them.
	Labels map[string]string `json:"labels,omitempty"`
	// Waiting is the reason why the run waits while none of its steps runs; nil when it does not wait.
	Waiting *Waiting `json:"waiting,omitempty"`
}

// Waiting is the reason why a run waits.
type Waiting struct {
	NodeID string `json:"node_id"`
	Step   string `json:"step"`
	Why    string `json:"why"`   // in a sentence
	Steps  int    `json:"steps"` // that wait, for this or for something else
}

// RunCurve says how a metric went over all that the run's steps and ranks printed of it.
type RunCurve struct {
	Name   string   `json:"name"`
	Format string   `json:"format,omitempty"` // RAW or PERCENTAGE
	Last   *float64 `json:"last,omitempty"`   // the value that came last; nil if it is not finite
	Min    *float64 `json:"min,omitempty"`    // of the finite values; nil if there is none
	Max    *float64 `json:"max,omitempty"`
}

// Done tells whether the run has ended, well or not.
func (r *Run) Done() bool {
	switch r.Status {
	case Succeeded, Failed, Errored, Terminated, "Skipped":
		return true
	}
	return false
}

// Duration is how long the run has taken, up to now if it goes on; 0 if it has not begun.
func (r *Run) Duration() time.Duration { return duration(r.StartedAt, r.FinishedAt) }

// Node is one node of the run's graph: a step (type Pod), or a group of steps.
type Node struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	DisplayName string      `json:"display_name,omitempty"`
	Type        string      `json:"type,omitempty"` // Pod, DAG, Steps, Retry, Skipped, Suspend, StepGroup, TaskGroup
	Template    string      `json:"template,omitempty"`
	Phase       string      `json:"phase,omitempty"`   // Pending, Running, Succeeded, Failed, Error, Skipped, Omitted
	Waiting     string      `json:"waiting,omitempty"` // what it waits for before it starts, in a sentence
	Message     string      `json:"message,omitempty"`
	ExitCode    string      `json:"exit_code,omitempty"`
	StartedAt   time.Time   `json:"started_at,omitzero"`
	FinishedAt  time.Time   `json:"finished_at,omitzero"`
	PodName     string      `json:"pod_name,omitempty"`
	Children    []string    `json:"children,omitempty"`
	BoundaryID  string      `json:"boundary_id,omitempty"`
	Inputs      []Parameter `json:"inputs,omitempty"`
	Outputs     []Parameter `json:"outputs,omitempty"`
	Artifacts   []Artifact  `json:"artifacts,omitempty"`
	HasLog      bool        `json:"has_log,omitempty"`
}

// Label is the node's name for display. In a loop it includes the number and the item of each iteration, as in "train(2:0.01)".
func (n *Node) Label() string {
	var b strings.Builder
	b.WriteString(firstOf(n.DisplayName, n.Name))
	for _, pass := range loopPass.FindAllStringSubmatch(n.Name, -1) {
		const longest = 32
		item := []rune(pass[2])
		if len(item) > longest {
			item = append(item[:longest-1], '…')
		}
		fmt.Fprintf(&b, "(%s:%s)", pass[1], string(item))
	}
	return b.String()
}

// loopPass finds the passes of loops on the way to a node, which Argo writes into its name: "wf.loop(2:0.01).train".
var loopPass = regexp.MustCompile(`\((\d+):(.*?)\)\.`)

// Duration is how long the node has taken, up to now if it goes on; 0 if it has not begun.
func (n *Node) Duration() time.Duration { return duration(n.StartedAt, n.FinishedAt) }

// Done tells whether the node has ended, well or not.
func (n *Node) Done() bool { return n.Phase != "" && n.Phase != Pending && n.Phase != Running }

// Artifact is a file that a node left behind.
type Artifact struct {
	Name string `json:"name"`
	Key  string `json:"key,omitempty"`
	// Size is in bytes, as stored, and of all files of a folder; nil where it is not known: before the node's end, and of older runs.
	Size *int64 `json:"size,string,omitempty"`
}

// Metric is one number that a node reported.
type Metric struct {
	Name   string  `json:"name"`
	NodeID string  `json:"node_id"`
	Value  float64 `json:"value"`
	Format string  `json:"format,omitempty"` // RAW or PERCENTAGE (0.5 means 50 %)
}

// NewRun requests a run of a pipeline (its default version), of one version, or of an inline manifest.
type NewRun struct {
	Name           string // shown; need not be unique
	Description    string
	PipelineID     string
	VersionID      string
	Manifest       string // a Workflow as YAML or JSON, instead of a pipeline
	ExperimentID   string // empty: the experiment "Default"
	ServiceAccount string // empty: the manifest's, else pipeline-runner
	// Parameters overrides defaults. The server refuses names that the pipeline does not declare.
	Parameters []Parameter
}

// RunName generates a name for a run or schedule: the pipeline's name, the time, and some random letters that keep two names of one second
// apart.
func RunName(pipeline string) string {
	const letters = "bcdfghjkmnpqrstvwxz"
	suffix := make([]byte, 4)
	for i := range suffix {
		suffix[i] = letters[rand.IntN(len(letters))]
	}
	return fmt.Sprintf("%s-%s-%s", pipeline, time.Now().Format("20060102-150405"), suffix)
}

type resourceRef struct {
	Key struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"key"`
	Name         string `json:"name,omitempty"`
	Relationship string `json:"relationship"`
}

func refTo(kind, id, relationship string) resourceRef {
	r := resourceRef{Relationship: relationship}
	r.Key.Type, r.Key.ID = kind, id
	return r
}

// wireParameter is a Parameter whose empty value is sent: an empty string is a value too.
type wireParameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// wireRun is a run in the shape of v1beta1.
type wireRun struct {
	ID           string    `json:"id,omitempty"`
	Name         string    `json:"name"`
	Description  string    `json:"description,omitempty"`
	Status       string    `json:"status,omitempty"`
	Error        string    `json:"error,omitempty"`
	CreatedAt    time.Time `json:"created_at,omitzero"`
	ScheduledAt  time.Time `json:"scheduled_at,omitzero"`
	FinishedAt   time.Time `json:"finished_at,omitzero"`
	Account      string    `json:"service_account,omitempty"`
	PipelineSpec struct {
		PipelineID   string          `json:"pipeline_id,omitempty"`
		PipelineName string          `json:"pipeline_name,omitempty"`
		Manifest     string          `json:"workflow_manifest,omitempty"`
		Parameters   []wireParameter `json:"parameters,omitempty"`
	} `json:"pipeline_spec,omitzero"`
	References []resourceRef `json:"resource_references,omitempty"`
	Metrics    []wireMetric  `json:"metrics,omitempty"`
	Warnings   string        `json:"metric_errors,omitempty"` // a line each
}

type wireMetric struct {
	Name   string  `json:"name"`
	NodeID string  `json:"node_id"`
	Value  float64 `json:"number_value"`
	Format string  `json:"format"`
}

// Create starts a run and gives it as it was accepted, without nodes.
func (s RunsService) Create(ctx context.Context, n NewRun) (*Run, error) {
	var out struct {
		Run wireRun `json:"run"`
	}
	if err := s.conn.send(ctx, http.MethodPost, kfpAPI+"/runs", n.wire(), &out); err != nil {
		return nil, err
	}
	return out.Run.view(), nil
}

// wire is what is asked for in the shape of v1beta1.
func (n NewRun) wire() wireRun {
	in := wireRun{Name: n.Name, Description: n.Description, Account: n.ServiceAccount}
	in.PipelineSpec.PipelineID = n.PipelineID
	in.PipelineSpec.Manifest = n.Manifest
	for _, p := range n.Parameters {
		in.PipelineSpec.Parameters = append(in.PipelineSpec.Parameters, wireParameter(p))
	}
	if n.VersionID != "" {
		in.References = append(in.References, refTo("PIPELINE_VERSION", n.VersionID, "CREATOR"))
	}
	if n.ExperimentID != "" {
		in.References = append(in.References, refTo("EXPERIMENT", n.ExperimentID, "OWNER"))
	}
	return in
}

// known is t, or the zero time for the epoch, which v1beta1 sends for a time that is not known.
func known(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t
}

func (w wireRun) view() *Run {
	r := &Run{ID: w.ID, Name: w.Name, Status: w.Status, Error: w.Error, CreatedAt: w.CreatedAt}
	if w.Warnings != "" {
		r.Warnings = strings.Split(w.Warnings, "\n")
	}
	r.ScheduledAt, r.FinishedAt = known(w.ScheduledAt), known(w.FinishedAt)
	r.Pipeline = PipelineRef{ID: w.PipelineSpec.PipelineID, Name: w.PipelineSpec.PipelineName}
	for _, p := range w.PipelineSpec.Parameters {
		r.Parameters = append(r.Parameters, Parameter(p))
	}
	for _, m := range w.Metrics {
		r.Metrics = append(r.Metrics, Metric(m))
	}
	for _, ref := range w.References {
		switch ref.Key.Type {
		case "EXPERIMENT":
			r.Experiment = Ref{ID: ref.Key.ID, Name: ref.Name}
		case "PIPELINE_VERSION":
			r.Pipeline.VersionID = ref.Key.ID
		}
	}
	return r
}

// Get gives a run with its nodes and metrics.
func (s RunsService) Get(ctx context.Context, id string) (*Run, error) {
	var r Run
	return &r, s.conn.get(ctx, ownAPI+"/runs/"+escape(id), nil, &r)
}

// RunListOptions choose runs.
type RunListOptions struct {
	ListOptions
	Search
	ExperimentID string // empty: of all experiments
	scheduleID   string // empty: of all schedules and none
}

// List gives one page of runs, without their nodes.
func (s RunsService) List(ctx context.Context, o RunListOptions) (Page[Run], error) {
	var wire struct {
		Runs  []Run  `json:"runs"`
		Total int    `json:"total_size"`
		Next  string `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		if o.ExperimentID != "" {
			q.Set("experiment_id", o.ExperimentID)
		}
		if o.scheduleID != "" {
			q.Set("schedule_id", o.scheduleID)
		}
		o.add(q)
		err = s.conn.get(ctx, ownAPI+"/runs", q, &wire)
	}
	return Page[Run]{wire.Runs, wire.Total, wire.Next}, err
}

// All walks all pages; it ends after an error.
func (s RunsService) All(ctx context.Context, o RunListOptions) iter.Seq2[Run, error] {
	return each(ctx, o.ListOptions, func(ctx context.Context, lo ListOptions) (Page[Run], error) {
		return s.List(ctx, RunListOptions{ListOptions: lo, Search: o.Search, ExperimentID: o.ExperimentID})
	})
}

// Metrics gives the numbers that a run has reported so far.
func (s RunsService) Metrics(ctx context.Context, runID string) ([]Metric, error) {
	r, err := s.Get(ctx, runID)
	if err != nil {
		return nil, err
	}
	return r.Metrics, nil
}

// Terminate stops a run and deletes its distributed jobs. If the run has already ended, IsInvalid(err) is true.
func (s RunsService) Terminate(ctx context.Context, id string) error {
	return s.conn.decode(ctx, request{
		method: http.MethodPost, path: kfpAPI + "/runs/" + escape(id) + "/terminate", twice: true, done: IsInvalid,
	}, nil)
}

// Retry runs the failed steps of a failed run again, under the same id.
func (s RunsService) Retry(ctx context.Context, id string) error {
	return s.conn.send(ctx, http.MethodPost, kfpAPI+"/runs/"+escape(id)+"/retry", nil, nil)
}

// From selects the step at which a run continues.
type From struct {
	Step       string      `json:"step,omitempty"`       // id, name or display name of a node; empty: what failed
	Parameters []Parameter `json:"parameters,omitempty"` // that have other values from there on
	DryRun     bool        `json:"dry_run,omitempty"`    // only tell what would run again
}

// Retried describes the steps that a retry runs again.
type Retried struct {
	Again    []string `json:"again,omitempty"`    // ids of the nodes that run again
	Warnings []string `json:"warnings,omitempty"` // which of the kept steps used other values of the parameters
}

// RetryFrom runs a step of an ended run again, and all steps after it, under the same id. If the run has not ended or never reached the
// step, IsConflict(err) is true.
func (s RunsService) RetryFrom(ctx context.Context, id string, from From) (*Retried, error) {
	var r Retried
	return &r, s.conn.send(ctx, http.MethodPost, ownAPI+"/runs/"+escape(id)+":retry", from, &r)
}

// SetLabels replaces the labels of a run and returns the run without its nodes. Names and values are as in Kubernetes; a run has at most 64.
func (s RunsService) SetLabels(ctx context.Context, id string, labels map[string]string) (*Run, error) {
	var r Run
	in := struct {
		Labels map[string]string `json:"labels"`
	}{labels}
	return &r, s.conn.send(ctx, http.MethodPut, ownAPI+"/runs/"+escape(id)+"/labels", in, &r)
}

// Delete deletes a run with its logs, and stops it first if it has not ended. Its artifacts stay, as with KFP: see Purge.
func (s RunsService) Delete(ctx context.Context, id string) error {
	return s.conn.delete(ctx, kfpAPI+"/runs/"+escape(id))
}

// Archive puts a run away; Unarchive takes it out again.
func (s RunsService) Archive(ctx context.Context, id string) error {
	return s.conn.put(ctx, kfpAPI+"/runs/"+escape(id)+":archive")
}

// Unarchive takes a run out of the archive.
func (s RunsService) Unarchive(ctx context.Context, id string) error {
	return s.conn.put(ctx, kfpAPI+"/runs/"+escape(id)+":unarchive")
}

func duration(start, end time.Time) time.Duration {
	switch {
	case start.IsZero():
		return 0
	case end.IsZero():
		return time.Since(start)
	}
	return end.Sub(start)
}
