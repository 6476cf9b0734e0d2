// Command mpi_run compiles a pipeline of one step: an MPIJob that trains ResNet-101 with synchronous all-reduce
// and reports its throughput.
package main

import (
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// MPIRun is the pipeline. A run can set all of its parameters; data can be empty.
func MPIRun() *dsl.Pipeline {
	p := dsl.New("mpi-run", dsl.Description("Trains ResNet-101 on several workers with an MPIJob and reports images/sec."))

	image := dsl.Param(p, "image", "uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5", dsl.Help("Container image of the workers"))
	batchSize := dsl.Param(p, "batch_size", "64", dsl.Help("Images per step and worker process"))
	optimizer := dsl.Param(p, "optimizer", "momentum", dsl.Help("Optimizer, such as momentum or sgd"))
	syncSource := dsl.Param(p, "sync_source", "https://github.com/tensorflow/benchmarks.git", dsl.Help("Git repository of the training code"))
	syncBranch := dsl.Param(p, "git_sync_branch", "cnn_tf_v1.9_compatible", dsl.Help("Branch of the training code"))
	data := dsl.Param(p, "data", "user-susan:/training", dsl.Help("Volume claim to mount, as claim:/path; empty for none"))
	gpus := dsl.Param(p, "gpus", 1, dsl.Help("GPUs of each worker; 0 for none"))
	workers := dsl.Param(p, "workers", 1, dsl.Help("Number of workers"))
	cpu := dsl.Param(p, "cpu_limit", "2", dsl.Help("CPUs of each worker"))
	metric := dsl.Param(p, "metric", "images/sec", dsl.Help("What to read from the output"))
	memory := dsl.Param(p, "memory_limit", "10Gi", dsl.Help("Memory of each worker"))

	train.MPIJob(p, "all-reduce", train.MPI{
		Image:   image,
		Workers: workers,
		GPUs:    gpus,
		CPU:     cpu,
		Memory:  memory,
		Data:    []dsl.Value[string]{data},
		Env:     dsl.Env{"NCCL_DEBUG": dsl.Lit("INFO"), "GIT_SYNC_BRANCH": syncBranch},
		Git:     train.Git{Repo: syncSource, Branch: syncBranch},
		Metrics: []train.Metric{{NameFrom: metric}},
		Command: dsl.Sprintf("mpirun python code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"+
			" --model resnet101 --batch_size %v --variable_update horovod --optimizer %v"+
			" --summary_verbosity=3 --save_summaries_steps=10", batchSize, optimizer),
	})
	return p
}

func main() { compiler.Main(MPIRun) }
