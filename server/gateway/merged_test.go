package gateway_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// rank starts a pod of the job of step n1, which prints.
func (s *server) rank(run string, rank int64, text string) (name string) {
	name = "job-worker-" + string(rune('0'+rank))
	s.cluster.Start(logs.Pod{RunID: run, NodeID: "n1", Namespace: "kubeflow", Name: name, UID: name, Role: "worker", Rank: rank}, "worker")
	s.cluster.Print(name, "worker", text)
	return name
}

// mergedLine is a line of a merge in JSON.
type mergedLine struct {
	Log   *struct{ Pod string }
	Of, N int64
	Text  string
}

// merged reads the next one.
func merged(t *testing.T, from *bufio.Reader) (line mergedLine) {
	t.Helper()
	text, err := from.ReadBytes('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &line), "%s", text)
	return line
}

// TestMergeLogs: one answer gives all logs of a step, follows them, takes in those that begin later, and ends with the step.
func TestMergeLogs(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.live(t)
	id := strings.Split(path, "/")[5]
	s.print("1", "launched\n", false)
	s.rank(id, 0, "zero\n")
	answer, _ := s.stream(t, path+":merge?format=json&follow=true")
	require.Equal(t, "application/x-ndjson", answer.Header.Get("Content-Type"))
	lines := bufio.NewReader(answer.Body)
	pods := map[int64]string{}
	next := func() string { // the pod and the line that come next
		for {
			line := merged(t, lines)
			if line.Log == nil {
				return pods[line.Of] + ": " + line.Text
			}
			pods[int64(len(pods))] = line.Log.Pod
		}
	}
	require.ElementsMatch(t, []string{"pod-1: launched", "job-worker-0: zero"}, []string{next(), next()})
	late := s.rank(id, 1, "one\xff\n")
	require.Equal(t, "job-worker-1: one\uFFFD", next())
	s.cluster.Print("job-worker-0", "worker", "zero again\n")
	require.Equal(t, "job-worker-0: zero again", next())

	chosen, _ := s.stream(t, path+":merge?follow=true&log=1/job-worker-0/worker&log=1/"+late+"/worker/0")
	text := bufio.NewReader(chosen.Body)
	for _, want := range []string{"[worker 0] zero\n", "[worker 1] one\xff\n", "[worker 0] zero again\n"} {
		got, err := text.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	s.cluster.End("job-worker-0")
	s.cluster.End(late)
	_, err := text.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the chosen logs have ended, though the step goes on")

	s.cluster.End("pod-1")
	key, err := s.archive.Finish(t.Context(), logs.Step{RunID: id, NodeID: "n1", Namespace: "kubeflow", Pod: "pod-1"})
	require.NoError(t, err)
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{
		{ID: "n1", Name: "n1", DisplayName: "n1", Type: "Pod", Phase: run.Succeeded, PodName: "pod-1"},
	}})
	require.NoError(t, s.store.SetHarvested(t.Context(), id, "n1", key, nil))
	_, err = lines.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the step has ended")

	require.Equal(t, "[main] launched\n", s.get(t, path+":merge?log=1/pod-1/main", 200))
	require.Regexp(t, `^(\[worker [01]\] [^\n]+\n){3}$`, strings.ReplaceAll(s.get(t, path+":merge?ranks=true", 200), "\xff", "?"))
	require.Contains(t, s.get(t, path+":search?ranks=true&q=launched", 200), `"searched":3`)
	stamped := s.get(t, path+":merge?timestamps=true", 200)
	require.Regexp(t, `^(\d{4}-\d\d-\d\dT\S+Z \[(main|worker [01])\] [^\n]+\n){4}$`, strings.ReplaceAll(stamped, "\xff", "?"))
	var found struct {
		Total, Searched int64
		Places          []struct{ Log, Line int64 }
		Logs            []struct{ Pod string }
	}
	require.NoError(t, json.Unmarshal([]byte(s.get(t, path+":search?all=true&q=AGAIN", 200)), &found))
	require.Equal(t, []int64{1, 4, 1, 3}, []int64{found.Total, found.Searched, int64(len(found.Places)), int64(len(found.Logs))})
	require.Equal(t, "job-worker-0", found.Logs[found.Places[0].Log].Pod)
	require.Equal(t, int64(2), found.Places[0].Line)
	require.JSONEq(t, `{"total":0,"lines":[],"searched":1}`, s.get(t, path+":search?errors=true&pod="+late, 200))

	for query, says := range map[string]string{
		"format=xml": "text or json", "follow=perhaps": "true or false", "log=pod-1": "ATTEMPT/POD/CONTAINER", "attempt=x": "attempt is",
		"log=1/a/b&log=1/a/b": "each once", "log=1/a/b/c": "a number from 0",
	} {
		require.Contains(t, s.get(t, path+":merge?"+query, 400), says, query)
	}
	require.Contains(t, s.get(t, path+":merge?log=1/none/main&follow=true", 404), "no such log")
	s.get(t, strings.Replace(path, "/n1/", "/n2/", 1)+":merge", 404)
	s.get(t, strings.Replace(path, "/n1/", "/n1/", 1)+":merge?attempt=7", 404)
}

// TestMergeThatBreaksOff: the client can tell that this is not all.
func TestMergeThatBreaksOff(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.live(t)
	id := strings.Split(path, "/")[5]
	s.print("1", strings.Repeat(strings.Repeat("x", 1023)+"\n", 6<<10), true) // in two parts
	_, err := s.archive.Finish(t.Context(), logs.Step{RunID: id, NodeID: "n1", Namespace: "kubeflow", Pod: "pod-1"})
	require.NoError(t, err)
	s.losePart("000001.log.zst")
	answer, _ := s.stream(t, path+":merge?format=json")
	got, err := io.ReadAll(answer.Body)
	require.Error(t, err)
	require.Greater(t, len(got), 3<<20)
}

// TestMergeEnds: a merge ends with the client and with the server.
func TestMergeEnds(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.live(t)
	s.print("1", "hi\n", false)
	answer, hangUp := s.stream(t, path+":merge?follow=true")
	_, err := bufio.NewReader(answer.Body).ReadString('\n')
	require.NoError(t, err)
	hangUp()
	answer, _ = s.stream(t, path+":merge?follow=true")
	s.stop()
	_, err = io.Copy(io.Discard, answer.Body)
	require.Error(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// TestMergeRunLogs: one answer gives the logs of all steps of a run with their names, follows them, takes in steps that begin later, and ends
// with the run.
func TestMergeRunLogs(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := strings.Split(s.live(t), "/")[5]
	path := "/apis/argosy/v1/runs/" + id + "/log"
	s.cluster.Print("pod-1", "main", "loaded\n")
	answer, _ := s.stream(t, path+":merge?follow=true&ranks=true")
	text := bufio.NewReader(answer.Body)
	next := func() string {
		line, err := text.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	require.Equal(t, "[n1] loaded\n", next())
	node := func(id, phase string) run.Node {
		return run.Node{ID: "n" + id, Name: "wf.each(" + id + ":b).train", DisplayName: "train", Type: "Pod", Phase: phase, PodName: "pod-" + id}
	}
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{node("1", run.Succeeded), node("2", run.Running)}})
	s.print("2", "late\n", false)
	require.Equal(t, "[train(2:b)] late\n", next())
	s.cluster.Start(logs.Pod{RunID: id, NodeID: "n2", Namespace: "kubeflow", Name: "w", UID: "w", Role: "worker", Rank: 3}, "worker")
	s.cluster.Print("w", "worker", "of a rank\n")
	require.Equal(t, "[train(2:b) worker 3] of a rank\n", next())

	var found struct {
		Total, Searched int64
		Places          []struct{ Log, Line int64 }
		Logs            []struct{ Pod, Step string }
	}
	require.NoError(t, json.Unmarshal([]byte(s.get(t, path+":search?q=AT", 200)), &found))
	require.Equal(t, []int64{1, 3, 1}, []int64{found.Total, found.Searched, int64(len(found.Places))})
	require.Equal(t, "train(2:b)", found.Logs[found.Places[0].Log].Step)

	s.cluster.End("w")
	for _, n := range []string{"1", "2"} {
		s.cluster.End("pod-" + n)
		key, err := s.archive.Finish(t.Context(), logs.Step{RunID: id, NodeID: "n" + n, Namespace: "kubeflow", Pod: "pod-" + n})
		require.NoError(t, err)
		require.NoError(t, s.store.SetHarvested(t.Context(), id, "n"+n, key, nil))
	}
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{node("1", run.Succeeded), node("2", run.Succeeded)}})
	require.NoError(t, s.store.Settle(t.Context(), id))
	_, err := text.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the run has ended")

	require.Equal(t, "[train(1:b)] loaded\n[train(2:b)] late\n[train(2:b) worker 3] of a rank\n", s.get(t, path+":merge", 200))
	require.Equal(t, "[train(1:b)] loaded\n[train(2:b) worker 3] of a rank\n", s.get(t, path+":merge?ranks=true&follow=true", 200))
	require.Contains(t, s.get(t, path+":merge?format=json&log=1/pod-2/main", 200), `"step":"train(2:b)"`)
	require.Contains(t, s.get(t, path+":merge?log=1/none/main", 404), "has no log of container main of pod none")
	require.Contains(t, s.get(t, path+":merge?attempt=2", 404), "none of its steps has started a container")
	s.get(t, "/apis/argosy/v1/runs/none/log:merge", 404)
	s.get(t, "/apis/argosy/v1/runs/none/log:search?q=x", 404)
}
