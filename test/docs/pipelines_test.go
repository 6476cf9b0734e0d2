package docs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/dsltest"
	"github.com/argosy-ml/argosy/sdk/train"
)

// The examples of docs/pipelines.md, docs/training.md and docs/scaling.md, each a pipeline that compiles. TestGoBlocks keeps the pages equal to them.

func Hello() *dsl.Pipeline {
	p := dsl.New("hello", dsl.Description("Says hello."))
	who := dsl.Param(p, "who", "world")
	dsl.Run(p, "greet", dsl.Container{
		Image:   dsl.Lit("alpine:3.22"),
		Command: dsl.Args("echo", dsl.Sprintf("hello, %v", who)),
	})
	return p
}

func parameters(p *dsl.Pipeline) {
	rate := dsl.Param(p, "rate", 0.1, dsl.Help("Learning rate"), dsl.Min(0.0), dsl.Max(1.0))
	mode := dsl.Param(p, "mode", "fast", dsl.Choices("fast", "exact"))
	data := dsl.Required[string](p, "data", dsl.Help("Folder of the training data"))
	dsl.Run(p, "fit", dsl.Container{
		Image: dsl.Lit("my/trainer:1"),
		Args:  dsl.Args("--rate", rate, "--mode", mode, "--data", data),
	})
}

func values(p *dsl.Pipeline) {
	count := dsl.Run(p, "count", dsl.Container{
		Image:   dsl.Lit("alpine:3.22"),
		Command: dsl.Args("sh", "-c", "ls /etc | wc -l > /tmp/files"),
	})
	files := dsl.Output[int](count, "files", "/tmp/files")
	dsl.Run(p, "show", dsl.Container{
		Image:   dsl.Lit("alpine:3.22"),
		Command: dsl.Args("echo", dsl.Sprintf("%v files", files)),
	})
}

func files(p *dsl.Pipeline) {
	table := dsl.Import[dsl.Dataset](p, dsl.FromHTTP(dsl.Lit("https://example.com/sales.csv")))
	fit := dsl.Run(p, "fit", dsl.Container{
		Image:   dsl.Lit("my/trainer:1"),
		Command: dsl.Args("fit", "--table", table, "--model", "/tmp/model"),
	})
	model := dsl.OutputFile[dsl.Model](fit, "model", "/tmp/model")
	dsl.Run(p, "evaluate", dsl.Container{
		Image:   dsl.Lit("my/trainer:1"),
		Command: dsl.Args("evaluate", "--model", model, "--table", table),
	})
}

type FitIn struct {
	Table dsl.File[dsl.Dataset]
	Rate  dsl.Value[float64]
}

type FitOut struct {
	Model dsl.File[dsl.Model]
	Loss  dsl.Value[float64]
}

var fit = dsl.Define("fit", func(in FitIn, out FitOut) dsl.Container {
	return dsl.Container{
		Image: dsl.Lit("my/trainer:1"),
		Command: dsl.Args("fit", "--table", in.Table, "--rate", in.Rate,
			"--model", dsl.Path(out.Model), "--loss", dsl.Path(out.Loss)),
	}
})

func components(p *dsl.Pipeline) {
	table := dsl.Import[dsl.Dataset](p, dsl.FromKey(dsl.Lit("data/sales.csv")))
	slow := fit.Add(p, FitIn{Table: table, Rate: dsl.Lit(0.01)})
	fast := fit.Add(p, FitIn{Table: table, Rate: dsl.Lit(0.1)})
	dsl.Run(p, "compare", dsl.Container{
		Image:   dsl.Lit("my/trainer:1"),
		Command: dsl.Args("compare", slow.Loss, fast.Loss),
	})
}

func scripts(p *dsl.Pipeline) {
	dsl.Run(p, "report", dsl.Script(dsl.Lit("python:3.13-slim"), "python3", `
import sys
print("rate", float(sys.argv[1]))
`, dsl.Param(p, "rate", 0.1)))
}

type HalfIn struct{ Number dsl.Value[int] }

type HalfOut struct{ Half dsl.Value[int] }

var half = dsl.Func("half", func(_ context.Context, in HalfIn, out *HalfOut) error {
	out.Half.Put(in.Number.Get() / 2)
	return nil
})

func functions(p *dsl.Pipeline) {
	n := dsl.Param(p, "n", 10)
	result := half.Add(p, HalfIn{Number: n})
	half.Add(p, HalfIn{Number: result.Half})
}

func branches(p *dsl.Pipeline) {
	mode := dsl.Param(p, "mode", "fast", dsl.Choices("fast", "exact"))
	table := dsl.Import[dsl.Dataset](p, dsl.FromKey(dsl.Lit("data/sales.csv")))

	var fast, exact FitOut
	p.If(dsl.Eq(mode, "fast"), func() {
		fast = fit.Add(p, FitIn{Table: table, Rate: dsl.Lit(0.1)})
	}).Else(func() {
		exact = fit.Add(p, FitIn{Table: table, Rate: dsl.Lit(0.001)})
	})
	model := dsl.OneOf(fast.Model, exact.Model)
	dsl.Run(p, "deploy", dsl.Container{Image: dsl.Lit("my/deployer:1"), Args: dsl.Args("--model", model)})
}

func loops(p *dsl.Pipeline) {
	rates := dsl.Param(p, "rates", []float64{0.1, 0.01, 0.001})
	table := dsl.Import[dsl.Dataset](p, dsl.FromKey(dsl.Lit("data/sales.csv")))

	fits := dsl.Each(p, rates, func(rate dsl.Value[float64]) FitOut {
		return fit.Add(p, FitIn{Table: table, Rate: rate})
	})
	dsl.Run(p, "pick", dsl.Container{
		Image: dsl.Lit("my/trainer:1"),
		Args:  dsl.Args("--losses", dsl.Collect(fits.Loss), "--models", dsl.CollectFiles(fits.Model)),
	})
}

type State struct{ Loss dsl.Value[float64] }

func improve(p *dsl.Pipeline, in State) State {
	return dsl.Sub(p, "improve", in, func(in State) State {
		epoch := dsl.Run(p, "epoch", dsl.Container{Image: dsl.Lit("my/trainer:1"), Args: dsl.Args("--loss", in.Loss)})
		next := State{Loss: dsl.Output[float64](epoch, "loss", "/tmp/loss")}
		var further State
		p.If(dsl.Gt(next.Loss, 0.01), func() { further = improve(p, next) })
		return State{Loss: dsl.OneOf(further.Loss, next.Loss)}
	})
}

func subPipelines(p *dsl.Pipeline) {
	best := improve(p, State{Loss: dsl.Lit(1.0)})
	dsl.Run(p, "report", dsl.Container{Image: dsl.Lit("alpine:3.22"), Command: dsl.Args("echo", best.Loss)})
}

func order(p *dsl.Pipeline) {
	prepare := dsl.Run(p, "prepare", dsl.Container{Image: dsl.Lit("my/tools:1"), Command: dsl.Args("prepare")})
	dsl.Run(p, "fit", dsl.Container{Image: dsl.Lit("my/trainer:1")}, dsl.After(prepare))
	p.OnExit(func() {
		dsl.Run(p, "tidy", dsl.Container{
			Image:   dsl.Lit("my/tools:1"),
			Command: dsl.Args("tidy", "--status", dsl.Argo("workflow.status")),
		})
	})
	p.OnFailure(func() {
		dsl.Run(p, "page", dsl.Container{Image: dsl.Lit("my/tools:1"), Command: dsl.Args("page")})
	})
}

func resources(p *dsl.Pipeline) {
	p.Defaults(dsl.Limits(dsl.Resources{CPU: dsl.Lit("1"), Memory: dsl.Lit("2Gi")}))
	scratch := p.NewClaim("scratch", "20Gi")
	dsl.Run(p, "fit", dsl.Container{Image: dsl.Lit("my/trainer:1")},
		dsl.GPUs(dsl.Param(p, "gpus", 1)),
		dsl.Limits(dsl.Resources{Memory: dsl.Lit("16Gi")}),
		dsl.Mount("/data", dsl.Claim(dsl.Lit("training-data")).ReadOnly()),
		dsl.Mount("/scratch", scratch),
		dsl.NodeSelector(map[string]dsl.Value[string]{"gpu": dsl.Lit("v100")}),
		dsl.Tolerate(dsl.Toleration{Key: "gpu"}))
}

func failures(p *dsl.Pipeline) {
	dsl.Run(p, "fetch", dsl.Container{Image: dsl.Lit("my/tools:1"), Command: dsl.Args("fetch")},
		dsl.Timeout(dsl.Lit(10*time.Minute)),
		dsl.Retries(dsl.Retry{
			Limit:   dsl.Lit(3),
			Policy:  dsl.RetryAlways,
			Backoff: dsl.Backoff{Wait: dsl.Lit(10 * time.Second), Factor: 2},
		}))
}

func caching(p *dsl.Pipeline) {
	dsl.Run(p, "fetch", dsl.Container{Image: dsl.Lit("my/tools:1"), Command: dsl.Args("fetch")}, dsl.NoCache())
	dsl.Run(p, "features", dsl.Container{Image: dsl.Lit("my/tools:1"), Command: dsl.Args("features")}, dsl.CacheFor(24*time.Hour))
}

func secrets(p *dsl.Pipeline) {
	dsl.Run(p, "push", dsl.Container{
		Image: dsl.Lit("my/tools:1"),
		Env: dsl.Env{
			"TOKEN": dsl.Secret("registry", "token"),
			"POD":   dsl.FieldRef("metadata.name"),
		},
	}, dsl.Mount("/config", dsl.ConfigMapFiles(dsl.Lit("settings"))))
}

func sidecars(p *dsl.Pipeline) {
	dsl.Run(p, "test", dsl.Container{Image: dsl.Lit("my/tools:1"), Command: dsl.Args("test", "--redis", "localhost:6379")},
		dsl.Sidecar("redis", dsl.Container{Image: dsl.Lit("redis:7")}))
}

func metrics(p *dsl.Pipeline) {
	evaluate := dsl.Run(p, "evaluate", dsl.Script(dsl.Lit("python:3.13-slim"), "python3", `
import json
json.dump({"metrics": [{"name": "accuracy", "numberValue": 0.93, "format": "PERCENTAGE"}]}, open("/tmp/metrics", "w"))
page = {"outputs": [{"type": "markdown", "storage": "inline", "source": "# Fine"}]}
json.dump(page, open("/tmp/page", "w"))
`))
	dsl.OutputFile[dsl.Metrics](evaluate, "mlpipeline-metrics", "/tmp/metrics")
	dsl.OutputFile[dsl.HTML](evaluate, "mlpipeline-ui-metadata", "/tmp/page")
}

func pyTorch(p *dsl.Pipeline) {
	train.PyTorchJob(p, "ddp", train.PyTorch{
		Image:   dsl.Lit("pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime"),
		Workers: dsl.Param(p, "workers", 4),
		GPUs:    dsl.Lit(8),
		Slots:   dsl.Lit(8), // processes of torchrun on each worker
		Memory:  dsl.Lit("200Gi"),
		Data:    []dsl.Value[string]{dsl.Lit("training-data:/data")},
		Git:     train.Git{Repo: dsl.Lit("https://git.example.com/team/model.git"), Branch: dsl.Lit("main")},
		Command: dsl.Lit("torchrun code/model/train.py --data /data"),
		Metrics: []train.Metric{
			{Name: "loss", Reduce: train.Min},
			{Name: "samples/sec", Reduce: train.SumOverRanks},
		},
	})
}

func roles(p *dsl.Pipeline) {
	train.TFJob(p, "ps", train.TF{
		Spec: train.Spec{
			Image:   dsl.Lit("my/trainer:1"),
			Command: dsl.Lit("python3 train.py"),
			Workers: dsl.Lit(4),
			CPU:     dsl.Lit("4"),
			Gang:    dsl.Lit(true),
			Queue:   dsl.Lit("research"),
		},
		PS:     train.Role{Replicas: dsl.Lit(2), CPU: dsl.Lit("2")},
		Chief:  train.Role{Replicas: dsl.Lit(1)},
		Worker: train.Role{GPUs: dsl.Lit(1)},
	})
}

func probed(p *dsl.Pipeline) {
	workers := dsl.Param(p, "workers", 1)
	probe := dsl.Param(p, "probe", false)
	train.MPIJob(p, "train", train.MPI{Image: dsl.Lit("my/trainer:1"), Command: dsl.Lit("mpirun python3 train.py"), Workers: workers, Probe: probe})
}

func measured(p *dsl.Pipeline) {
	workers := train.Vary("workers", 1, 2, 4)
	network := train.Vary("network", train.Host, train.ENI)
	train.Sweep(p, train.Matrix{Axes: []train.AnyAxis{workers, network}, Repeats: 6}, func(c train.Cell) {
		train.MPIJob(p, "train", train.MPI{
			Image:   dsl.Lit("my/trainer:1"),
			Workers: workers.Of(c),
			Network: network.Of(c),
			Slots:   dsl.Lit(8),
			Command: dsl.Lit("mpirun python3 train.py"),
			Metrics: []train.Metric{{Name: "images/sec", Reduce: train.SumOverRanks}},
		})
	})
}

func limits(p *dsl.Pipeline) {
	train.MPIJob(p, "train", train.MPI{
		Image:          dsl.Lit("my/trainer:1"),
		Workers:        dsl.Lit(2),
		Command:        dsl.Lit("mpirun python3 train.py"),
		PendingTimeout: dsl.Lit(30 * time.Minute), // fail when the job has not started by then
		RunningTimeout: dsl.Lit(12 * time.Hour),
		Retries:        dsl.Lit(2), // start the job again when it fails
	}, dsl.CacheKey(dsl.Sprintf("weights-%v", dsl.Param(p, "dataset", "2026-11"))))
}

// TestExamples compiles every example.
func TestExamples(t *testing.T) {
	t.Parallel()
	_, err := compiler.Compile(Hello())
	require.NoError(t, err)
	for name, record := range map[string]func(*dsl.Pipeline){
		"parameters": parameters, "values": values, "files": files, "components": components, "scripts": scripts,
		"branches": branches, "loops": loops, "sub-pipelines": subPipelines, "order": order, "resources": resources,
		"failures": failures, "caching": caching, "secrets": secrets, "sidecars": sidecars, "metrics": metrics,
		"pytorch": pyTorch, "roles": roles, "limits": limits, "measured": measured, "probed": probed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := dsl.New(name)
			record(p)
			_, err := compiler.Compile(p)
			require.NoError(t, err)
		})
	}
	t.Run("functions", func(t *testing.T) {
		t.Parallel()
		p := dsl.New("functions", dsl.Program(dsl.Lit("my/pipelines:1"), "/pipelines"))
		functions(p)
		_, err := compiler.Compile(p)
		require.NoError(t, err)
	})
}

func TestLoop(t *testing.T) {
	t.Parallel()
	p := dsl.New("loops")
	loops(p)
	run := dsltest.Run(t, p, dsltest.Params{"rates": []float64{0.1, 0.2}}, dsltest.Steps{
		"fit": func(dsltest.Call) (dsltest.Outputs, error) {
			return dsltest.Outputs{"loss": 0.5}, nil
		},
	})
	require.Equal(t, "Succeeded", run.Status)
	require.Len(t, run.Of("fit"), 2)
}
