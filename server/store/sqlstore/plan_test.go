package sqlstore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

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
	where := func(key string, op listing.Op, value any) []listing.Predicate {
		return []listing.Predicate{{Key: key, Op: op, Values: []any{value}}}
	}
	for name, c := range map[string]struct {
		query listing.Query
		scope run.Scope
		has   string
	}{
		"newest first":         {listing.Query{Desc: true}, run.Scope{}, "INDEX runs_available_created_at"},
		"next page":            {listing.Query{Desc: true, Start: &listing.Cursor{Value: int64(5), ID: "r"}}, run.Scope{}, "INDEX runs_available_created_at"},
		"by name":              {listing.Query{SortBy: "name"}, run.Scope{}, "INDEX runs_available_name"},
		"of an experiment":     {listing.Query{Desc: true}, run.Scope{ExperimentID: "e"}, "INDEX runs_available_experiment_id_created_at"},
		"of a status":          {listing.Query{Filter: where("status", listing.Equals, run.Failed)}, run.Scope{}, "INDEX runs_available_status_created_at"},
		"of a pipeline":        {listing.Query{Filter: where("pipeline_id", listing.Equals, "p")}, run.Scope{}, "INDEX runs_available_pipeline_id_created_at"},
		"few, in any order":    {listing.Query{SortBy: "finished_at", Filter: where("status", listing.Equals, run.Failed)}, run.Scope{}, "INDEX runs_available_status_created_at"},
		"of an id":             {listing.Query{Filter: where("id", listing.Equals, "a")}, run.Scope{}, "INDEX sqlite_autoindex_runs_1"},
		"of a name":            {listing.Query{Filter: where("name", listing.Equals, "")}, run.Scope{}, "SIFT name"},
		"part of a name":       {listing.Query{Filter: where("name", listing.Substring, "n")}, run.Scope{}, "SIFT name"},
		"any text":             {listing.Query{Filter: where("text", listing.Substring, "n")}, run.Scope{}, "SIFT name, description, id"},
		"of a parameter":       {listing.Query{Filter: where("parameter:p", listing.Equals, "1")}, run.Scope{}, "SIFT parameter:p"},
		"of a label":           {listing.Query{Filter: where("label:l", listing.Equals, "1")}, run.Scope{}, "SIFT label:l"},
		"of a metric":          {listing.Query{Filter: where("metric:loss", listing.LessThan, 1.0)}, run.Scope{}, "SIFT metric:loss"},
		"finished after a day": {listing.Query{Filter: where("finished_at", listing.GreaterThan, int64(1))}, run.Scope{ExperimentID: "e"}, "SIFT experiment_id"},
		"by metric":            {listing.Query{SortBy: "metric:loss"}, run.Scope{}, "ORDER metric:loss"},
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
