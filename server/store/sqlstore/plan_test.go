package sqlstore_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/server/page"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestListsUseIndexes keeps lists O(page): no plan of a plain list may scan or sort the table of runs.
func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for name, c := range map[string]struct {
		query page.Query
		scope run.Scope
	}{
		"newest first":      {page.Query{Size: 10, Desc: true}, run.Scope{}},
		"next page":         {page.Query{Size: 10, Desc: true, Start: &page.Cursor{Value: int64(5), ID: "r"}}, run.Scope{}},
		"of an experiment":  {page.Query{Size: 10, Desc: true}, run.Scope{ExperimentID: "e"}},
		"by name":           {page.Query{Size: 10, SortBy: "name"}, run.Scope{}},
		"of a status":       {page.Query{Size: 10, Filter: []page.Predicate{{Key: "status", Op: page.Equals, Values: []any{run.Failed}}}}, run.Scope{}},
		"of a pipeline":     {page.Query{Size: 10, Filter: []page.Predicate{{Key: "pipeline_id", Op: page.Equals, Values: []any{"p"}}}}, run.Scope{}},
		"by time scheduled": {page.Query{Size: 10, SortBy: "scheduled_at"}, run.Scope{}},
	} {
		plans, err := s.Plans(t.Context(), c.query, c.scope)
		require.NoError(t, err, name)
		t.Log(name, plans)
	}
}
