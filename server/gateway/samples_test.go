package gateway_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/samples"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/sample"
)

// offers is a cluster of one node.
type offers struct {
	cpu, memory, gpus float64
	mpiJobs           bool
}

func (o offers) Overview(context.Context) (cluster.Overview, error) {
	return cluster.Overview{Nodes: []cluster.Node{{
		Ready: true, Schedulable: true, Allocatable: cluster.Amounts{"cpu": o.cpu, "memory": o.memory, "nvidia.com/gpu": o.gpus},
	}}}, nil
}

func (o offers) Serves(context.Context, string) (bool, error) { return o.mpiJobs, nil }

// listed are the samples that a server offers.
func (s *server) listed(t *testing.T) (all []struct {
	Name, Lacks string
	Parameters  []run.Parameter
},
) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(s.get(t, "/apis/argosy/v1/samples", 200)), &struct{ Samples any }{&all}))
	return all
}

func TestSampleStarts(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	s := start(t, func(s *server) {
		s.offers = offers{cpu: 1, memory: 3 << 30, mpiJobs: true}
		s.machine = sample.Machine{Shared: shared}
	})
	all := s.listed(t)
	require.Equal(t, []string{"mpi_run", "data_pipeline"}, []string{all[0].Name, all[1].Name})
	repository := filepath.Join(shared, "samples", "benchmarks.git")
	want := []run.Parameter{
		{Name: "image", Value: "host"},
		{Name: "workers", Value: "2"},
		{Name: "gpus", Value: "0"},
		{Name: "data"},
		{Name: "cpu_limit", Value: "500m"},
		{Name: "memory_limit", Value: "1536Mi"},
		{Name: "sync_source", Value: repository},
	}
	require.Equal(t, want, all[0].Parameters)

	first := s.post(t, "/apis/argosy/v1/samples/mpi_run:start", "{}", 200)
	second := s.post(t, "/apis/argosy/v1/samples/mpi_run:start", "{}", 200)
	require.NotEqual(t, field(t, first, "run_id"), field(t, second, "run_id"))
	require.Equal(t, field(t, first, "pipeline_version_id"), field(t, second, "pipeline_version_id"))
	require.Contains(t, s.get(t, "/apis/v1beta1/pipelines", 200), `"total_size":1`)
	require.Contains(t, s.get(t, "/apis/v1beta1/pipeline_versions?resource_key.type=PIPELINE&resource_key.id="+field(t, first, "pipeline_id"), 200), `"total_size":1`)
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs", 200), `"total_size":2`)
	kept, err := s.store.Run(t.Context(), field(t, first, "run_id"))
	require.NoError(t, err)
	require.ElementsMatch(t, want, kept.Parameters)
	files, err := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "-C", repository, "ls-tree", "-r", "--name-only", samples.Branch).Output()
	require.NoError(t, err)
	require.Contains(t, string(files), "scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py\n")

	require.Contains(t, s.post(t, "/apis/argosy/v1/samples/none:start", "{}", 404), `sample \"none\" not found; there are mpi_run, data_pipeline`)
}

// A pipeline that has the sample's name and another Workflow gets a version, and keeps its default.
func TestSampleBesideAPipelineOfItsName(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.pipeline(t, "data_pipeline")
	first := s.post(t, "/apis/argosy/v1/samples/data_pipeline:start", "{}", 200)
	second := s.post(t, "/apis/argosy/v1/samples/data_pipeline:start", "{}", 200)
	require.Equal(t, id, field(t, first, "pipeline_id"))
	require.NotEqual(t, id, field(t, first, "pipeline_version_id"), "the first version has the pipeline's id")
	require.Equal(t, field(t, first, "pipeline_version_id"), field(t, second, "pipeline_version_id"))
	require.Equal(t, id, field(t, s.get(t, "/apis/v1beta1/pipelines/"+id, 200), "default_version", "id"))
}

// On a cluster of another kind the images are those of the packages, and mpi_run needs GPUs.
func TestSamplesFitTheCluster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		offers  offers
		machine sample.Machine
		first   string
		lacks   string
	}{
		"GPUs":            {offers{cpu: 64, memory: 1 << 40, gpus: 8, mpiJobs: true}, sample.Machine{}, "mpi_run", ""},
		"one GPU":         {offers{cpu: 64, memory: 1 << 40, gpus: 1, mpiJobs: true}, sample.Machine{}, "data_pipeline", "it needs 2 GPUs (nvidia.com/gpu), and the nodes offer 1"},
		"no MPI operator": {offers{cpu: 64, memory: 1 << 40, gpus: 8}, sample.Machine{}, "data_pipeline", "no MPI operator"},
		"no programs": {
			offers{cpu: 1, memory: 1 << 30, mpiJobs: true},
			sample.Machine{Shared: t.TempDir(), Lacks: func(context.Context) (string, error) { return "there is no mpirun", nil }},
			"data_pipeline", "there is no mpirun",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(s *server) { s.offers, s.machine = c.offers, c.machine })
			all := s.listed(t)
			require.Equal(t, c.first, all[0].Name)
			require.Empty(t, all[0].Lacks)
			if c.lacks == "" {
				require.Equal(t, []run.Parameter{{Name: "workers", Value: "2"}, {Name: "gpus", Value: "1"}, {Name: "data"}}, all[0].Parameters)
				return
			}
			require.Contains(t, all[1].Lacks, c.lacks)
			require.Contains(t, s.post(t, "/apis/argosy/v1/samples/mpi_run:start", "{}", 409), c.lacks)
		})
	}
}

// A run that the cluster refuses leaves no pipeline behind.
func TestRefusedSampleLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *server) {
		s.engine.refuse = apierr.New(apierr.Invalid, "the cluster can never hold it")
	})
	require.Contains(t, s.post(t, "/apis/argosy/v1/samples/data_pipeline:start", "{}", 400), "can never hold it")
	pipelines, err := s.store.Pipelines(t.Context(), listing.Query{Size: 1})
	require.NoError(t, err)
	require.Zero(t, pipelines.Total)
	require.Equal(t, `{}`, strings.ReplaceAll(s.get(t, "/apis/v1beta1/runs", 200), " ", ""))
}

// A sample needs the password, as runs do.
func TestSamplesNeedThePassword(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *server) { s.password = "correct horse battery" })
	status, _, _ := s.do(t, "POST", "/apis/argosy/v1/samples/data_pipeline:start", "application/json", strings.NewReader("{}"))
	require.Equal(t, 401, status)
	status, _, _ = s.do(t, "POST", "/apis/argosy/v1/samples/data_pipeline:start", "application/json", strings.NewReader("{}"), "Authorization", "Bearer correct horse battery")
	require.Equal(t, 200, status)
}
