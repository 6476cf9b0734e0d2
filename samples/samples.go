// Package samples holds the samples that the server can start: their Workflows, as the compiler writes them, and what they train from.
package samples

import (
	"embed"
	"io/fs"
)

// files are the Workflows, which `go test ./samples -update` writes, and the sources of the training.
//
//go:embed mpi_run/mpi_run.yaml data_pipeline/data_pipeline.yaml mpi_run/benchmarks
var files embed.FS

// Branch is the branch that mpi_run trains from.
const Branch = "cnn_tf_v1.9_compatible"

// Sample is a pipeline with what it needs.
type Sample struct {
	Name        string // of its folder
	Workflow    []byte
	Distributed bool   // it is an MPIJob
	Repository  string // what the git repository is called that it trains from: its step expects the folder of that name; empty: none
	Source      fs.FS  // the files of the repository
}

// All gives the samples, the one to begin with first.
func All() []Sample {
	source, err := fs.Sub(files, "mpi_run/benchmarks")
	if err != nil {
		panic(err) // the path is in order
	}
	return []Sample{
		{Name: "mpi_run", Workflow: workflow("mpi_run"), Distributed: true, Repository: "benchmarks.git", Source: source},
		{Name: "data_pipeline", Workflow: workflow("data_pipeline")},
	}
}

func workflow(name string) []byte {
	data, err := files.ReadFile(name + "/" + name + ".yaml")
	if err != nil {
		panic(err) // it is embedded
	}
	return data
}
