package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Log is the complete output of one container: of a step's pod, or of its distributed job.
type Log struct {
	NodeID    string    `json:"node_id"`
	Step      string    `json:"step,omitempty"` // its name, in logs of a whole run
	Attempt   int64     `json:"attempt"`        // of the run, from 1
	Pod       string    `json:"pod"`
	Container string    `json:"container"`
	Restart   int64     `json:"restart"`        // how often the container had been restarted before
	Role      string    `json:"role,omitempty"` // of the pod in a distributed job; empty for the step's own pod
	Rank      int64     `json:"rank"`           // of the pod within its role
	StartedAt time.Time `json:"started_at,omitzero"`
	LastAt    time.Time `json:"last_at,omitzero"` // when the last line was printed
	Lines     int64     `json:"lines"`
	Bytes     int64     `json:"bytes"`
	State     string    `json:"state"`             // live, whole or cut
	Message   string    `json:"message,omitempty"` // why it was cut
}

// LogOptions selects the log of a step and the part to read. Set at most one of From, Tail and Since. The zero value reads the newest log
// of the main container, from its beginning to its current end.
type LogOptions struct {
	Container, Pod string
	Attempt        int64 // of the run, from 1
	Previous       bool  // the log before: of an earlier attempt, or before the container was restarted
	From           int64 // first line, from 1
	Tail           *int64
	Since          time.Time
	Lines          int64 // at most; 0: all
	Follow         bool  // go on until the container ends
	Timestamps     bool  // in front of each line
}

func (o LogOptions) query() url.Values {
	q := url.Values{}
	text := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	number := func(name string, n int64) {
		if n != 0 {
			q.Set(name, strconv.FormatInt(n, 10))
		}
	}
	truth := func(name string, is bool) {
		if is {
			q.Set(name, "true")
		}
	}
	text("container", o.Container)
	text("pod", o.Pod)
	number("attempt", o.Attempt)
	truth("previous", o.Previous)
	number("from", o.From)
	if o.Tail != nil {
		q.Set("tail", strconv.FormatInt(*o.Tail, 10))
	}
	if !o.Since.IsZero() {
		q.Set("since", o.Since.UTC().Format(time.RFC3339Nano))
	}
	number("lines", o.Lines)
	truth("follow", o.Follow)
	truth("timestamps", o.Timestamps)
	return q
}

// Open returns a log of a node as text. The caller must close it.
func (s LogsService) Open(ctx context.Context, runID, nodeID string, o LogOptions) (io.ReadCloser, error) {
	return s.open(ctx, nodePath(runID, nodeID)+"/log", o.query())
}

func (s LogsService) open(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	resp, err := s.conn.do(ctx, request{method: http.MethodGet, path: path, accept: "text/plain", query: query})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// MergeOptions select the logs of a step, or of a run, to read as one. The zero value reads all logs up to their current end.
type MergeOptions struct {
	Logs       []Log // as List returns them; empty: all
	Attempt    int64 // of the run, from 1
	Ranks      bool  // without the step's own pod, which repeats what the ranks of its distributed job print
	Follow     bool  // go on until the step, or the run, ends; logs that begin later join
	Timestamps bool  // in front of each line
}

func (o MergeOptions) query() url.Values {
	q := LogOptions{Attempt: o.Attempt, Follow: o.Follow, Timestamps: o.Timestamps}.query()
	if o.Ranks {
		q.Set("ranks", "true")
	}
	for _, l := range o.Logs {
		q.Add("log", fmt.Sprintf("%d/%s/%s/%d", l.Attempt, l.Pod, l.Container, l.Restart))
	}
	return q
}

// Merge returns several logs of a node as one text in the order of time. Each line begins with its source: [worker 3], or the container's
// name. The caller must close it.
func (s LogsService) Merge(ctx context.Context, runID, nodeID string, o MergeOptions) (io.ReadCloser, error) {
	return s.open(ctx, nodePath(runID, nodeID)+"/log:merge", o.query())
}

// MergeRun returns the logs of all steps of a run as one text in the order of time. Each line begins with the step, and where there are
// several with the role and rank or the container: [train worker 3]. Steps that begin later join. The caller must close it.
func (s LogsService) MergeRun(ctx context.Context, runID string, o MergeOptions) (io.ReadCloser, error) {
	return s.open(ctx, ownAPI+"/runs/"+escape(runID)+"/log:merge", o.query())
}

// List lists the logs of a node, in the order in which they began.
func (s LogsService) List(ctx context.Context, runID, nodeID string) ([]Log, error) {
	var answer struct {
		Logs []Log `json:"logs"`
	}
	err := s.conn.decode(ctx, request{method: http.MethodGet, path: nodePath(runID, nodeID) + "/logs"}, &answer)
	return answer.Logs, err
}

func nodePath(runID, nodeID string) string {
	return ownAPI + "/runs/" + escape(runID) + "/nodes/" + escape(nodeID)
}
