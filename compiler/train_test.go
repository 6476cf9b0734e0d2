package compiler_test

import (
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// jobs has a step of every kind, whose values are constants, parameters and outputs of steps before. That every field
// arrives at the launcher is tested with it, in cmd/argosy-launcher.
func jobs() *dsl.Pipeline {
	p := dsl.New("jobs", dsl.Description("a job of every kind"))
	image := dsl.Param(p, "image", "trainer:1")
	network := dsl.Param(p, "network", train.ENI, dsl.Help("CNI, Host or ENI"))
	gang := dsl.Param(p, "gang", true)
	base := train.Spec{Image: image, Command: dsl.Lit("python train.py \"$HOME\""), Workers: dsl.Lit(2)}

	torch := base
	torch.Slots, torch.Network, torch.Gang, torch.TTL = dsl.Param(p, "processes", 8), network, gang, dsl.Param(p, "keep", time.Hour)
	torch.Metrics = []train.Metric{{Name: "speed", Reduce: train.Mean, Pattern: `^\s*\d+ +[\d.]+ +([\d.]+)`}}
	torch.NodeSelector = map[string]dsl.Value[string]{"gpu": dsl.Param(p, "gpu", "v100")}
	first := train.PyTorchJob(p, "torch", train.PyTorch(torch))

	tf := train.TF{Spec: base, PS: train.Role{Replicas: first.WorldSize, Command: dsl.Sprintf("python ps.py --after %v", first.JobName)}, Chief: train.Role{Replicas: dsl.Lit(1)}}
	tf.Topology = train.Topology{Affinity: [][]string{{"ps", "worker"}, {"ps", "chief"}}}
	tf.Devices = map[string]dsl.Value[int]{"amd.com/gpu": dsl.Param(p, "amd", 4)}
	train.TFJob(p, "tf", tf)

	train.XGBoostJob(p, "xgboost", train.XGBoost(base))
	train.PaddleJob(p, "paddle", train.Paddle(base))
	train.JAXJob(p, "jax", train.JAX(base))
	train.MXJob(p, "mx", train.MX{Spec: base, Server: train.Role{CPU: dsl.Lit("4")}})
	train.TrainJob(p, "trainer", train.TrainSpec(base))
	train.VolcanoJob(p, "volcano", train.Volcano{Spec: base, Tasks: []train.Task{{Name: "master", Ends: true}, {Name: "worker", Role: train.Role{Replicas: dsl.Lit(2)}}}})
	single := base
	single.Workers, single.Retries = dsl.Value[int]{}, dsl.Lit(3)
	train.Job(p, "single", train.Single(single))
	return p
}

// sweep measures a job with each combination of three values and two.
func sweep() *dsl.Pipeline {
	p := dsl.New("sweep", dsl.Description("a matrix of parameters in one pipeline"))
	workers := train.Vary("workers", 1, 2, 4)
	network := train.Vary("network", train.Host, train.ENI)
	train.Sweep(p, train.Matrix{Axes: []train.AnyAxis{workers, network}, Repeats: 2}, func(c train.Cell) {
		train.MPIJob(p, "all-reduce", train.MPI{
			Image: dsl.Param(p, "image", "horovod:1"), Workers: workers.Of(c), Network: network.Of(c), Slots: dsl.Lit(2),
			Command: dsl.Lit("mpirun python train.py"), Metrics: []train.Metric{{Name: "images/sec", Reduce: train.SumOverRanks}},
		})
	})
	return p
}
