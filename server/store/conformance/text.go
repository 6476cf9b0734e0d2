package conformance

import (
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
)

// texts: names are compared byte by byte, whatever a database thinks of languages, and bytes other than text do no harm.
func texts(t *testing.T, s Store) {
	ctx := t.Context()
	names := []string{"", " b", "A", "B", "Z", "_", "a", "a b", "a-b", "ab", "b", "ß", "ä", "中"}
	for i, name := range names {
		r := newRun((i*5 + 3) % len(names))
		r.Name = name
		accept(t, s, r)
	}
	p, err := s.Runs(ctx, listing.Query{Size: 100, SortBy: "name"}, run.Scope{})
	require.NoError(t, err)
	for i, r := range p.Items {
		require.Equal(t, names[i], r.Name)
	}
	require.Len(t, walk(t, s, listing.Query{Size: 3, SortBy: "name", Desc: true}, run.Scope{}), len(names))

	odd := newRun(100)
	odd.Name, odd.Description = "nul\x00nul", "cut \xe4 off"
	odd.Parameters = []run.Parameter{{Name: "p", Value: "\x00\xff"}}
	accept(t, s, odd)
	got, err := s.Run(ctx, odd.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"nul\uFFFDnul", "cut \uFFFD off", "\uFFFD\uFFFD"}, []string{got.Name, got.Description, got.Parameters[0].Value})
	_, err = s.Run(ctx, "nul\x00nul")
	requireKind(t, apierr.NotFound, err)
	requireKind(t, apierr.NotFound, s.ArchiveRun(ctx, "\xff", true))
}

// longNames: what is taken has room in every index, and what has none is refused. The text does not compress.
func longNames(t *testing.T, s Store) {
	ctx := t.Context()
	var long strings.Builder
	for i := 0; long.Len() < 20_000; i++ {
		sum := sha512.Sum512(fmt.Append(nil, i))
		long.WriteString(base64.StdEncoding.EncodeToString(sum[:]))
	}
	name := long.String()[:2001]
	r := newRun(1)
	r.Name, r.ExperimentID = name, "e"
	requireKind(t, apierr.Invalid, s.Accept(ctx, r, []byte("m"), []byte("{}")))
	requireKind(t, apierr.Invalid, s.CreateExperiment(ctx, experiment.Experiment{ID: "e", Name: name}))
	requireKind(t, apierr.Invalid, s.CreatePipeline(ctx, newPipeline("p", name, 0), []byte("m")))
	requireKind(t, apierr.Invalid, s.CreateSchedule(ctx, schedule.Schedule{ID: "s", Name: name}, []byte("m")))
	name = name[:2000]
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e", Name: name}))
	requireKind(t, apierr.Conflict, s.CreateExperiment(ctx, experiment.Experiment{ID: "f", Name: name}))
	require.NoError(t, s.CreatePipeline(ctx, newPipeline("p", name, 0), []byte("m")))
	requireKind(t, apierr.Invalid, s.CreateVersion(ctx, newVersion("p", "v", name+"x", 0), []byte("m")))
	require.NoError(t, s.CreateVersion(ctx, newVersion("p", "v", "x"+name[1:], 0), []byte("m")))
	r.Name, r.Description = name, long.String() // a description is as long as it is
	accept(t, s, r)
	_, err := s.AddMetrics(ctx, r.ID, []run.Metric{{NodeID: "n", Name: name[:512], Value: 1, Format: run.Raw}})
	require.NoError(t, err)
	accept(t, s, newRun(2))
	require.Equal(t, []string{"run-001", "run-002"}, walk(t, s, listing.Query{Size: 1, SortBy: "metric:" + name[:512]}, run.Scope{}))
	require.Equal(t, []string{"run-001", "run-002"}, walk(t, s, listing.Query{Size: 1, SortBy: "name"}, run.Scope{}))
	require.Equal(t, []string{"run-002", "run-001"}, walk(t, s, listing.Query{Size: 1, SortBy: "description"}, run.Scope{}))
}
