package conformance

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

func newLog(r run.Run, node, pod, container string) logs.Log {
	return logs.Log{
		RunID: r.ID, NodeID: node, Namespace: "kubeflow", Pod: pod, PodUID: "uid-" + pod, Container: container,
		StartedAt: at(1), LastAt: at(2), Lines: 3, Bytes: 40, State: logs.Live,
	}
}

func keptLogs(t *testing.T, s Store) {
	r := newRun(1)
	accept(t, s, r)
	main, worker := newLog(r, "step", "p", logs.Main), newLog(r, "step", "w-1", "worker")
	worker.StartedAt, worker.Role, worker.Rank, worker.Attempt = at(0), "worker", 1, 2
	require.NoError(t, s.PutLog(t.Context(), main, nil))
	require.NoError(t, s.PutLog(t.Context(), worker, nil))
	again := main
	again.Restart = 1
	require.NoError(t, s.PutLog(t.Context(), again, nil))

	list, err := s.Logs(t.Context(), r.ID, "")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]logs.Log{worker, main, again}, list))
	other, err := s.Logs(t.Context(), r.ID, "another step")
	require.NoError(t, err)
	require.Empty(t, other)
	live, err := s.LiveLogs(t.Context())
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]logs.Log{main, worker, again}, live))

	main.State, main.Message, main.Lines, main.Bytes, main.LastAt = logs.Cut, "its pod was deleted", 10, 100, at(9)
	require.NoError(t, s.PutLog(t.Context(), main, nil))
	of, attempt, err := s.PodLogs(t.Context(), r.ID, "uid-p")
	require.NoError(t, err)
	require.Zero(t, attempt)
	require.Empty(t, cmp.Diff([]logs.Log{main, again}, of))
	of, _, err = s.PodLogs(t.Context(), r.ID, "unknown")
	require.NoError(t, err)
	require.Empty(t, of)
	_, _, err = s.PodLogs(t.Context(), "no such run", "uid-p")
	requireKind(t, apierr.NotFound, err)
	stray := main
	stray.RunID = "no such run"
	requireKind(t, apierr.NotFound, s.PutLog(t.Context(), stray, nil))
}

func logParts(t *testing.T, s Store) {
	r := newRun(1)
	accept(t, s, r)
	l := newLog(r, "step", "p", logs.Main)
	parts, err := s.LogParts(t.Context(), l)
	require.NoError(t, err)
	require.Empty(t, parts)
	var want []logs.Part
	for i := range 3 {
		p := logs.Part{Number: i, Lines: int64(i + 1), Bytes: int64(10 * i), LastAt: at(i)}
		want = append(want, p)
		for range 2 { // saying it again changes nothing
			require.NoError(t, s.PutLog(t.Context(), l, &p), fmt.Sprint(i))
		}
	}
	parts, err = s.LogParts(t.Context(), l)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, parts))

	require.NoError(t, s.DeleteLogs(t.Context(), r.ID))
	parts, err = s.LogParts(t.Context(), l)
	require.NoError(t, err)
	require.Empty(t, parts)
	require.NoError(t, s.PutLog(t.Context(), l, &want[0]))
	require.NoError(t, s.DeleteRun(t.Context(), r.ID))
	list, err := s.Logs(t.Context(), r.ID, "")
	require.NoError(t, err)
	require.Empty(t, list, "logs go with their run")
}
