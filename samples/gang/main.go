// Command gang compiles a pipeline of two TFJobs that start at once, where the cluster has room for one of them.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// program travels in the pipeline itself: any image with Python can run it.
//
//go:embed worker.py
var program string

// Gang is the pipeline. A run can set all of its parameters.
func Gang() *dsl.Pipeline {
	p := dsl.New("gang", dsl.Description("Two TFJobs for the same GPUs. As gangs they take turns; pod by pod each can hold half of the GPUs and wait for the other for ever."))

	image := dsl.Param(p, "image", "python:3.13-slim", dsl.Help("Container image of all workers"))
	workers := dsl.Param(p, "num_workers", 4, dsl.Help("Workers of each job"))
	gpus := dsl.Param(p, "gpus", 1, dsl.Help("GPUs of each worker"))
	gang := dsl.Param(p, "gang", true, dsl.Help("Place all workers of a job together or none; false: each as it finds room"))
	queue := dsl.Param(p, "queue", "default", dsl.Help("Volcano's queue"))

	for _, name := range []string{"tfjob1", "tfjob2"} {
		train.TFJob(p, name, train.TF{Spec: train.Spec{
			Image:   image,
			Command: dsl.Lit("cat >/tmp/worker.py <<'END'\n" + program + "END\nexec python3 /tmp/worker.py"),
			Workers: workers,
			GPUs:    gpus,
			Gang:    gang,
			Queue:   queue,
			// All of them end by themselves.
			CleanPodPolicy: train.CleanNone,
		}})
	}
	return p
}

func main() { compiler.Main(Gang) }
