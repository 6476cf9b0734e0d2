package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// TestPlans lists a small store in every way that the benchmark knows: what is listed is what a plain loop over the runs
// finds, and no list reads all runs.
func TestPlans(t *testing.T) {
	t.Parallel()
	w := seed.NewWorld(3, 3000)
	file := filepath.Join(t.TempDir(), "argosy.db")
	require.NoError(t, seed.Fill(t.Context(), file, w))
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	m := newModel(w)
	shapes := slices.Concat(sorted(w), filtered(w), combined(w))
	_, err = planLists(t.Context(), s, onSQLite, m, shapes)
	require.NoError(t, err)
	for _, sh := range shapes {
		rows := m.list(sh)
		for _, p := range pages(len(rows)) {
			q := listing.Query{Size: pageSize, SortBy: sh.sortBy, Desc: sh.desc, Filter: sh.where}
			if p.value > 0 {
				q.Start = m.cursor(sh, rows[p.value])
			}
			listed, err := s.Runs(t.Context(), q, sh.at)
			require.NoError(t, err)
			require.EqualValues(t, len(rows), listed.Total, "%s", sh)
			want := rows[p.value:min(p.value+pageSize, len(rows))]
			require.Len(t, listed.Items, len(want), "%s, %s page", sh, p.name)
			for i, r := range listed.Items {
				require.Equal(t, m.rows[want[i]].id, r.ID, "%s, %s page", sh, p.name)
			}
		}
	}
}

func TestCheckPlanRefusesScans(t *testing.T) {
	t.Parallel()
	require.Error(t, checkPlan(sqlstore.Plan{Statement: "SELECT COUNT(*) FROM runs WHERE message = ?", Steps: []string{"SCAN runs"}}))
	require.Error(t, checkPlan(sqlstore.Plan{Statement: "SELECT seq FROM runs ORDER BY message LIMIT ?", Steps: []string{"SCAN runs", "USE TEMP B-TREE FOR ORDER BY"}}))
	require.NoError(t, checkPlan(sqlstore.Plan{Statement: "SELECT seq FROM runs ORDER BY seq LIMIT ?", Steps: []string{"SCAN runs"}}))
	require.Error(t, checkPlan(sqlstore.Plan{Statement: "SELECT seq FROM runs LIMIT $1", Steps: []string{"Limit  (cost=0..1)", "  ->  Parallel Seq Scan on runs  (cost=0..9)"}}))
	require.NoError(t, checkPlan(sqlstore.Plan{Statement: "SELECT n FROM run_counts AS runs", Steps: []string{"Seq Scan on run_counts runs  (cost=0..9)"}}))
	require.NoError(t, checkPlan(sqlstore.Plan{Statement: "SELECT COUNT(*) FROM runs", Steps: []string{"SCAN runs USING COVERING INDEX runs_available_name"}}))
}
