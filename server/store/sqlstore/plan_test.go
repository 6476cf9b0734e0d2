package sqlstore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/server/page"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestListsUseIndexes keeps lists O(page): along an index, or to one part of it. test/bench/api looks at every kind of list.
func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "argosy.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for i := range 3 {
		r := run.Run{ID: string(rune('a' + i)), ExperimentID: "e", PipelineID: "p", Status: run.Failed}
		require.NoError(t, s.Accept(t.Context(), r, []byte("m"), []byte("{}")))
	}
	where := func(key, value string) []page.Predicate {
		return []page.Predicate{{Key: key, Op: page.Equals, Values: []any{value}}}
	}
	for name, c := range map[string]struct {
		query page.Query
		scope run.Scope
		index string
	}{
		"newest first":     {page.Query{Desc: true}, run.Scope{}, "created_at"},
		"next page":        {page.Query{Desc: true, Start: &page.Cursor{Value: int64(5), ID: "r"}}, run.Scope{}, "created_at"},
		"by name":          {page.Query{SortBy: "name"}, run.Scope{}, "name"},
		"of an experiment": {page.Query{Desc: true}, run.Scope{ExperimentID: "e"}, "experiment_id_"},
		"of a status":      {page.Query{Filter: where("status", run.Failed)}, run.Scope{}, "status_"},
		"of a pipeline":    {page.Query{Filter: where("pipeline_id", "p")}, run.Scope{}, "pipeline_id_"},
		"of a name":        {page.Query{Filter: where("name", "")}, run.Scope{}, "name"},
		"by metric":        {page.Query{SortBy: "metric:loss"}, run.Scope{}, ""},
	} {
		plans, err := s.Plans(t.Context(), c.query, c.scope)
		require.NoError(t, err, name)
		var steps []string
		for _, p := range plans {
			steps = append(steps, p.Steps...)
		}
		require.Contains(t, strings.Join(steps, "\n"), "INDEX runs_available_"+c.index, "%s: %s", name, strings.Join(steps, "\n"))
	}
}
