package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// stream opens a path whose answer goes on.
func (s *server) stream(t *testing.T, path string) (*http.Response, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { answer.Body.Close() })
	require.Equal(t, 200, answer.StatusCode)
	return answer, cancel
}

// event reads the next server-sent event: its fields by name. It passes over beats.
func event(t *testing.T, lines *bufio.Reader) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		line = strings.TrimSuffix(line, "\n")
		if line == "" && fields["event"] != "" {
			return fields
		}
		if line == "" || strings.HasPrefix(line, ":") {
			continue
		}
		name, value, ok := strings.Cut(line, ": ")
		require.True(t, ok, line)
		fields[name] = value
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	answer, _ := s.stream(t, "/apis/argosy/v1/runs/"+id+"/events")
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewReader(answer.Body)

	first := event(t, lines)
	require.Equal(t, "run", first["event"])
	require.Equal(t, id, field(t, first["data"], "id"))

	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{{ID: "n1", Name: "n1", Type: "Pod", Phase: run.Running}}})
	second := event(t, lines)
	require.Equal(t, "Running", field(t, second["data"], "status"))
	require.Contains(t, second["data"], `"nodes":[{"id":"n1"`)
	require.Greater(t, second["id"], first["id"])

	s.feed.Publish(id) // nothing changed: nothing is sent
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`)})
	require.Equal(t, "Succeeded", field(t, event(t, lines)["data"], "status"))
	require.NoError(t, s.store.Settle(t.Context(), id))
	s.feed.Publish(id)
	last := event(t, lines)
	if last["event"] == "run" { // settling is a change of its own
		last = event(t, lines)
	}
	require.Equal(t, map[string]string{"event": "end", "data": "{}"}, last)
	_, err := lines.ReadByte()
	require.ErrorIs(t, err, io.EOF)

	again, _ := s.stream(t, "/apis/argosy/v1/runs/"+id+"/events")
	whole, err := io.ReadAll(again.Body)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(whole), "event: run"), "a settled run is shown once")
	require.Contains(t, string(whole), "event: end")
}

func TestEventsOfDeletedRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	answer, _ := s.stream(t, "/apis/argosy/v1/runs/"+id+"/events")
	lines := bufio.NewReader(answer.Body)
	event(t, lines)
	s.delete(t, "/apis/v1beta1/runs/"+id, 200)
	require.Equal(t, "end", event(t, lines)["event"])
}

// live makes a run with one node, n1, whose pod pod-1 prints what the test tells it to.
func (s *server) live(t *testing.T) (path string) {
	t.Helper()
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{
		{ID: "n1", Name: "n1", DisplayName: "n1", Type: "Pod", Phase: run.Running, PodName: "pod-1"},
		{ID: "dag", Name: "dag", DisplayName: "dag", Type: "DAG", Phase: run.Running},
	}})
	return "/apis/argosy/v1/runs/" + id + "/nodes/n1/log"
}

func TestFollowLog(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.live(t)
	answer, _ := s.stream(t, path+"?follow=true")
	require.Equal(t, "text/plain; charset=utf-8", answer.Header.Get("Content-Type"))
	lines := bufio.NewReader(answer.Body)
	for _, line := range []string{"one\n", "two\n"} { // each is there before the next is written
		s.print("1", line, false)
		got, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, line, got)
	}
	s.cluster.End("pod-1")
	_, err := lines.ReadByte()
	require.ErrorIs(t, err, io.EOF)

	require.Contains(t, s.get(t, path+"?follow=perhaps", 400), "true or false")
	require.Contains(t, s.get(t, strings.Replace(path, "/n1/", "/dag/", 1), 404), "no container")
	require.Contains(t, s.get(t, strings.Replace(path, "/n1/", "/n2/", 1), 404), `"code":5`)
}

func TestLogPaths(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.live(t)
	s.print("1", "hi\n", false)
	require.Eventually(t, func() bool { // the archive has seen the pod and its output
		list, err := s.archive.List(t.Context(), strings.Split(path, "/")[5], "n1")
		return err == nil && len(list) == 1 && list[0].Lines == 1
	}, 5*time.Minute, time.Millisecond)
	rest := strings.TrimPrefix(path, "/apis/argosy/v1")
	for _, version := range []string{"/apis/v1alpha1", "/apis/v1beta1", "/apis/argosy/v1"} {
		require.Equal(t, "hi\n", s.get(t, version+rest, 200))
	}
}

// losePart deletes the objects of logs whose keys end so.
func (s *server) losePart(suffix string) {
	s.objects.mu.Lock()
	defer s.objects.mu.Unlock()
	for key := range s.objects.data {
		if strings.HasSuffix(key, suffix) {
			delete(s.objects.data, key)
		}
	}
}

// TestLogThatBreaksOff: the client must be able to tell that this is not the whole log.
func TestLogThatBreaksOff(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.live(t)
	s.print("1", strings.Repeat(strings.Repeat("x", 1023)+"\n", 6<<10), true) // in two parts
	id := strings.Split(path, "/")[5]
	_, err := s.archive.Finish(t.Context(), logs.Step{RunID: id, NodeID: "n1", Namespace: "kubeflow", Pod: "pod-1"})
	require.NoError(t, err)
	s.losePart("000001.log.zst")
	answer, _ := s.stream(t, path)
	got, err := io.ReadAll(answer.Body)
	require.Error(t, err)
	require.Greater(t, len(got), 3<<20)
}

func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*server, context.CancelFunc){
		"with the client": func(_ *server, hangUp context.CancelFunc) { hangUp() },
		"with the server": func(s *server, _ context.CancelFunc) { s.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			path := s.live(t)
			answer, hangUp := s.stream(t, path+"?follow=true")
			id := strings.Split(path, "/")[5]
			events, hangUpToo := s.stream(t, "/apis/argosy/v1/runs/"+id+"/events")
			event(t, bufio.NewReader(events.Body))
			end(s, hangUp)
			end(s, hangUpToo)
			io.Copy(io.Discard, answer.Body) //nolint:errcheck // it was cut off
			io.Copy(io.Discard, events.Body) //nolint:errcheck // it was cut off
			// That the handlers are gone is seen when the server closes, which waits for them, and by goleak.
		})
	}
}
