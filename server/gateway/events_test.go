package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// listener follows a stream of events, and what they amount to.
type listener struct {
	path string
	last string // id of the last event taken

	status  string
	nodes   map[string]string   // phase by id
	lines   map[string][]string // of logs by node
	whole   map[string]bool     // logs reported as complete
	points  []string
	removed []string
	kinds   []string // of all events, in order
	ended   bool
}

func newListener(path string) *listener {
	return &listener{path: path, nodes: map[string]string{}, lines: map[string][]string{}, whole: map[string]bool{}}
}

// listen connects and takes events until enough says so, or the stream ends.
func (l *listener) listen(t *testing.T, s *server, enough func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+l.path, nil)
	require.NoError(t, err)
	request.Header.Set("Last-Event-ID", l.last)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, 200, answer.StatusCode)
	for reader := bufio.NewReader(answer.Body); !enough() && !l.ended; {
		fields := map[string]string{}
		for {
			line, err := reader.ReadString('\n')
			require.NoError(t, err, "the stream ended early; so far %+v", l)
			if line = strings.TrimSuffix(line, "\n"); line == "" {
				break
			}
			name, value, _ := strings.Cut(line, ": ")
			fields[name] = value
		}
		if fields["event"] != "" {
			l.take(t, fields)
		}
	}
}

func (l *listener) take(t *testing.T, fields map[string]string) {
	t.Helper()
	l.kinds = append(l.kinds, fields["event"])
	var data struct {
		Status       string
		Nodes        []struct{ ID, Phase string }
		RemovedNodes []string `json:"removed_nodes"`

		NodeID string `json:"node_id"`
		First  int    `json:"first,string"`
		Lines  []string
		Ended  bool

		Points []struct {
			Name string
			Step string
			Rank int
		}
		ID string
	}
	require.NoError(t, json.Unmarshal([]byte(fields["data"]), &data), fields["data"])
	if fields["id"] != "" {
		l.last = fields["id"]
	}
	switch fields["event"] {
	case "run":
		l.status = data.Status
		for _, id := range data.RemovedNodes {
			require.Contains(t, l.nodes, id)
			delete(l.nodes, id)
			delete(l.lines, id)
			delete(l.whole, id)
		}
		for _, n := range data.Nodes {
			l.nodes[n.ID] = n.Phase
		}
	case "log":
		require.Len(t, l.lines[data.NodeID], data.First, "lines of %s are missing, or come twice", data.NodeID)
		l.lines[data.NodeID] = append(l.lines[data.NodeID], data.Lines...)
		if data.Ended {
			require.False(t, l.whole[data.NodeID], "%s ends twice", data.NodeID)
			l.whole[data.NodeID] = true
		}
	case "points":
		for _, p := range data.Points {
			l.points = append(l.points, fmt.Sprintf("%s[%d]@%s", p.Name, p.Rank, p.Step))
		}
	case "removed":
		l.removed = append(l.removed, data.ID)
	case "end":
		l.ended = true
	}
}

// stepNode is a node with a pod of its own.
func (s *server) stepNode(id, phase string) run.Node {
	n := run.Node{ID: id, Name: id, DisplayName: id, Type: "Pod", Phase: phase, PodName: "pod-" + id, StartedAt: time.Unix(1000, 0)}
	if run.Final(phase) {
		n.FinishedAt = time.Unix(2000, 0)
	}
	return n
}

// print has the pod of a node, which must be recorded, print; over ends it.
func (s *server) print(id, text string, over bool) {
	s.cluster.Print("pod-"+id, logs.Main, text)
	if over {
		s.cluster.End("pod-" + id)
	}
}

// harvest does what the reconciler does when a step has ended.
func (s *server) harvest(t *testing.T, runID, nodeID string) {
	t.Helper()
	s.cluster.End("pod-" + nodeID)
	key, err := s.archive.Finish(t.Context(), logs.Step{RunID: runID, NodeID: nodeID, Namespace: "kubeflow", Pod: "pod-" + nodeID})
	require.NoError(t, err)
	require.NoError(t, s.store.SetHarvested(t.Context(), runID, nodeID, key, nil))
	s.feed.Publish(runID)
}

func (s *server) points(t *testing.T, runID, nodeID string, from, to int) {
	t.Helper()
	var points []run.Point
	for i := from; i < to; i++ {
		points = append(points, run.Point{Name: "loss", Rank: 0, Format: run.Raw, Index: int64(i), Step: int64(i + 1), Value: 1 / float64(i+1)})
	}
	_, err := s.store.AddPoints(t.Context(), runID, nodeID, "pod-"+nodeID, points)
	require.NoError(t, err)
	s.feed.Publish(runID)
}

// TestEventsTakenUp: a client that loses its connection after every single event, and the server once more, gets all of a
// run's life and nothing twice: states of the run and its nodes, lines and points.
func TestEventsTakenUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	l := newListener("/apis/argosy/v1/runs/" + id + "/events?nodes=changed&logs=true&points=true")
	step := func() { // one event, then the connection is gone
		seen := len(l.kinds)
		l.listen(t, s, func() bool { return len(l.kinds) > seen })
	}
	until := func(is func() bool) {
		for !is() {
			step()
		}
	}
	until(func() bool { return l.last != "" })

	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Running), s.stepNode("b", "Pending")}})
	until(func() bool { return l.nodes["a"] == run.Running })
	require.Equal(t, "Pending", l.nodes["b"])
	s.print("a", "one\ntwo\n", false)
	s.points(t, id, "a", 0, 150) // more than one reading of the store brings
	until(func() bool { return len(l.lines["a"]) == 2 && len(l.points) == 150 })

	s.restart(t)
	s.print("a", "three\n", false)
	s.points(t, id, "a", 100, 200) // what is read again after a restart counts once
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Running), s.stepNode("b", run.Running)}})
	s.print("b", "b's\n", false)
	until(func() bool { return len(l.lines["a"]) == 3 && len(l.lines["b"]) == 1 && len(l.points) == 200 })

	// b ends first, so its log is complete before a's.
	s.print("a", "four\nfive, without an end", true)
	s.print("b", "", true)
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Succeeded), s.stepNode("b", run.Failed)}})
	s.harvest(t, id, "b")
	until(func() bool { return l.whole["b"] })
	s.restart(t)
	s.harvest(t, id, "a")
	require.NoError(t, s.store.Settle(t.Context(), id))
	until(func() bool { return l.ended })

	require.Equal(t, run.Succeeded, l.status)
	require.Equal(t, map[string]string{"a": run.Succeeded, "b": run.Failed}, l.nodes)
	require.Equal(t, map[string][]string{"a": {"one", "two", "three", "four", "five, without an end"}, "b": {"b's"}}, l.lines)
	require.Equal(t, map[string]bool{"a": true, "b": true}, l.whole)
	for i, p := range l.points {
		require.Equal(t, fmt.Sprintf("loss[0]@%d", i+1), p)
	}

	kinds := len(l.kinds)
	l.ended = false
	l.listen(t, s, func() bool { return false })
	require.Equal(t, []string{"end"}, l.kinds[kinds:], "who has seen all is told that there is no more")

	late := newListener(l.path) // who comes after the end gets all of it too
	late.listen(t, s, func() bool { return false })
	require.Equal(t, l.lines, late.lines)
	require.Equal(t, l.points, late.points)
	require.Equal(t, l.nodes, late.nodes)
}

// TestEventsOfARetry: a retry removes the nodes that run again, with their logs and points, and sends new events for them.
func TestEventsOfARetry(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Failed, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Succeeded), s.stepNode("b", run.Failed)}})
	s.print("a", "a\n", true)
	s.print("b", "first try\n", true)
	s.points(t, id, "b", 0, 3)
	s.harvest(t, id, "a")
	s.harvest(t, id, "b")
	l := newListener("/apis/argosy/v1/runs/" + id + "/events?nodes=changed&logs=true&points=true")
	l.listen(t, s, func() bool { return l.whole["a"] && l.whole["b"] && len(l.points) == 3 })
	require.NoError(t, s.store.Settle(t.Context(), id))
	require.NoError(t, s.store.Retry(t.Context(), id, 1, run.Again{Workflow: []byte(`{"again":1}`), Dropped: []string{"b"}}))
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{"again":1}`), Attempt: 1, Nodes: []run.Node{s.stepNode("a", run.Succeeded)}})
	l.listen(t, s, func() bool { return l.status == run.Running && len(l.nodes) == 1 })
	require.Equal(t, map[string]string{"a": run.Succeeded}, l.nodes, "b is gone until it runs again")

	again := s.stepNode("b", run.Running)
	again.PodName, again.StartedAt = "pod-b2", time.Unix(3000, 0)
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{"again":1}`), Attempt: 1, Nodes: []run.Node{s.stepNode("a", run.Succeeded), again}})
	s.print("b2", "second try\n", false)
	l.listen(t, s, func() bool { return len(l.lines["b"]) == 1 })
	require.Equal(t, []string{"second try"}, l.lines["b"])
	_, err := s.store.AddPoints(t.Context(), id, "b", "pod-b", []run.Point{{Name: "loss", Index: 3}})
	require.ErrorContains(t, err, "runs again", "who still reads the log of the attempt before is told so")
}

func TestEventsOfAllRuns(t *testing.T) {
	t.Parallel()
	s := start(t)
	old := s.run(t)
	l := newListener("/apis/argosy/v1/events?nodes=true&points=true")
	l.listen(t, s, func() bool { return len(l.kinds) == 1 })
	require.Equal(t, []string{"ready"}, l.kinds, "what was before is for lists")
	failed := newListener("/apis/argosy/v1/events?filter=" + url.QueryEscape(`{"predicates":[{"op":"EQUALS","key":"status","string_value":"Failed"}]}`))
	failed.listen(t, s, func() bool { return len(failed.kinds) == 1 })

	// Without a listener, many runs change at once, one is deleted, and the server restarts.
	experiment := field(t, s.post(t, "/apis/v1beta1/experiments", `{"name":"many"}`, 200), "id")
	var ids []string
	for range 150 {
		body := fmt.Sprintf(`{"pipeline_spec":{"workflow_manifest":%q},"resource_references":[{"key":{"type":"EXPERIMENT","id":%q}}]}`, hello, experiment)
		ids = append(ids, field(t, s.post(t, "/apis/v1beta1/runs", body, 200), "run", "id"))
	}
	s.record(t, old, run.State{Status: run.Failed, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Failed)}})
	s.points(t, old, "a", 0, 2)
	s.delete(t, "/apis/v1beta1/runs/"+ids[7], 200)
	s.post(t, "/apis/v1beta1/experiments/"+experiment+":archive", "", 200) // 149 runs in one change
	s.restart(t)

	seen := map[string]int{}
	for len(seen) < 149 || len(l.points) < 2 || len(l.removed) == 0 { // a new connection for each event
		before := len(l.kinds)
		l.listen(t, s, func() bool { return len(l.kinds) > before && l.kinds[len(l.kinds)-1] != "ready" })
		if l.kinds[len(l.kinds)-1] == "run" {
			seen[l.last]++
		}
	}
	require.Equal(t, []string{ids[7]}, l.removed)
	require.Equal(t, map[string]string{"a": run.Failed}, l.nodes)
	require.Equal(t, []string{"loss[0]@1", "loss[0]@2"}, l.points)
	require.Equal(t, 150, l.count("run"), "each run that there is, once, as it is now")
	require.Equal(t, 150, len(slices.Collect(maps.Keys(seen))), "each with an id of its own")

	failed.listen(t, s, func() bool { return failed.count("run") == 1 })
	require.Equal(t, 1, failed.count("run"))

	strange := newListener(l.path)
	strange.last = "999999"
	strange.listen(t, s, func() bool { return len(strange.kinds) == 2 })
	require.Equal(t, []string{"reset", "ready"}, strange.kinds, "an id of another store")
}

func (l *listener) count(kind string) (n int) {
	for _, k := range l.kinds {
		if k == kind {
			n++
		}
	}
	return n
}

func TestEventsRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	for path, says := range map[string]string{
		"/apis/argosy/v1/runs/" + id + "/events?nodes=some":                                                                 "it can be all or changed",
		"/apis/argosy/v1/runs/" + id + "/events?last_event_id=x":                                                            "not an id of an event",
		"/apis/argosy/v1/runs/" + id + "/events?node_id=a":                                                                  "ask for these too",
		"/apis/argosy/v1/runs/" + id + "/events?logs=perhaps":                                                               "the query cannot be read",
		"/apis/argosy/v1/events?filter=%7Bx":                                                                                "filter cannot be read",
		"/apis/argosy/v1/events?filter=" + url.QueryEscape(`{"predicates":[{"op":"EQUALS","key":"x","string_value":"y"}]}`): "cannot be filtered",
	} {
		require.Contains(t, s.get(t, path, 400), says, path)
	}
	s.get(t, "/apis/argosy/v1/runs/none/events", 404)
}

// TestEventsByGRPC is the same over the other wire.
func TestEventsByGRPC(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Succeeded)}})
	s.print("a", "hi\n", true)
	s.points(t, id, "a", 0, 1)
	s.harvest(t, id, "a")
	require.NoError(t, s.store.Settle(t.Context(), id))
	client := argosyv1.NewRunServiceClient(s.conn)
	stream, err := client.WatchRun(t.Context(), &argosyv1.WatchRunRequest{RunId: id, Logs: true, Points: true})
	require.NoError(t, err)
	var got []string
	for {
		e, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%T", e.GetWhat()))
	}
	require.Equal(t, []string{"*argosyv1.Event_Run", "*argosyv1.Event_Points", "*argosyv1.Event_Log", "*argosyv1.Event_Log", "*argosyv1.Event_End"}, got)

	all, err := client.WatchRuns(t.Context(), &argosyv1.WatchRunsRequest{})
	require.NoError(t, err)
	first, err := all.Recv()
	require.NoError(t, err)
	require.NotNil(t, first.GetReady())
	s.delete(t, "/apis/v1beta1/runs/"+id, 200)
	second, err := all.Recv()
	require.NoError(t, err)
	require.Equal(t, id, second.GetRemoved().GetId())
	gone, err := client.WatchRun(t.Context(), &argosyv1.WatchRunRequest{RunId: id})
	require.NoError(t, err)
	_, err = gone.Recv()
	require.Equal(t, codes.NotFound, status.Code(err))
}
