package pipeline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline"
)

func upload(name string) pipeline.Upload {
	return pipeline.Upload{FileName: "hello.yaml", Name: name, Data: []byte(enginetest.Manifest)}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := enginetest.New(t).Pipelines
	p, err := s.Create(t.Context(), upload(""))
	require.NoError(t, err)
	require.Equal(t, "hello.yaml", p.Name, "the file's name, when none is given")
	require.Equal(t, []string{p.ID, p.Name, p.ID}, []string{p.Default.ID, p.Default.Name, p.Default.PipelineID}, "as KFP v1 has it")
	require.Equal(t, []pipeline.Parameter{{Name: "greeting", Value: "hello", HasDefault: true}}, p.Default.Parameters)
	manifest, err := s.Manifest(t.Context(), p.ID)
	require.NoError(t, err)
	require.Equal(t, enginetest.Manifest, string(manifest), "as uploaded")
	g, err := s.Graph(t.Context(), p.ID)
	require.NoError(t, err)
	require.Equal(t, []pipeline.GraphNode{{ID: "main", Name: "main", Type: "Container", Template: "main"}}, g.Nodes)

	v, err := s.CreateVersion(t.Context(), pipeline.Upload{PipelineID: p.ID, Name: "two", FileName: "a.yaml", Data: []byte(enginetest.Manifest)})
	require.NoError(t, err)
	p, err = s.ByName(t.Context(), "hello.yaml")
	require.NoError(t, err)
	require.Equal(t, v.ID, p.Default.ID)
}

func TestARefusedUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	s := enginetest.New(t).Pipelines
	p, err := s.Create(t.Context(), upload("taken"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		upload pipeline.Upload
		kind   apierr.Kind
		want   string
	}{
		"no name":      {pipeline.Upload{Data: []byte("x")}, apierr.Invalid, "needs a name"},
		"a long name":  {upload(strings.Repeat("é", 101)), apierr.Invalid, "the name has 101 characters; at most 100"},
		"a taken name": {upload("taken"), apierr.Conflict, `a pipeline named "taken" exists already`},
		"no tarball":   {pipeline.Upload{FileName: "a.tar.gz", Data: []byte("x")}, apierr.Invalid, "neither a tarball"},
		"no workflow":  {pipeline.Upload{FileName: "a.yaml", Data: []byte("kind: Pod")}, apierr.Invalid, `of kind "Pod"`},
	} {
		_, err := s.Create(t.Context(), c.upload)
		require.ErrorContains(t, err, c.want, name)
		require.Equal(t, c.kind, apierr.KindOf(err), name)
		c.upload.PipelineID = p.ID
		_, err = s.CreateVersion(t.Context(), c.upload)
		require.Error(t, err, name)
	}
	_, err = s.CreateVersion(t.Context(), upload("x"))
	require.ErrorContains(t, err, "needs the id of its pipeline")
	u := upload("x")
	u.PipelineID = "none"
	_, err = s.CreateVersion(t.Context(), u)
	require.Equal(t, apierr.NotFound, apierr.KindOf(err))

	list, err := s.List(t.Context(), listing.Query{Size: 10})
	require.NoError(t, err)
	require.EqualValues(t, 1, list.Total)
	versions, err := s.Versions(t.Context(), p.ID, listing.Query{Size: 10})
	require.NoError(t, err)
	require.EqualValues(t, 1, versions.Total)
}

func TestDefaultExperimentGoesByItsName(t *testing.T) {
	t.Parallel()
	s := enginetest.New(t).Experiments
	first, err := s.Default(t.Context())
	require.NoError(t, err)
	again, err := s.Default(t.Context())
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
	require.Equal(t, apierr.Aborted, apierr.KindOf(s.Delete(t.Context(), first.ID)))

	s = enginetest.New(t).Experiments
	byHand, err := s.Create(t.Context(), " Default ", "mine")
	require.NoError(t, err)
	again, err = s.Default(t.Context())
	require.NoError(t, err)
	require.Equal(t, byHand.ID, again.ID, "one made by hand serves as well")
	_, err = s.Create(t.Context(), " ", "")
	require.Equal(t, apierr.Invalid, apierr.KindOf(err))
}
