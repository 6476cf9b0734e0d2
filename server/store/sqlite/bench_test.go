package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

// BenchmarkRuns lists pages of runs as the UI asks for them, and accepts runs durably.
func BenchmarkRuns(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "argosy.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	accept := func(id string, i int) {
		r := run.Run{
			ID: id, Name: id, ExperimentID: fmt.Sprint(i % 10), CreatedAt: time.Unix(int64(i), 0),
			Parameters: []run.Parameter{{Name: "workers", Value: "2"}},
		}
		if err := s.Accept(b.Context(), r, []byte("manifest"), []byte(`{"kind":"Workflow"}`)); err != nil {
			b.Fatal(err)
		}
		if _, err := s.AddMetrics(b.Context(), id, []run.Metric{{NodeID: "n", Name: "images/sec", Value: float64(i * 7 % 1000), Format: run.Raw}}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 5000 {
		accept(fmt.Sprintf("run-%06d", i), i)
	}
	for name, c := range map[string]struct {
		query listing.Query
		scope run.Scope
	}{
		"newest":        {listing.Query{Size: 100, Desc: true}, run.Scope{}},
		"of experiment": {listing.Query{Size: 100, Desc: true}, run.Scope{ExperimentID: "3"}},
		"by metric":     {listing.Query{Size: 100, Desc: true, SortBy: "metric:images/sec"}, run.Scope{}},
	} {
		b.Run("list "+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Runs(b.Context(), c.query, c.scope); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	n := 0
	b.Run("accept", func(b *testing.B) {
		for b.Loop() {
			n++
			accept(fmt.Sprintf("new-%06d", n), n)
		}
	})
}
