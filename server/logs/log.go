// Package logs keeps what the containers of runs print: as it is printed, compressed, in the artifact store, so that it
// stays when pods are gone and can be read from any line.
//
// An Archive records each container into a Log: objects of a few MiB (parts), each of chunks that are compressed by
// themselves. Reading goes over parts, then over what is still in memory, so that following a log needs no second source.
package logs

import (
	"context"
	"fmt"
	"io"
	"time"
)

// States of a log.
const (
	Live  = "live"  // more may come, or has not been read yet
	Whole = "whole" // read to its end
	Cut   = "cut"   // the rest is lost or was left out; Message says why
)

// Main is the container of a step that runs what the user asked for.
const Main = "main"

// Log is what one container of a pod printed, from its start to its end; one that is restarted has several.
type Log struct {
	RunID, NodeID  string
	Attempt        int64 // of the run: 0, and one more with each retry
	Namespace, Pod string
	PodUID         string
	Container      string
	Restart        int64  // how often the container had been restarted before
	Role           string // of the pod in a distributed job, such as worker; empty for the step's own pod
	Rank           int64  // of the pod within its role
	StartedAt      time.Time
	LastAt         time.Time // of the last line
	Lines, Bytes   int64     // of text, without times; of a live log as of the last save
	State, Message string
}

// same tells whether two are the same container's.
func (l Log) same(o Log) bool {
	return l.RunID == o.RunID && l.PodUID == o.PodUID && l.Container == o.Container && l.Restart == o.Restart
}

// Key is where a part of the log is kept.
func (l Log) Key(part int) string {
	return fmt.Sprintf("%s/%s/%s/%s.%d/%06d.log.zst", Folder(l.RunID), l.NodeID, l.PodUID, l.Container, l.Restart, part)
}

// Part tells how far a log goes with the end of one of its parts that is written no more.
type Part struct {
	Number       int   // from 0
	Lines, Bytes int64 // of the log up to its end
	LastAt       time.Time
}

// Line is one line of a log, without its end.
type Line struct {
	Number  int64 // from 1
	At      time.Time
	Text    []byte
	Partial bool // it has no end, or not yet
	Growing bool // not yet: it will come again
}

// Lines gives the lines of a log one after the other.
type Lines interface {
	// Next gives the lines that come next, at least one, and io.EOF when there are no more.
	Next(ctx context.Context) ([]Line, error)
	Close()
}

// Store keeps what is known of logs; their lines lie in the artifact store.
type Store interface {
	// PodLogs gives the logs of one pod, and the attempt that the run is at. A run that is not there is NotFound.
	PodLogs(ctx context.Context, runID, podUID string) (logs []Log, attempt int64, err error)
	// Logs gives the logs of a run, or of one node of it, in the order in which they began.
	Logs(ctx context.Context, runID, nodeID string) ([]Log, error)
	// LiveLogs gives the logs that were not read to their end.
	LiveLogs(ctx context.Context) ([]Log, error)
	// PutLog keeps a log, and, when part is not nil, that this part of it is written no more.
	PutLog(ctx context.Context, l Log, part *Part) error
	// LogParts gives the parts of a log that are written no more, in order; what comes after them lies in one more.
	LogParts(ctx context.Context, l Log) ([]Part, error)
	// LogTotals counts what is kept.
	LogTotals(ctx context.Context) (Totals, error)
	// DeleteLogs forgets the logs of a run.
	DeleteLogs(ctx context.Context, runID string) error
}

// Cluster is where the containers are; server/engine implements it.
type Cluster interface {
	// WatchPods calls seen for each pod of a run that is there, then synced, then seen for each change, until ctx ends.
	// synced is called again after the watch restarts.
	WatchPods(ctx context.Context, seen func(Pod), synced func()) error
	// FindPod gives a pod by its name; one that is not there is NotFound.
	FindPod(ctx context.Context, namespace, name string) (Pod, error)
	// ReadLog streams a container's log, each line with the time it was printed in front (RFC 3339). A pod that is gone is
	// NotFound, a container without a log is Invalid.
	ReadLog(ctx context.Context, r ReadRequest) (io.ReadCloser, error)
}

// ReadRequest says which log of the cluster is read.
type ReadRequest struct {
	Namespace, Pod, Container string
	Previous                  bool      // of the container before its last restart
	Follow                    bool      // until the container ends
	Since                     time.Time // lines before this time, in whole seconds, are left out
}

// Pod is a pod of a run as the cluster has it.
type Pod struct {
	RunID, NodeID        string
	Namespace, Name, UID string
	Role                 string
	Rank                 int64
	Containers           []Container
	Ended, Deleting      bool
	Created              time.Time
	Gone                 bool   // the cluster has it no more
	Waiting              string // what it waits for before it starts, in a sentence; empty when it does not
	Stated               bool   // the program in it says what that is, or that it waits no more
}

// Container is one container of a pod.
type Container struct {
	Name     string
	Restarts int64     // before the instance that the rest is about
	Begun    bool      // and if not, there is no log
	Started  time.Time // zero: not known
	Ended    bool
	Failed   bool
	Executor bool // a part of the workflow engine: its log is kept when it failed
	// Noise tells lines that the workflow engine wrote into the container's log; nil: there are none. Of a line that is not
	// whole it tells whether it may become one.
	Noise func(text []byte, whole bool) bool
}
