// Command eks_benchmark compiles a pipeline that benchmarks distributed training: it prepares storage and a dataset, runs an
// experiment for each number of workers, and copies the results to the object store, however the experiments ended.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// The programs travel in the pipeline itself: any image with Python and Open MPI can run them.
var (
	//go:embed dataset.py
	datasetProgram string
	//go:embed experiment.py
	experimentProgram string
	//go:embed results.py
	resultsProgram string
)

// Results are the figures and logs of all experiments, as a folder.
type Results struct{}

type copyIn struct {
	Image   dsl.Value[string]
	Workers dsl.Value[[]int]
	Status  dsl.Value[string]
}

type copyOut struct {
	Results dsl.File[Results]
}

var copyResults = dsl.Define("copy-results", func(in copyIn, out copyOut) dsl.Container {
	return dsl.Script(in.Image, "python3", resultsProgram, "/shared/results", dsl.Path(out.Results), in.Status, in.Workers)
})

// claim is the storage that all steps of a run share.
const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: %v
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: %v
`

// EKSBenchmark is the pipeline. A run can change all of its parameters.
func EKSBenchmark() *dsl.Pipeline {
	p := dsl.New("eks-benchmark", dsl.Description("Benchmarks distributed training with several numbers of workers, and keeps the results."))
	image := dsl.Param(p, "image", "horovod/horovod:0.28.1", dsl.Help("Container image with Python and Open MPI"))
	workers := dsl.Param(p, "workers", []int{1, 2}, dsl.Help("Numbers of workers, an experiment each"))
	images := dsl.Param(p, "images", 2000, dsl.Help("Images of the dataset"), dsl.Min(1))
	batch := dsl.Param(p, "batch_size", 32, dsl.Help("Images per step and worker"), dsl.Min(1))
	steps := dsl.Param(p, "steps", 40, dsl.Help("Steps of each experiment"), dsl.Min(1))
	cpu := dsl.Param(p, "cpu_limit", "500m", dsl.Help("CPUs of each worker"))
	memory := dsl.Param(p, "memory_limit", "512Mi", dsl.Help("Memory of each worker"))
	gpus := dsl.Param(p, "gpus", 0, dsl.Help("GPUs of each worker; 0 for none"))
	size := dsl.Param(p, "storage_size", "1Gi", dsl.Help("Size of the shared storage"))
	teardown := dsl.Param(p, "teardown", true, dsl.Help("Delete the shared storage at the end"))

	name := dsl.Sprintf("%v-shared", dsl.Argo("workflow.name"))
	shared := dsl.Mount("/shared", dsl.Claim(name))
	storage := dsl.Manage(p, "prepare-storage", dsl.Resource{Action: "create", Manifest: dsl.Sprintf(claim, name, size)})
	dataset := dsl.Run(p, "copy-dataset",
		dsl.Script(image, "python3", datasetProgram, "/shared/dataset", images, "/shared/experiment.py", experimentProgram), shared, dsl.After(storage))
	dsl.Each(p, workers, func(n dsl.Value[int]) train.Outputs {
		return train.MPIJob(p, "experiment", train.MPI{
			Image: image, Workers: n, Slots: dsl.Lit(1), GPUs: gpus, CPU: cpu, Memory: memory,
			Data: []dsl.Value[string]{dsl.Sprintf("%v:/shared", name)},
			Command: dsl.Sprintf("mkdir -p /shared/results && mpirun --allow-run-as-root --oversubscribe -np %v"+
				" python3 /shared/experiment.py /shared/dataset %v %v 2>&1 | tee /shared/results/%v-workers.log", n, batch, steps, n),
			Metrics: []train.Metric{{Name: "images/sec", Reduce: train.SumOverRanks}},
		}, dsl.After(dataset))
	})
	p.OnExit(func() {
		results := copyResults.Add(p, copyIn{Image: image, Workers: workers, Status: dsl.Argo("workflow.status")}, shared)
		p.If(dsl.Eq(teardown, true), func() {
			// Kubernetes keeps a claim until the pods that mount it are gone, which go with the run: the step does not wait for that.
			remove := dsl.Resource{Action: "delete", Manifest: dsl.Sprintf(claim, name, size), Flags: dsl.Args("--wait=false")}
			dsl.Manage(p, "delete-storage", remove, dsl.After(results.Results))
		})
	})
	return p
}

func main() { compiler.Main(EKSBenchmark) }
