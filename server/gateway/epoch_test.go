package gateway_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store"
	"github.com/argosy-ml/argosy/server/store/storetest"
)

// TestEventsAfterRestore: an event id from after the backup has no meaning in the store that was restored from
// it, even when its own changes have reached the same number.
func TestEventsAfterRestore(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	require.NoError(t, store.Backup(t.Context(), s.place, backup))
	one := newListener("/apis/argosy/v1/runs/" + id + "/events?nodes=changed&logs=true&points=true")
	all := newListener("/apis/argosy/v1/events")
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("a", run.Running)}})
	s.points(t, id, "a", 0, 3)
	one.listen(t, s, func() bool { return one.nodes["a"] == run.Running && len(one.points) == 3 })
	all.listen(t, s, func() bool { return len(all.kinds) == 1 })

	s.close()
	if store.Remote(s.place) {
		s.place = storetest.Place(t)
	}
	_, err := store.Restore(t.Context(), backup, s.place)
	require.NoError(t, err)
	s.open(t)
	for range 5 { // past the ids that were given out
		s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("b", run.Running)}})
		require.NoError(t, s.store.ArchiveRun(t.Context(), id, true))
		require.NoError(t, s.store.ArchiveRun(t.Context(), id, false))
	}
	s.points(t, id, "b", 0, 5)

	one.kinds, one.points = nil, nil
	one.listen(t, s, func() bool { return len(one.points) == 5 })
	require.Equal(t, []string{"reset", "run", "points"}, one.kinds[:3], "all is told anew")
	require.Equal(t, run.Running, one.nodes["b"])
	all.kinds = nil
	all.listen(t, s, func() bool { return len(all.kinds) == 2 })
	require.Equal(t, []string{"reset", "ready"}, all.kinds)

	before := one.last
	s.restart(t)
	one.kinds = nil
	s.points(t, id, "b", 5, 6)
	one.listen(t, s, func() bool { return len(one.points) == 6 })
	require.NotContains(t, one.kinds, "reset", "ids of this life of the store hold: %s", before)
}
