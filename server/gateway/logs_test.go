package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
)

func TestLogQueries(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.live(t)
	id := strings.Split(path, "/")[5]
	worker := logs.Pod{RunID: id, NodeID: "n1", Namespace: "kubeflow", Name: "job-worker-1", UID: "w", Role: "worker", Rank: 1}
	s.cluster.Start(worker, "worker")
	s.cluster.Print("job-worker-1", "worker", "rank 1\xff\n")
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	s.print("1", text.String(), true)
	s.cluster.End("job-worker-1")
	_, err := s.archive.Finish(t.Context(), logs.Step{RunID: id, NodeID: "n1", Namespace: "kubeflow", Pod: "pod-1"})
	require.NoError(t, err)

	type view struct {
		Pod, Container, Role, State   string
		Rank, Attempt, Lines, Restart int64
	}
	var page struct {
		Log   view
		Lines []struct {
			N    int64
			At   time.Time
			Text string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(s.get(t, path+"?around=50&lines=3&format=json", 200)), &page))
	require.Equal(t, view{Pod: "pod-1", Container: "main", State: "whole", Attempt: 1, Lines: 100}, page.Log)
	require.Len(t, page.Lines, 3)
	require.Equal(t, []any{int64(50), "line 50"}, []any{page.Lines[1].N, page.Lines[1].Text})
	tail, _ := s.stream(t, path+"?tail=3&follow=true")
	require.Equal(t, "98", tail.Header.Get("Argosy-First-Line"), "of the line that comes first")
	since := url.QueryEscape(page.Lines[2].At.Format(time.RFC3339Nano))
	for query, want := range map[string]string{
		"from=99":                         "line 99\nline 100\n",
		"from=2&lines=1":                  "line 2\n",
		"tail=1":                          "line 100\n",
		"tail=0":                          "",
		"since=" + since + "&lines=1":     "line 51\n",
		"pod=job-worker-1":                "rank 1\xff\n",
		"from=1000":                       "",
		"from=50&lines=1&timestamps=true": page.Lines[1].At.Format(time.RFC3339Nano) + " line 50\n",
		"follow=true&tail=1":              "line 100\n",
	} {
		require.Equal(t, want, s.get(t, path+"?"+query, 200), query)
	}
	require.NoError(t, json.Unmarshal([]byte(s.get(t, path+"?pod=job-worker-1&format=json", 200)), &page))
	require.Equal(t, "rank 1\uFFFD", page.Lines[0].Text)
	for query, says := range map[string]string{
		"from=x": "from is", "from=1&tail=2": "one of from", "since=then": "since is", "format=xml": "format is", "around=3": "around needs lines",
		"format=json&follow=true": "text with follow", "previous=maybe": "previous is",
	} {
		require.Contains(t, s.get(t, path+"?"+query, 400), says, query)
	}
	var found struct {
		Total, Searched int64
		Lines           []int64
	}
	for query, want := range map[string][]int64{
		"q=LINE+1":               {1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 100},
		"q=line+1&skip=10":       {19, 100},
		"q=line+1&skip=1&most=2": {10, 11},
	} {
		require.NoError(t, json.Unmarshal([]byte(s.get(t, path+":search?"+query, 200)), &found))
		require.Equal(t, want, found.Lines, query)
		require.Equal(t, []int64{12, 100}, []int64{found.Total, found.Searched}, query)
	}
	require.JSONEq(t, `{"total":0,"lines":[],"searched":100}`, s.get(t, path+":search?q=rank", 200))
	require.JSONEq(t, `{"total":1,"lines":[1],"searched":1}`, s.get(t, path+":search?q=rank&pod=job-worker-1", 200))
	both := ":search?log=1/pod-1/main&log=1/job-worker-1/worker&"
	require.JSONEq(t, `{"total":1,"places":[{"log":1,"line":1}],"searched":101}`, s.get(t, path+both+"q=RANK", 200))
	require.JSONEq(t, `{"total":12,"places":[{"log":0,"line":19},{"log":0,"line":100}],"searched":101}`, s.get(t, path+both+"q=line+1&skip=10", 200))
	require.Contains(t, s.get(t, path+both+"q=x&log=pod-1", 400), "ATTEMPT/POD/CONTAINER")
	require.Contains(t, s.get(t, path+both+"q=x&log=1/none/main", 404), "no such log")
	require.Contains(t, s.get(t, path+":search", 400), "a text of 1 to 1000 bytes")
	require.Contains(t, s.get(t, path+":search?q=x&skip=some", 400), "skip is")
	require.Contains(t, s.get(t, path+":search?q=x&container=sidecar", 404), "no such log")
	require.Contains(t, s.get(t, path+"?container=sidecar", 404), "it has those of main, job-worker-1/worker")
	require.Contains(t, s.get(t, path+"?attempt=2", 404), "no such log")
	require.Contains(t, s.get(t, path+"?previous=true", 404), "no such log")

	var list struct{ Logs []view }
	for _, where := range []string{path + "s", "/apis/argosy/v1/runs/" + id + "/logs"} {
		require.NoError(t, json.Unmarshal([]byte(s.get(t, where, 200)), &list))
		require.ElementsMatch(t, []view{
			{Pod: "pod-1", Container: "main", State: "whole", Attempt: 1, Lines: 100},
			{Pod: "job-worker-1", Container: "worker", Role: "worker", Rank: 1, State: "whole", Attempt: 1, Lines: 1},
		}, list.Logs)
	}
	require.JSONEq(t, `{"logs":[]}`, s.get(t, strings.Replace(path, "/n1/", "/dag/", 1)+"s", 200))
	s.get(t, strings.Replace(path, "/n1/", "/n2/", 1)+"s", 404)
	s.get(t, "/apis/argosy/v1/runs/none/logs", 404)
}
