package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// seed accepts n runs; three share each second and each name, so that ties are broken by id.
func seed(t *testing.T, s Store, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range n {
		r := newRun(i)
		r.CreatedAt, r.Name = at(i/3), fmt.Sprintf("name %03d", (n-i)/3)
		if i%2 == 1 {
			r.ExperimentID = "odd"
		}
		ids[i] = r.ID
		accept(t, s, r)
	}
	return ids
}

func reversed(ids []string) []string {
	r := slices.Clone(ids)
	slices.Reverse(r)
	return r
}

func sortRuns(t *testing.T, s Store) {
	ids := seed(t, s, 20)
	for _, size := range []int{1, 3, 7, 20, 200} {
		require.Equal(t, ids, walk(t, s, listing.Query{Size: size}, run.Scope{}), "created_at is the default")
		require.Equal(t, ids, walk(t, s, listing.Query{Size: size, SortBy: "id"}, run.Scope{}))
		require.Equal(t, reversed(ids), walk(t, s, listing.Query{Size: size, SortBy: "created_at", Desc: true}, run.Scope{}))
		byName := walk(t, s, listing.Query{Size: size, SortBy: "name"}, run.Scope{})
		require.Equal(t, reversed(byName), walk(t, s, listing.Query{Size: size, SortBy: "name", Desc: true}, run.Scope{}))
		require.Equal(t, []string{"run-018", "run-019", "run-015"}, byName[:3])
		odd := walk(t, s, listing.Query{Size: size}, run.Scope{ExperimentID: "odd"})
		require.Len(t, odd, 10)
		require.Equal(t, "run-001", odd[0])
		for _, field := range []string{"status", "storage_state", "description", "scheduled_at", "finished_at", "experiment_id", "pipeline_id"} {
			require.Len(t, walk(t, s, listing.Query{Size: size, SortBy: field}, run.Scope{}), 20, field)
		}
	}
}

func sortByMetric(t *testing.T, s Store) {
	ctx := context.Background()
	seed(t, s, 8)
	for i, value := range []float64{5, -2, 0.1, 5} { // runs 0 to 3 have the metric; 0 and 3 tie; 4 to 7 lack it
		id := fmt.Sprintf("run-%03d", i)
		_, err := s.AddMetrics(ctx, id, []run.Metric{{NodeID: "n", Name: "images/sec", Value: value, Format: run.Raw}})
		require.NoError(t, err)
	}
	// A second step's value of the same name does not make the run appear twice.
	_, err := s.AddMetrics(ctx, "run-001", []run.Metric{{NodeID: "n2", Name: "images/sec", Value: 99, Format: run.Raw}})
	require.NoError(t, err)
	_, err = s.AddMetrics(ctx, "run-005", []run.Metric{{NodeID: "n", Name: "loss", Value: 1, Format: run.Raw}})
	require.NoError(t, err)

	up := []string{"run-001", "run-002", "run-000", "run-003", "run-004", "run-005", "run-006", "run-007"}
	down := []string{"run-003", "run-000", "run-002", "run-001", "run-007", "run-006", "run-005", "run-004"}
	for size := 1; size <= 9; size++ {
		require.Equal(t, up, walk(t, s, listing.Query{Size: size, SortBy: "metric:images/sec"}, run.Scope{}), "size %d", size)
		require.Equal(t, down, walk(t, s, listing.Query{Size: size, SortBy: "metric:images/sec", Desc: true}, run.Scope{}), "size %d", size)
		odd := []string{"run-001", "run-003", "run-005", "run-007"}
		require.Equal(t, odd, walk(t, s, listing.Query{Size: size, SortBy: "metric:images/sec"}, run.Scope{ExperimentID: "odd"}))
	}
	first := listing.Predicate{Key: "name", Op: listing.Equals, Values: []any{"name 002"}}
	require.Equal(t, []string{"run-001", "run-002", "run-000"},
		walk(t, s, listing.Query{Size: 2, SortBy: "metric:images/sec", Filter: []listing.Predicate{first}}, run.Scope{}))
}

func filter(t *testing.T, s Store) {
	ctx := context.Background()
	for i, name := range []string{"alpha", "Beta", "50%_done", "50 xdone", `back\slash`} {
		r := newRun(i)
		r.Name = name
		accept(t, s, r)
	}
	require.NoError(t, s.ArchiveRun(ctx, "run-001", true))
	require.NoError(t, s.SetStatus(ctx, "run-002", run.Failed, ""))
	of := func(key string, op listing.Op, values ...any) listing.Predicate {
		return listing.Predicate{Key: key, Op: op, Values: values}
	}
	for name, c := range map[string]struct {
		filter []listing.Predicate
		want   []string
	}{
		"equals":               {[]listing.Predicate{of("name", listing.Equals, "alpha")}, []string{"run-000"}},
		"not equals":           {[]listing.Predicate{of("storage_state", listing.NotEquals, "STORAGESTATE_ARCHIVED")}, []string{"run-000", "run-002", "run-003", "run-004"}},
		"archived":             {[]listing.Predicate{of("storage_state", listing.Equals, "STORAGESTATE_ARCHIVED")}, []string{"run-001"}},
		"greater":              {[]listing.Predicate{of("id", listing.GreaterThan, "run-003")}, []string{"run-004"}},
		"greater or equal":     {[]listing.Predicate{of("id", listing.GreaterThanOrEqual, "run-003")}, []string{"run-003", "run-004"}},
		"less":                 {[]listing.Predicate{of("id", listing.LessThan, "run-001")}, []string{"run-000"}},
		"less or equal":        {[]listing.Predicate{of("id", listing.LessThanOrEqual, "run-001")}, []string{"run-000", "run-001"}},
		"in":                   {[]listing.Predicate{of("status", listing.In, run.Failed, run.Error)}, []string{"run-002"}},
		"in nothing":           {[]listing.Predicate{of("status", listing.In)}, nil},
		"substring":            {[]listing.Predicate{of("name", listing.Substring, "done")}, []string{"run-002", "run-003"}},
		"substring, any case":  {[]listing.Predicate{of("name", listing.Substring, "beta")}, []string{"run-001"}},
		"substring is literal": {[]listing.Predicate{of("name", listing.Substring, "%_")}, []string{"run-002"}},
		"substring backslash":  {[]listing.Predicate{of("name", listing.Substring, `k\s`)}, []string{"run-004"}},
		"no injection":         {[]listing.Predicate{of("name", listing.Equals, "' OR 1=1 --")}, nil},
		"and":                  {[]listing.Predicate{of("name", listing.Substring, "done"), of("status", listing.Equals, run.Failed)}, []string{"run-002"}},
		"second":               {[]listing.Predicate{of("created_at", listing.Equals, at(2))}, []string{"run-002"}},
		"second as a number":   {[]listing.Predicate{of("created_at", listing.Equals, at(2).Unix())}, []string{"run-002"}},
		"not that second":      {[]listing.Predicate{of("created_at", listing.NotEquals, at(2)), of("id", listing.LessThan, "run-004")}, []string{"run-000", "run-001", "run-003"}},
		"after":                {[]listing.Predicate{of("created_at", listing.GreaterThan, at(3))}, []string{"run-004"}},
		"from":                 {[]listing.Predicate{of("created_at", listing.GreaterThanOrEqual, at(3))}, []string{"run-003", "run-004"}},
		"before":               {[]listing.Predicate{of("scheduled_at", listing.LessThan, at(1))}, []string{"run-000"}},
		"until":                {[]listing.Predicate{of("scheduled_at", listing.LessThanOrEqual, at(1))}, []string{"run-000", "run-001"}},
		"in seconds":           {[]listing.Predicate{of("created_at", listing.In, at(0), at(4))}, []string{"run-000", "run-004"}},
	} {
		require.Equal(t, c.want, walk(t, s, listing.Query{Size: 2, Filter: c.filter}, run.Scope{}), name)
	}
}

// totals: how many match is known without counting, whatever became of the runs.
func totals(t *testing.T, s Store) {
	ctx := context.Background()
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "odd", Name: "odd", CreatedAt: at(0)}))
	ids := seed(t, s, 12)
	check := func(want map[string]int64) {
		t.Helper()
		for status, n := range want {
			q := listing.Query{Size: 1, Filter: []listing.Predicate{{Key: "status", Op: listing.Equals, Values: []any{status}}}}
			p, err := s.Runs(ctx, q, run.Scope{})
			require.NoError(t, err)
			require.Equal(t, n, p.Total, "%q", status)
			q.Filter = append(q.Filter, listing.Predicate{Key: "created_at", Op: listing.GreaterThanOrEqual, Values: []any{at(0)}})
			counted, err := s.Runs(ctx, q, run.Scope{})
			require.NoError(t, err)
			require.Equal(t, n, counted.Total, "%q, counted one by one", status)
		}
	}
	archived := func(op listing.Op) int64 {
		p, err := s.Runs(ctx, listing.Query{Size: 1, Filter: []listing.Predicate{{Key: "storage_state", Op: op, Values: []any{"STORAGESTATE_ARCHIVED"}}}}, run.Scope{})
		require.NoError(t, err)
		return p.Total
	}
	check(map[string]int64{"": 12, run.Running: 0})
	require.NoError(t, s.SetStatus(ctx, ids[0], run.Running, ""))
	require.NoError(t, s.SetStatus(ctx, ids[1], run.Running, ""))
	require.NoError(t, s.SetStatus(ctx, ids[1], run.Failed, ""))
	require.NoError(t, s.SetStatus(ctx, ids[1], run.Failed, "again"))
	check(map[string]int64{"": 10, run.Running: 1, run.Failed: 1})
	require.NoError(t, s.ArchiveRun(ctx, ids[0], true))
	require.NoError(t, s.ArchiveRun(ctx, ids[0], true))
	require.EqualValues(t, 1, archived(listing.Equals))
	require.NoError(t, s.ArchiveExperiment(ctx, "odd", true))
	require.EqualValues(t, 7, archived(listing.Equals))
	require.EqualValues(t, 5, archived(listing.NotEquals))
	require.NoError(t, s.ArchiveRun(ctx, ids[0], false))
	require.NoError(t, s.DeleteRun(ctx, ids[1]))
	require.EqualValues(t, 5, archived(listing.Equals))
	check(map[string]int64{"": 10, run.Running: 1, run.Failed: 0})
}

func refusedQueries(t *testing.T, s Store) {
	accept(t, s, newRun(1))
	for name, q := range map[string]listing.Query{
		"sort field":        {Size: 1, SortBy: "nonsense"},
		"sort injection":    {Size: 1, SortBy: "name; DROP TABLE runs"},
		"filter field":      {Size: 1, Filter: []listing.Predicate{{Key: "workflow", Op: listing.Equals, Values: []any{"x"}}}},
		"filter op":         {Size: 1, Filter: []listing.Predicate{{Key: "name", Op: 4, Values: []any{"x"}}}},
		"filter type":       {Size: 1, Filter: []listing.Predicate{{Key: "name", Op: listing.Equals, Values: []any{int64(1)}}}},
		"time as text":      {Size: 1, Filter: []listing.Predicate{{Key: "created_at", Op: listing.Equals, Values: []any{"yesterday"}}}},
		"substring of time": {Size: 1, Filter: []listing.Predicate{{Key: "created_at", Op: listing.Substring, Values: []any{at(0)}}}},
		"no value":          {Size: 1, Filter: []listing.Predicate{{Key: "name", Op: listing.Equals}}},
		"cursor type":       {Size: 1, Start: &listing.Cursor{Value: "x", ID: "y"}},
		"metric cursor":     {Size: 1, SortBy: "metric:a", Start: &listing.Cursor{Value: "x", ID: "y"}},
	} {
		_, err := s.Runs(context.Background(), q, run.Scope{})
		require.Error(t, err, name)
		require.Equal(t, apierr.Invalid, apierr.KindOf(err), "%s: %v", name, err)
	}
	_, err := s.Pipelines(context.Background(), listing.Query{Size: 1, SortBy: "metric:a"})
	requireKind(t, apierr.Invalid, err)
}

// pagingWhileRowsCome: rows added or removed between two pages neither repeat nor hide others.
func pagingWhileRowsCome(t *testing.T, s Store) {
	ctx := context.Background()
	seed(t, s, 9)
	p, err := s.Runs(ctx, listing.Query{Size: 3, Desc: true}, run.Scope{})
	require.NoError(t, err)
	require.NotNil(t, p.Next)
	accept(t, s, newRun(99))
	require.NoError(t, s.DeleteRun(ctx, p.Next.ID))
	rest, err := s.Runs(ctx, listing.Query{Size: 10, Desc: true, Start: p.Next}, run.Scope{})
	require.NoError(t, err)
	var ids []string
	for _, r := range append(p.Items, rest.Items...) {
		ids = append(ids, r.ID)
	}
	require.Equal(t, []string{"run-008", "run-007", "run-006", "run-004", "run-003", "run-002", "run-001", "run-000"}, ids)
}

func concurrent(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(0))
	var wg sync.WaitGroup
	for i := 1; i <= 20; i++ {
		wg.Go(func() {
			r := newRun(i)
			if err := s.Accept(ctx, r, []byte("m"), []byte("{}")); err != nil {
				t.Error(err)
			}
			if _, err := s.Record(ctx, r.ID, newState(run.Running)); err != nil {
				t.Error(err)
			}
			if err := s.AddWarning(ctx, "run-000", r.ID); err != nil {
				t.Error(err)
			}
			if _, err := s.Runs(ctx, listing.Query{Size: 200}, run.Scope{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r, err := s.Run(ctx, "run-000")
	require.NoError(t, err)
	require.Len(t, r.Warnings, 20, "no write is lost")
	require.Len(t, walk(t, s, listing.Query{Size: 7}, run.Scope{}), 21)
}

// together: writes that are committed as one fail one by one.
func together(t *testing.T, s Store) {
	ctx := context.Background()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	var wg sync.WaitGroup
	var taken, missing, left atomic.Int64
	for i := range 60 {
		wg.Go(func() { // two of each id
			switch err := s.Accept(ctx, newRun(i/2), []byte("m"), []byte("{}")); {
			case err == nil:
			case apierr.KindOf(err) == apierr.Conflict:
				taken.Add(1)
			default:
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := s.SetStatus(ctx, fmt.Sprintf("none-%d", i), run.Failed, ""); apierr.KindOf(err) == apierr.NotFound && err != nil {
				missing.Add(1)
			}
		})
		wg.Go(func() {
			if err := s.Accept(gone, newRun(100+i), []byte("m"), []byte("{}")); err != nil {
				left.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 30, taken.Load())
	require.EqualValues(t, 60, missing.Load())
	require.EqualValues(t, 60, left.Load(), "nobody waited for these")
	p, err := s.Runs(ctx, listing.Query{Size: 200}, run.Scope{})
	require.NoError(t, err)
	require.EqualValues(t, 30, p.Total)
	require.Len(t, p.Items, 30)
}
