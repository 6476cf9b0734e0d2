package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/argosy-ml/argosy/compiler"
)

// The parameters are what the people who start runs, and their scripts, rely on.
func TestMPIRunKeepsItsParameters(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(MPIRun())
	require.NoError(t, err)

	type parameter struct{ Name, Value string }
	var workflow struct {
		Metadata struct {
			GenerateName string `yaml:"generateName"`
		}
		Spec struct {
			Arguments struct{ Parameters []parameter }
		}
	}
	require.NoError(t, yaml.Unmarshal(manifest, &workflow))
	require.Equal(t, "mpi-run-", workflow.Metadata.GenerateName)
	require.Equal(t, []parameter{
		{"image", "uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5"},
		{"batch_size", "64"},
		{"optimizer", "momentum"},
		{"sync_source", "https://github.com/tensorflow/benchmarks.git"},
		{"git_sync_branch", "cnn_tf_v1.9_compatible"},
		{"data", "user-susan:/training"},
		{"gpus", "1"},
		{"workers", "1"},
		{"cpu_limit", "2"},
		{"metric", "images/sec"},
		{"memory_limit", "10Gi"},
	}, workflow.Spec.Arguments.Parameters)
}
