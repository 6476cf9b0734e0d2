package conformance

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
)

func experiments(t *testing.T, s Store) {
	ctx := context.Background()
	want := experiment.Experiment{ID: "e1", Name: "first", Description: "d", CreatedAt: at(0)}
	require.NoError(t, s.CreateExperiment(ctx, want))
	requireKind(t, apierr.Conflict, s.CreateExperiment(ctx, experiment.Experiment{ID: "e2", Name: "first"}))

	got, err := s.Experiment(ctx, "e1")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, got))
	got, err = s.ExperimentByName(ctx, "first")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, got))
	_, err = s.Experiment(ctx, "none")
	requireKind(t, apierr.NotFound, err)
	_, err = s.ExperimentByName(ctx, "none")
	requireKind(t, apierr.NotFound, err)

	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e0", Name: "second", CreatedAt: at(1)}))
	p, err := s.Experiments(ctx, listing.Query{Size: 1})
	require.NoError(t, err)
	require.EqualValues(t, 2, p.Total)
	require.Equal(t, []experiment.Experiment{want}, p.Items)
	p, err = s.Experiments(ctx, listing.Query{Size: 1, Start: p.Next})
	require.NoError(t, err)
	require.Equal(t, "e0", p.Items[0].ID)
	require.Nil(t, p.Next)

	require.NoError(t, s.DeleteExperiment(ctx, "e1"))
	requireKind(t, apierr.NotFound, s.DeleteExperiment(ctx, "e1"))
	other := experiment.Experiment{ID: "e3", Name: "first", CreatedAt: at(2)}
	require.NoError(t, s.CreateExperiment(ctx, other), "the name is free again")

	_, err = s.RestoreExperiment(ctx, "e1")
	requireKind(t, apierr.Conflict, err)
	require.NoError(t, s.DeleteExperiment(ctx, "e3"))
	restored, err := s.RestoreExperiment(ctx, "first")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(other, restored), "of two that were deleted a name means the last")
	require.NoError(t, s.DeleteExperiment(ctx, "e3"))
	restored, err = s.RestoreExperiment(ctx, "e1")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, restored))
	_, err = s.RestoreExperiment(ctx, "e1")
	requireKind(t, apierr.NotFound, err)
}

// deletedExperiment: what an experiment was is remembered while something belongs to it.
func deletedExperiment(t *testing.T, s Store) {
	ctx := context.Background()
	want := experiment.Experiment{ID: "e", Name: "gone", Description: "d", CreatedAt: at(0)}
	require.NoError(t, s.CreateExperiment(ctx, want))
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "empty", Name: "empty", CreatedAt: at(0)}))
	accept(t, s, newRun(1))
	_, err := s.DeletedExperiment(ctx, "e")
	requireKind(t, apierr.NotFound, err)
	require.NoError(t, s.DeleteExperiment(ctx, "e"))
	require.NoError(t, s.DeleteExperiment(ctx, "empty"))
	deleted, total, err := s.DeletedExperiments(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Len(t, deleted, 1)
	require.Equal(t, "empty", deleted[0].Name, "the last one first")
	deleted, _, err = s.DeletedExperiments(ctx, 9)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, deleted[1].Experiment))
	require.Equal(t, []int{0, 1}, []int{deleted[0].Runs, deleted[1].Runs})
	require.False(t, deleted[1].DeletedAt.IsZero())
	_, err = s.Experiment(ctx, "e")
	requireKind(t, apierr.NotFound, err)
	got, err := s.DeletedExperiment(ctx, "e")
	require.NoError(t, err)
	want.Archived = true
	require.Equal(t, want, got)
	_, err = s.DeletedExperiment(ctx, "empty")
	requireKind(t, apierr.NotFound, err)
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e2", Name: "gone", CreatedAt: at(1)}), "the name is free")
	r, err := s.Run(ctx, newRun(1).ID)
	require.NoError(t, err)
	require.Equal(t, "gone", r.ExperimentName)
	list, err := s.Runs(ctx, listing.Query{Size: 10}, run.Scope{})
	require.NoError(t, err)
	require.Equal(t, "gone", list.Items[0].ExperimentName)
	require.NoError(t, s.DeleteRun(ctx, r.ID))
	_, err = s.DeletedExperiment(ctx, "e")
	requireKind(t, apierr.NotFound, err)
}

// manifests are read for a page at once, each once.
func manifests(t *testing.T, s Store) {
	ctx := context.Background()
	for i, text := range []string{"one", "two", "one"} {
		r := newRun(i)
		require.NoError(t, s.Accept(ctx, r, []byte(text), []byte("{}")))
		c := schedule.Schedule{ID: r.ID, Name: r.Name, MaxConcurrency: 1, CreatedAt: at(0), UpdatedAt: at(0), ByVersion: i == 1}
		require.NoError(t, s.CreateSchedule(ctx, c, []byte(text)))
	}
	ids := []string{newRun(0).ID, newRun(1).ID, newRun(2).ID, "none"}
	for what, read := range map[string]func(context.Context, []string) ([][]byte, map[string]int, error){"runs": s.RunManifests, "schedules": s.ScheduleManifests} {
		texts, of, err := read(ctx, ids)
		require.NoError(t, err, what)
		require.Len(t, texts, 2, what)
		for i, want := range []string{"one", "two", "one"} {
			require.Equal(t, want, string(texts[of[ids[i]]]), what)
		}
		require.NotContains(t, of, "none", what)
		texts, of, err = read(ctx, nil)
		require.NoError(t, err, what)
		require.Empty(t, texts, what)
		require.Empty(t, of, what)
	}
	c, err := s.Schedule(ctx, ids[1])
	require.NoError(t, err)
	require.True(t, c.ByVersion)
}

func archiveExperiment(t *testing.T, s Store) {
	ctx := context.Background()
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e", Name: "e", CreatedAt: at(0)}))
	accept(t, s, newRun(1))
	other := newRun(2)
	other.ExperimentID = "other"
	accept(t, s, other)
	archived := func(id string) bool {
		r, err := s.Run(ctx, id)
		require.NoError(t, err)
		return r.Archived
	}

	require.NoError(t, s.ArchiveExperiment(ctx, "e", true))
	e, err := s.Experiment(ctx, "e")
	require.NoError(t, err)
	require.True(t, e.Archived)
	require.True(t, archived("run-001"), "archiving takes the runs along")
	require.False(t, archived("run-002"), "and no others")

	require.NoError(t, s.ArchiveExperiment(ctx, "e", false))
	e, err = s.Experiment(ctx, "e")
	require.NoError(t, err)
	require.False(t, e.Archived)
	require.True(t, archived("run-001"), "unarchiving restores the experiment alone")
	require.NoError(t, s.ArchiveRun(ctx, "run-001", false))
	require.False(t, archived("run-001"))

	requireKind(t, apierr.NotFound, s.ArchiveExperiment(ctx, "none", true))
	requireKind(t, apierr.NotFound, s.ArchiveRun(ctx, "none", true))
	require.NoError(t, s.DeleteExperiment(ctx, "e"))
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err, "deleting an experiment leaves its runs")
	require.Equal(t, "e", r.ExperimentName, "which keep its name")
}

func newVersion(pipelineID, id, name string, second int) pipeline.Version {
	return pipeline.Version{
		ID: id, PipelineID: pipelineID, Name: name, Description: "v", CodeSourceURL: "https://example.org", CreatedAt: at(second),
		Parameters: []pipeline.Parameter{{Name: "workers", Value: "1", HasDefault: true}, {Name: "image"}},
	}
}

func newPipeline(id, name string, second int) pipeline.Pipeline {
	return pipeline.Pipeline{ID: id, Name: name, Description: "p", CreatedAt: at(second), Default: newVersion(id, id, name, second)}
}

func pipelines(t *testing.T, s Store) {
	ctx := context.Background()
	want := newPipeline("p1", "mpi-run", 0)
	require.NoError(t, s.CreatePipeline(ctx, want, []byte("kind: Workflow")))
	requireKind(t, apierr.Conflict, s.CreatePipeline(ctx, newPipeline("p2", "mpi-run", 1), []byte("x")))
	_, err := s.Version(ctx, "p2")
	requireKind(t, apierr.NotFound, err) // a refused pipeline leaves nothing

	got, err := s.Pipeline(ctx, "p1")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, got))
	got, err = s.PipelineByName(ctx, "mpi-run")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, got))
	manifest, err := s.VersionManifest(ctx, "p1")
	require.NoError(t, err)
	require.Equal(t, "kind: Workflow", string(manifest))

	require.NoError(t, s.CreatePipeline(ctx, newPipeline("p3", "other", 2), []byte("x")))
	p, err := s.Pipelines(ctx, listing.Query{Size: 10, SortBy: "name", Desc: true})
	require.NoError(t, err)
	require.Equal(t, []string{"other", "mpi-run"}, []string{p.Items[0].Name, p.Items[1].Name})
	require.Empty(t, cmp.Diff(want, p.Items[1]))

	require.NoError(t, s.DeletePipeline(ctx, "p1"))
	requireKind(t, apierr.NotFound, s.DeletePipeline(ctx, "p1"))
	_, err = s.Version(ctx, "p1")
	requireKind(t, apierr.NotFound, err)
	_, err = s.VersionManifest(ctx, "p1")
	requireKind(t, apierr.NotFound, err)
	_, err = s.Pipeline(ctx, "p1")
	requireKind(t, apierr.NotFound, err)
	_, err = s.PipelineByName(ctx, "mpi-run")
	requireKind(t, apierr.NotFound, err)
}

func versions(t *testing.T, s Store) {
	ctx := context.Background()
	require.NoError(t, s.CreatePipeline(ctx, newPipeline("p", "p", 0), []byte("one")))
	require.NoError(t, s.CreatePipeline(ctx, newPipeline("q", "q", 0), []byte("one")))
	two := newVersion("p", "v2", "two", 1)
	require.NoError(t, s.CreateVersion(ctx, two, []byte("two")))
	requireKind(t, apierr.Conflict, s.CreateVersion(ctx, newVersion("p", "v3", "two", 2), []byte("x")))
	requireKind(t, apierr.NotFound, s.CreateVersion(ctx, newVersion("none", "v4", "four", 2), []byte("x")))
	require.NoError(t, s.CreateVersion(ctx, newVersion("q", "qv", "two", 2), []byte("x")), "names are free in another pipeline")

	defaultOf := func() string {
		p, err := s.Pipeline(ctx, "p")
		require.NoError(t, err)
		return p.Default.ID
	}
	require.Equal(t, "v2", defaultOf(), "the newest becomes the default")
	got, err := s.Version(ctx, "v2")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(two, got))
	list, err := s.Versions(ctx, "p", listing.Query{Size: 10, Desc: true})
	require.NoError(t, err)
	require.EqualValues(t, 2, list.Total)
	require.Equal(t, []string{"v2", "p"}, []string{list.Items[0].ID, list.Items[1].ID})

	require.NoError(t, s.SetDefaultVersion(ctx, "p", "p"))
	require.Equal(t, "p", defaultOf())
	requireKind(t, apierr.Invalid, s.SetDefaultVersion(ctx, "p", "q"))
	requireKind(t, apierr.NotFound, s.SetDefaultVersion(ctx, "p", "none"))

	require.NoError(t, s.DeleteVersion(ctx, "p"))
	require.Equal(t, "v2", defaultOf(), "the newest that is left")
	require.NoError(t, s.DeleteVersion(ctx, "v2"))
	require.Empty(t, defaultOf())
	requireKind(t, apierr.NotFound, s.DeleteVersion(ctx, "v2"))
}

func sharedManifest(t *testing.T, s Store) {
	ctx := context.Background()
	require.NoError(t, s.CreatePipeline(ctx, newPipeline("p", "p", 0), []byte("manifest")))
	require.NoError(t, s.CreatePipeline(ctx, newPipeline("q", "q", 0), []byte("manifest")))
	accept(t, s, newRun(1))
	require.NoError(t, s.DeletePipeline(ctx, "p"))
	kept, err := s.VersionManifest(ctx, "q")
	require.NoError(t, err)
	require.Equal(t, "manifest", string(kept))
	require.NoError(t, s.DeletePipeline(ctx, "q"))
	kept, err = s.RunManifest(ctx, "run-001")
	require.NoError(t, err, "a run keeps the manifest that it was made from")
	require.Equal(t, "manifest", string(kept))
}
