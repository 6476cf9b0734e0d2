// Package cluster describes the cluster in which runs work: nodes and queues, the distributed jobs of a run, and the Kubernetes events of a
// run's objects.
package cluster

import (
	"context"
	"time"
)

// Right is something that the server may not read, so that an answer lacks it.
type Right struct {
	Verb, Resource string
	Namespace      string // empty: in all namespaces
}

// Overview is what the cluster has and who holds it.
type Overview struct {
	Nodes   []Node
	Queues  []Queue // Volcano's; nil where the cluster has no Volcano
	Waiting []Holder
	Missing []Right
	ReadAt  time.Time
	Disk    Disk
	// Versions are those of Kubernetes, Argo, the operators and the scheduler, as far as they are known.
	Versions []Version
}

// Version is the version of a program that makes up the cluster.
type Version struct{ Name, Version string }

// Disk is the room of the file system that holds the server's data, in bytes. Total is 0 where it is not known.
type Disk struct{ Total, Free uint64 }

// Amounts are so much of each resource: CPUs in cores, memory in bytes, all else counted.
type Amounts map[string]float64

// Add puts more of each resource to the amounts.
func (a Amounts) Add(more Amounts) {
	for name, n := range more {
		a[name] += n
	}
}

// Node is a machine of the cluster.
type Node struct {
	Name                             string
	Ready, Schedulable               bool
	Message                          string // why it is not ready or takes no pods
	Taints                           []string
	Capacity, Allocatable, Requested Amounts
	Holders                          []Holder
}

// Free is what is left of a resource.
func (n Node) Free(resource string) float64 {
	return max(0, n.Allocatable[resource]-n.Requested[resource])
}

// Holder is a run, or a namespace for pods without a run, and what its pods ask for.
type Holder struct {
	RunID, RunName string
	Namespace      string // of pods without a run
	Pods           int
	Requested      Amounts
}

// Queue is a queue of Volcano's scheduler. An amount that is absent is not limited or not set.
type Queue struct {
	Name, State, Parent             string
	Weight                          int32
	Capability, Deserved, Allocated Amounts
	Running                         int
	Waiting                         []PodGroup
}

// PodGroup is a gang: pods that are placed together or not at all.
type PodGroup struct {
	Namespace, Name            string
	RunID, RunName             string
	Phase, Queue               string
	MinAvailable               int32
	Running, Succeeded, Failed int32
	Message                    string // why it has no room
	CreatedAt                  time.Time
	Requested                  Amounts
}

// Of names the objects of a run in the cluster.
type Of struct {
	RunID, Namespace, Workflow string
	Nodes                      []string          // ids
	Pods                       map[string]string // id of the node by the name of its pod
}

// Job is the distributed job of a step.
type Job struct {
	RunID, RunName        string
	NodeID, StepName      string
	Kind, Namespace, Name string
	State, Message        string
	CreatedAt             time.Time
	Attempt               int
	Requested, Proved     *int // world size; nil: not known
	RequestedPods         *int // nil: not known
	PriorityClass         string
	Priority              *int32      // nil: not known
	Preemption            *Preemption // the last one; nil: none
	Workers               []Worker
	PodGroup              *PodGroup
	Objects               []Object
	// RanksOf tells the ranks of a pod of a role; nil when that is not known any more.
	RanksOf func(role string, index int) *Ranks
}

// Preemption says for whom a scheduler took room from a job.
type Preemption struct {
	At             time.Time
	Kind, Name     string // of the job, workflow or pod that got the room; empty: not known
	RunID, RunName string
	Priority       int32
}

// Worker is one pod of a distributed job.
type Worker struct {
	Pod, Role                        string
	Index                            int
	Ranks                            *Ranks // nil for a pod without ranks
	State, Message                   string
	Node, Address                    string
	Restarts                         int32
	CreatedAt, StartedAt, FinishedAt time.Time
}

// Gone is the state of a pod that the cluster has no more.
const Gone = "Gone"

// Ranks are the numbers of the processes in a pod.
type Ranks struct{ First, Last int }

// Object names an object of the cluster.
type Object struct{ Kind, Name string }

// Use is what pods use, as far as the cluster measures that.
type Use struct {
	Pods    []PodUse
	Message string // why there are none
	Missing []Right
}

// PodUse is what a pod used when it was measured.
type PodUse struct {
	Pod        string
	Used       Amounts
	MeasuredAt time.Time
}

// Waiter is a step that has not begun, or whose distributed job has not.
type Waiter struct {
	NodeID, StepName string
	Type, PodName    string
	Waiting, Message string // what people see that it waits for, and what the workflow engine says
	Since            time.Time
}

// Pending is what a step waits for.
type Pending struct {
	NodeID, StepName string
	Cause, Sentence  string // for programs, and for people
	Since            time.Time
	ToldBy           Object
	Pods             int // that wait
	Resources        []PendingResource
	Until            time.Time // when its waiting ends and it fails; zero: no limit is known
	UntilBy          Limit
}

// Limit is what ends the waiting of a step.
type Limit string

// The limits.
const (
	RunDeadline    Limit = "RUN_DEADLINE"
	StepDeadline   Limit = "STEP_DEADLINE"
	PendingTimeout Limit = "PENDING_TIMEOUT" // of a distributed job
)

// PendingResource is what the waiting pods of a step ask for of a resource, and what nodes have free.
type PendingResource struct {
	Resource            string
	Asked, LargestAsked float64  // of all pods, and of one
	Free, LargestFree   *float64 // of all nodes, and of one; nil: not known
	Lacking             bool
}

// Event is something that Kubernetes tells of an object of a run; those that say the same are one.
type Event struct {
	Object
	NodeID, StepName              string
	Type, Reason, Message, Source string
	Count                         int32
	FirstAt, LastAt               time.Time
}

// Source reads the cluster; server/engine implements it. Errors are *apierr.Error. Objects that the server may not read are listed as
// missing, without an error.
type Source interface {
	Overview(ctx context.Context) (Overview, error)
	Jobs(ctx context.Context, of Of) ([]Job, []Right, error)
	// AllJobs gives those of all runs, the oldest first.
	AllJobs(ctx context.Context) ([]Job, []Right, error)
	// StopJob ends the step that a job belongs to.
	StopJob(ctx context.Context, of Of, name string) error
	Use(ctx context.Context, of Of) (Use, error)
	// Pending says of steps that wait for what.
	Pending(ctx context.Context, of Of, waiters []Waiter) ([]Pending, []Right, error)
	// JobObject gives an object of a run's jobs as YAML; one that is not there or not of the run is NotFound.
	JobObject(ctx context.Context, of Of, o Object) ([]byte, error)
	Events(ctx context.Context, of Of) ([]Event, []Right, error)
	Queues
}
