// Command tf_ps compiles a pipeline of one step: a TFJob with parameter servers, workers and a chief, which Volcano
// places together.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// program travels in the pipeline itself: any image with Python and NumPy can run it.
//
//go:embed model.py
var program string

// TFPS is the pipeline. A run can set all of its parameters; data can be empty.
func TFPS() *dsl.Pipeline {
	p := dsl.New("tf-ps", dsl.Description("Trains with parameter servers: a TFJob as a gang, its servers near its workers."))

	image := dsl.Param(p, "image", "tensorflow/tensorflow:2.19.0", dsl.Help("Container image of all roles"))
	servers := dsl.Param(p, "num_ps", 1, dsl.Help("Number of parameter servers"))
	workers := dsl.Param(p, "num_workers", 2, dsl.Help("Number of workers beside the chief"))
	cpu := dsl.Param(p, "cpu_limit", "500m", dsl.Help("CPUs of each pod"))
	memory := dsl.Param(p, "memory_limit", "512Mi", dsl.Help("Memory of each pod"))
	steps := dsl.Param(p, "train_steps", 600, dsl.Help("Gradients of all trainers together"))
	batch := dsl.Param(p, "batch_size", 64, dsl.Help("Examples of each gradient"))
	rate := dsl.Param(p, "learning_rate", 0.1, dsl.Help("Learning rate"))
	data := dsl.Param(p, "data", "", dsl.Help("Volume for the model, as claim:/export; empty for none"))
	export := dsl.Param(p, "export", "", dsl.Help("Bucket for the model, as s3://BUCKET/PATH; empty for the volume"))
	endpoint := dsl.Param(p, "s3_endpoint", "http://minio-service.kubeflow:9000", dsl.Help("S3 store of that bucket"))
	queue := dsl.Param(p, "queue", "default", dsl.Help("Volcano's queue"))

	train.TFJob(p, "train", train.TF{
		Spec: train.Spec{
			Image:   image,
			Workers: workers,
			CPU:     cpu,
			Memory:  memory,
			Data:    []dsl.Value[string]{data},
			Command: dsl.Sprintf("cat >/tmp/model.py <<'END'\n%sEND\nif [ -z \"$EXPORT\" ] && [ -d /export ]; then EXPORT=/export; fi\n"+
				"exec python3 /tmp/model.py --tf-export-dir=\"$EXPORT\" --tf-train-steps=%v --tf-batch-size=%v --tf-learning-rate=%v", program, steps, batch, rate),
			Env: dsl.Env{
				"EXPORT":      export,
				"S3_ENDPOINT": endpoint,
				// The keys stay in the secret: only the job's pods read them.
				"AWS_ACCESS_KEY_ID":     dsl.Secret("mlpipeline-minio-artifact", "accesskey"),
				"AWS_SECRET_ACCESS_KEY": dsl.Secret("mlpipeline-minio-artifact", "secretkey"),
			},
			// A process that fails starts again in its pod, and finds the others by the same addresses.
			RestartPolicy: train.RestartOnFailure,
			Retries:       dsl.Lit(3),
			Annotations:   map[string]dsl.Value[string]{"sidecar.istio.io/inject": dsl.Lit("false")},
			Gang:          dsl.Lit(true),
			Scheduler:     dsl.Lit("volcano"),
			Queue:         queue,
			Topology:      train.Topology{Affinity: [][]string{{"ps", "worker", "chief"}}, Order: []string{"ps", "worker", "chief"}},
			Metrics: []train.Metric{
				{Name: "accuracy", Format: train.Percentage},
				{Name: "loss", Reduce: train.Mean},
				{Name: "examples/sec", Reduce: train.SumOverRanks},
			},
		},
		PS:    train.Role{Replicas: servers},
		Chief: train.Role{Replicas: dsl.Lit(1)},
	})
	return p
}

func main() { compiler.Main(TFPS) }
