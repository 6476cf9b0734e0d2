// Command pytorch_ddp compiles a pipeline of one step: a PyTorchJob whose workers train a network together.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// program travels in the pipeline itself: any image with PyTorch can run it.
//
//go:embed train.py
var program string

// PyTorchDDP is the pipeline. A run can set all of its parameters; data can be empty.
func PyTorchDDP() *dsl.Pipeline {
	p := dsl.New("pytorch-ddp", dsl.Description("Trains a small network with PyTorch's DistributedDataParallel on several workers."))

	image := dsl.Param(p, "image", "pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime", dsl.Help("Container image with PyTorch"))
	workers := dsl.Param(p, "workers", 2, dsl.Help("Number of workers, the master among them"))
	gpus := dsl.Param(p, "gpus", 0, dsl.Help("GPUs of each worker; 0 for training on CPUs, with gloo"))
	cpu := dsl.Param(p, "cpu_limit", "1", dsl.Help("CPUs of each worker"))
	memory := dsl.Param(p, "memory_limit", "2Gi", dsl.Help("Memory of each worker"))
	epochs := dsl.Param(p, "epochs", 3, dsl.Help("How often all examples are seen"))
	batch := dsl.Param(p, "batch_size", 64, dsl.Help("Examples of each step and worker"))
	rate := dsl.Param(p, "learning_rate", 0.05, dsl.Help("Learning rate"))
	data := dsl.Param(p, "data", "", dsl.Help("Volume for checkpoints, as claim:/checkpoints; empty for none"))

	train.PyTorchJob(p, "ddp", train.PyTorch{
		Image:   image,
		Workers: workers,
		GPUs:    gpus,
		CPU:     cpu,
		Memory:  memory,
		Data:    []dsl.Value[string]{data},
		Command: dsl.Sprintf("cat >/tmp/train.py <<'END'\n%sEND\nif [ -d /checkpoints ]; then set -- --checkpoint /checkpoints; fi\n"+
			"exec python3 /tmp/train.py --epochs %v --batch-size %v --learning-rate %v \"$@\"", program, epochs, batch, rate),
		Metrics: []train.Metric{
			{Name: "accuracy", Format: train.Percentage},
			{Name: "loss"},
			{Name: "samples/sec", Reduce: train.SumOverRanks},
		},
	})
	return p
}

func main() { compiler.Main(PyTorchDDP) }
