package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Cluster describes the nodes and queues of the cluster, and which runs use them.
type Cluster struct {
	Nodes   []ClusterNode  `json:"nodes"`
	Queues  []Queue        `json:"queues,omitempty"`  // Volcano's; none where the cluster has no Volcano
	Waiting []Holder       `json:"waiting,omitempty"` // pods that have no node yet
	Missing []MissingRight `json:"missing,omitempty"`
	ReadAt  time.Time      `json:"read_at"`
	Disk    *Disk          `json:"disk,omitempty"` // nil where the server does not know it
	// Versions are those of Kubernetes, Argo, the operators and the scheduler, as far as the server knows them.
	Versions []ComponentVersion `json:"versions,omitempty"`
}

// Disk is the room, in bytes, of the file system that holds the server's data.
type Disk struct {
	Total float64 `json:"total"`
	Free  float64 `json:"free"` // what the server's user may still write
}

// ComponentVersion is the version of a program that makes up the cluster.
type ComponentVersion struct {
	Name    string `json:"name"`    // such as Argo Workflows
	Version string `json:"version"` // such as v3.7.18
}

// MissingRight names objects of the cluster that the server may not read, so that the answer lacks them.
type MissingRight struct {
	Verb      string `json:"verb"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"` // empty: in all namespaces
}

// ClusterNode is a machine of the cluster.
type ClusterNode struct {
	Name        string        `json:"name"`
	Ready       bool          `json:"ready"`
	Schedulable bool          `json:"schedulable"`       // it takes new pods
	Message     string        `json:"message,omitempty"` // why it is not ready or takes no pods
	Taints      []string      `json:"taints,omitempty"`
	Resources   []ResourceUse `json:"resources"`
	Holders     []Holder      `json:"holders,omitempty"`
}

// ResourceUse is the total amount of a resource and the amount that pods request: cpu in cores, memory in bytes, all others as counts.
type ResourceUse struct {
	Resource    string  `json:"resource"`
	Capacity    float64 `json:"capacity"`
	Allocatable float64 `json:"allocatable"`
	Requested   float64 `json:"requested"`
	Free        float64 `json:"free"`
}

// Holder is a run, or a namespace for pods without a run, with the resources that its pods request.
type Holder struct {
	RunID     string   `json:"run_id,omitempty"`
	RunName   string   `json:"run_name,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
	Pods      int      `json:"pods"`
	Requested []Amount `json:"requested"`
}

// Amount is an amount of a resource, in the units of ResourceUse.
type Amount struct {
	Resource string  `json:"resource"`
	Value    float64 `json:"value"`
}

// Queue is a queue of Volcano's scheduler.
type Queue struct {
	Name      string          `json:"name"`
	Weight    int             `json:"weight"`
	State     string          `json:"state"` // Open, Closed, Closing or Unknown
	Parent    string          `json:"parent,omitempty"`
	Resources []QueueResource `json:"resources,omitempty"`
	Running   int             `json:"running"`           // gangs
	Waiting   []PodGroup      `json:"waiting,omitempty"` // gangs, the oldest first
}

// QueueResource is the limit and the current use of a resource in a queue.
type QueueResource struct {
	Resource   string   `json:"resource"`
	Capability *float64 `json:"capability,omitempty"` // nil: no limit
	Deserved   *float64 `json:"deserved,omitempty"`   // nil: by weight
	Allocated  float64  `json:"allocated"`
}

// PodGroup is a gang: pods that are placed together or not at all.
type PodGroup struct {
	Namespace    string    `json:"namespace"`
	Name         string    `json:"name"`
	RunID        string    `json:"run_id,omitempty"`
	RunName      string    `json:"run_name,omitempty"`
	Phase        string    `json:"phase"`
	Queue        string    `json:"queue"`
	MinAvailable int       `json:"min_available"`
	Running      int       `json:"running"`
	Succeeded    int       `json:"succeeded"`
	Failed       int       `json:"failed"`
	Message      string    `json:"message,omitempty"` // why it has no room
	CreatedAt    time.Time `json:"created_at"`
	Requested    []Amount  `json:"requested,omitempty"`
}

// Get returns the nodes and queues of the cluster, the free resources, and the runs that hold the rest.
func (s ClusterService) Get(ctx context.Context) (*Cluster, error) {
	answer := &Cluster{}
	return answer, s.conn.get(ctx, ownAPI+"/cluster", nil, answer)
}

// RunJobs are the distributed jobs of a run in their current state in the cluster.
type RunJobs struct {
	Jobs    []RunJob       `json:"jobs"`
	Missing []MissingRight `json:"missing,omitempty"`
}

// RunJob is the distributed job of a step.
type RunJob struct {
	NodeID    string       `json:"node_id"`
	StepName  string       `json:"step_name"`
	Kind      string       `json:"kind"` // MPIJob, PyTorchJob and so on
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	State     string       `json:"state"`             // Created, Pending, Suspended, Running, Terminating, Succeeded or Failed
	Message   string       `json:"message,omitempty"` // why it failed
	CreatedAt time.Time    `json:"created_at"`
	Attempt   int          `json:"attempt"`
	Requested *int         `json:"requested_world_size,omitempty"` // nil: not known any more
	Proved    *int         `json:"proved_world_size,omitempty"`    // nil until the step has ended
	Workers   []Worker     `json:"workers"`
	PodGroup  *PodGroup    `json:"pod_group,omitempty"`
	Objects   []ObjectName `json:"objects"`
	RunID     string       `json:"run_id"`
	RunName   string       `json:"run_name,omitempty"`       // only in ClusterJobs
	Pods      *int         `json:"requested_pods,omitempty"` // without the one that starts the others; nil: not known any more

	PriorityClass string      `json:"priority_class,omitempty"`
	Priority      *int        `json:"priority,omitempty"`   // nil: not known
	Preemption    *Preemption `json:"preemption,omitempty"` // the last one; nil when there was none
}

// Preemption says for whom a scheduler took room from a job, which started again when there was room.
type Preemption struct {
	At       time.Time `json:"at"`
	Kind     string    `json:"kind,omitempty"` // of the job, workflow or pod that got the room; empty: not known
	Name     string    `json:"name,omitempty"`
	RunID    string    `json:"run_id,omitempty"`
	RunName  string    `json:"run_name,omitempty"`
	Priority int       `json:"priority,omitempty"`
}

// Done tells whether the job has ended, well or not.
func (j *RunJob) Done() bool { return j.State == Succeeded || j.State == Failed }

// Worker is one pod of a distributed job.
type Worker struct {
	Pod        string    `json:"pod"`
	Role       string    `json:"role"`
	Index      int       `json:"index"`                // within the role
	FirstRank  *int      `json:"first_rank,omitempty"` // nil for a pod without ranks
	LastRank   *int      `json:"last_rank,omitempty"`
	State      string    `json:"state"`
	Message    string    `json:"message,omitempty"` // what it waits for, or how it ended
	Node       string    `json:"node,omitempty"`
	Address    string    `json:"address,omitempty"`
	Restarts   int       `json:"restarts"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// ObjectName names an object of the cluster.
type ObjectName struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// OfRun lists the distributed jobs of a run.
func (s JobsService) OfRun(ctx context.Context, runID string) (*RunJobs, error) {
	answer := &RunJobs{}
	return answer, s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/jobs", nil, answer)
}

// JobOptions choose distributed jobs.
type JobOptions struct {
	States []string // in any case; empty for all
	Limit  int      // at most so many; 0 is all
}

// ClusterJobs are the distributed jobs of all runs that the cluster has, the newest first.
type ClusterJobs struct {
	Jobs    []RunJob       `json:"jobs"`
	Total   int            `json:"total"` // in these states
	Missing []MissingRight `json:"missing,omitempty"`
}

// List lists the distributed jobs of all runs.
func (s JobsService) List(ctx context.Context, o JobOptions) (*ClusterJobs, error) {
	q := url.Values{"state": o.States}
	if o.Limit != 0 {
		q.Set("limit", strconv.Itoa(o.Limit))
	}
	answer := &ClusterJobs{}
	return answer, s.conn.get(ctx, ownAPI+"/jobs", q, answer)
}

// Stop stops the step of a distributed job: its launcher deletes the job, and the step ends as failed.
func (s JobsService) Stop(ctx context.Context, runID, name string) error {
	return s.conn.decode(ctx, request{method: http.MethodDelete, path: ownAPI + "/runs/" + escape(runID) + "/jobs/" + escape(name), twice: true}, nil)
}

// RunUse is the resource usage of a run's pods, as measured by the cluster's metrics API.
type RunUse struct {
	Pods    []PodUse       `json:"pods"`
	Message string         `json:"message,omitempty"` // why there are none
	Missing []MissingRight `json:"missing,omitempty"`
}

// PodUse is what a pod uses.
type PodUse struct {
	Pod        string    `json:"pod"`
	Used       []Amount  `json:"used"`
	MeasuredAt time.Time `json:"measured_at,omitzero"`
}

// Use returns the current resource usage of a run's pods, if the cluster has a metrics API.
func (s ClusterService) Use(ctx context.Context, runID string) (*RunUse, error) {
	answer := &RunUse{}
	return answer, s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/use", nil, answer)
}

// PendingSteps are the steps of a run that wait, those that wait longest first.
type PendingSteps struct {
	Pending []PendingStep  `json:"pending"`
	Missing []MissingRight `json:"missing,omitempty"`
	ReadAt  time.Time      `json:"read_at"`
}

// PendingStep is a step that waits.
type PendingStep struct {
	NodeID    string            `json:"node_id,omitempty"` // empty: the run itself
	StepName  string            `json:"step_name,omitempty"`
	Cause     string            `json:"cause"` // such as INSUFFICIENT_RESOURCES
	Sentence  string            `json:"sentence"`
	Since     time.Time         `json:"since,omitzero"`
	ToldBy    *ObjectName       `json:"told_by,omitempty"`
	Pods      int               `json:"pods"` // that wait
	Resources []PendingResource `json:"resources,omitempty"`
	Until     time.Time         `json:"until,omitzero"`     // when its waiting ends and it fails; zero: no limit is known
	UntilBy   string            `json:"until_by,omitempty"` // RUN_DEADLINE, STEP_DEADLINE or PENDING_TIMEOUT
}

// PendingResource compares the amount of a resource that the waiting pods of a step request with what the cluster has, in the units of
// ResourceUse.
type PendingResource struct {
	Resource     string   `json:"resource"`
	Asked        float64  `json:"asked"`                  // of all waiting pods
	LargestAsked float64  `json:"largest_asked"`          // the most that one asks for
	Free         *float64 `json:"free,omitempty"`         // of all nodes; nil: not known
	LargestFree  *float64 `json:"largest_free,omitempty"` // the most that one node has
	Lacking      bool     `json:"lacking"`                // by what the scheduler says
}

// Pending returns the waiting steps of a run with the reason for each.
func (s ClusterService) Pending(ctx context.Context, runID string) (*PendingSteps, error) {
	answer := &PendingSteps{}
	return answer, s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/pending", nil, answer)
}

// QueueChange describes a new queue, or the changes of an existing one; empty fields stay as they are.
type QueueChange struct {
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"` // only of new ones
	Weight int    `json:"weight,omitempty"`
	// Amounts by resource, in Kubernetes' notation: 4, 500m, 16Gi. An empty amount removes the limit.
	Capability map[string]string `json:"capability,omitempty"`
	Deserved   map[string]string `json:"deserved,omitempty"`
	Open       *bool             `json:"open,omitempty"` // only of those that are there
}

// List lists the queues of Volcano's scheduler. If the cluster has no Volcano, IsNotFound(err) is true.
func (s QueuesService) List(ctx context.Context) ([]Queue, error) {
	var answer struct{ Queues []Queue }
	err := s.conn.get(ctx, ownAPI+"/queues", nil, &answer)
	return answer.Queues, err
}

// Create makes a queue.
func (s QueuesService) Create(ctx context.Context, q QueueChange) (*Queue, error) {
	answer := &Queue{}
	return answer, s.conn.send(ctx, http.MethodPost, ownAPI+"/queues", q, answer)
}

// Set changes a queue. Volcano opens or closes it with a delay.
func (s QueuesService) Set(ctx context.Context, q QueueChange) (*Queue, error) {
	answer := &Queue{}
	return answer, s.conn.send(ctx, http.MethodPost, ownAPI+"/queues/"+escape(q.Name)+":set", q, answer)
}

// Delete deletes a queue that has no gangs.
func (s QueuesService) Delete(ctx context.Context, name string) error {
	return s.conn.delete(ctx, ownAPI+"/queues/"+escape(name))
}

// Object gives one object of a run's distributed jobs as YAML.
func (s JobsService) Object(ctx context.Context, runID, kind, name string) (string, error) {
	var answer struct {
		YAML string `json:"yaml"`
	}
	err := s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/jobs/"+escape(kind)+"/"+escape(name), nil, &answer)
	return answer.YAML, err
}

// RunEvents are the Kubernetes events of a run's objects, the newest first.
type RunEvents struct {
	Events  []ClusterEvent `json:"events"`
	Missing []MissingRight `json:"missing,omitempty"`
}

// ClusterEvent is a Kubernetes event of an object of a run. Events with the same text are merged.
type ClusterEvent struct {
	Kind     string    `json:"kind"`
	Name     string    `json:"name"`
	NodeID   string    `json:"node_id,omitempty"` // empty for the Workflow
	StepName string    `json:"step_name,omitempty"`
	Type     string    `json:"type"` // Normal or Warning
	Reason   string    `json:"reason"`
	Message  string    `json:"message"`
	Source   string    `json:"source,omitempty"`
	Count    int       `json:"count"`
	FirstAt  time.Time `json:"first_at"`
	LastAt   time.Time `json:"last_at"`
}

// Events lists the Kubernetes events of a run's objects. The cluster keeps events for a limited time, usually an hour.
func (s ClusterService) Events(ctx context.Context, runID string) (*RunEvents, error) {
	answer := &RunEvents{}
	return answer, s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/cluster-events", nil, answer)
}
