package postgres_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
)

// TestListsCostTheirPage looks at the plans of lists that indexes have in their order, as that of SQLite's store does. Few runs
// are read as a whole and sorted; so both is forbidden here, which the database heeds where it has another way.
// test/bench/api looks at every kind of list, with many runs and nothing forbidden.
func TestListsCostTheirPage(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t)+"&enable_seqscan=off&enable_sort=off&enable_bitmapscan=off")
	for i := range 30 {
		r := run.Run{ID: fmt.Sprint(i), ExperimentID: "e", PipelineID: "p", ScheduleID: "s", Status: run.Failed}
		require.NoError(t, s.Accept(t.Context(), r, []byte("m"), []byte("{}")))
	}
	where := func(key string, op listing.Op, value any) []listing.Predicate {
		return []listing.Predicate{{Key: key, Op: op, Values: []any{value}}}
	}
	whole := regexp.MustCompile(`Seq Scan on (runs|run_metrics|run_parameters|run_labels)\b|Sort Key`)
	for name, c := range map[string]struct {
		query listing.Query
		scope run.Scope
		has   string
	}{
		"newest first":        {listing.Query{Desc: true}, run.Scope{}, "runs_available_created_at"},
		"next page":           {listing.Query{Desc: true, Start: &listing.Cursor{Value: int64(5), ID: "r"}}, run.Scope{}, "runs_available_created_at"},
		"by name":             {listing.Query{SortBy: "name"}, run.Scope{}, "runs_available_name"},
		"by end":              {listing.Query{SortBy: "finished_at"}, run.Scope{}, "runs_available_finished_at"},
		"of an experiment":    {listing.Query{Desc: true}, run.Scope{ExperimentID: "e"}, "runs_available_experiment_id_created_at"},
		"of one, by name":     {listing.Query{SortBy: "name"}, run.Scope{ExperimentID: "e"}, "runs_available_experiment_id_name"},
		"of a job":            {listing.Query{Desc: true}, run.Scope{ScheduleID: "s"}, "runs_available_schedule_id_created_at"},
		"of a status":         {listing.Query{Filter: where("status", listing.Equals, run.Failed)}, run.Scope{}, "runs_available_status_created_at"},
		"of a pipeline":       {listing.Query{Filter: where("pipeline_id", listing.Equals, "p")}, run.Scope{}, "runs_available_pipeline_id_created_at"},
		"not archived":        {listing.Query{Filter: where("storage_state", listing.NotEquals, "STORAGESTATE_ARCHIVED")}, run.Scope{}, "runs_available_created_at"},
		"of an id":            {listing.Query{Filter: where("id", listing.Equals, "1")}, run.Scope{}, "runs_id_key"},
		"part of a name":      {listing.Query{Filter: where("name", listing.Substring, "n")}, run.Scope{}, "SIFT name"},
		"of a status, by end": {listing.Query{SortBy: "metric:loss", Filter: where("status", listing.Equals, run.Failed)}, run.Scope{}, "SIFT status"},
	} {
		plans, err := s.Plans(t.Context(), c.query, c.scope)
		require.NoError(t, err, name)
		var steps []string
		for _, p := range plans {
			steps = append(steps, p.Steps...)
			if name != "of an id" && !strings.Contains(p.Statement, "run_counts") { // one row, sorted
				require.NotRegexp(t, whole, strings.Join(p.Steps, "\n"), "%s: %s", name, p.Statement)
			}
		}
		require.Contains(t, strings.Join(steps, "\n"), c.has, name)
	}
}
