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

// TestListsCostTheirPage looks at how lists are found: along an index that has them in their order, or by column; never by
// looking at runs, or sorting them, one after the other. test/bench/api looks at every kind of list.
func TestListsCostTheirPage(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "argosy.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for i := range 3 {
		r := run.Run{ID: string(rune('a' + i)), ExperimentID: "e", PipelineID: "p", Status: run.Failed}
		require.NoError(t, s.Accept(t.Context(), r, []byte("m"), []byte("{}")))
	}
	where := func(key string, op page.Op, value any) []page.Predicate {
		return []page.Predicate{{Key: key, Op: op, Values: []any{value}}}
	}
	for name, c := range map[string]struct {
		query page.Query
		scope run.Scope
		has   string
	}{
		"newest first":         {page.Query{Desc: true}, run.Scope{}, "INDEX runs_available_created_at"},
		"next page":            {page.Query{Desc: true, Start: &page.Cursor{Value: int64(5), ID: "r"}}, run.Scope{}, "INDEX runs_available_created_at"},
		"by name":              {page.Query{SortBy: "name"}, run.Scope{}, "INDEX runs_available_name"},
		"of an experiment":     {page.Query{Desc: true}, run.Scope{ExperimentID: "e"}, "INDEX runs_available_experiment_id_created_at"},
		"of a status":          {page.Query{Filter: where("status", page.Equals, run.Failed)}, run.Scope{}, "INDEX runs_available_status_created_at"},
		"of a pipeline":        {page.Query{Filter: where("pipeline_id", page.Equals, "p")}, run.Scope{}, "INDEX runs_available_pipeline_id_created_at"},
		"few, in any order":    {page.Query{SortBy: "finished_at", Filter: where("status", page.Equals, run.Failed)}, run.Scope{}, "INDEX runs_available_status_created_at"},
		"of an id":             {page.Query{Filter: where("id", page.Equals, "a")}, run.Scope{}, "INDEX sqlite_autoindex_runs_1"},
		"of a name":            {page.Query{Filter: where("name", page.Equals, "")}, run.Scope{}, "SIFT name"},
		"part of a name":       {page.Query{Filter: where("name", page.Substring, "n")}, run.Scope{}, "SIFT name"},
		"any text":             {page.Query{Filter: where("text", page.Substring, "n")}, run.Scope{}, "SIFT name, description, id"},
		"of a parameter":       {page.Query{Filter: where("parameter:p", page.Equals, "1")}, run.Scope{}, "SIFT parameter:p"},
		"of a label":           {page.Query{Filter: where("label:l", page.Equals, "1")}, run.Scope{}, "SIFT label:l"},
		"of a metric":          {page.Query{Filter: where("metric:loss", page.LessThan, 1.0)}, run.Scope{}, "SIFT metric:loss"},
		"finished after a day": {page.Query{Filter: where("finished_at", page.GreaterThan, int64(1))}, run.Scope{ExperimentID: "e"}, "SIFT experiment_id"},
		"by metric":            {page.Query{SortBy: "metric:loss"}, run.Scope{}, "ORDER metric:loss"},
	} {
		plans, err := s.Plans(t.Context(), c.query, c.scope)
		require.NoError(t, err, name)
		var steps []string
		for _, p := range plans {
			steps = append(steps, p.Steps...)
		}
		require.Contains(t, strings.Join(steps, "\n"), c.has, name)
	}
}
