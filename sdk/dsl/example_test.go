package dsl_test

import (
	"fmt"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

func Example() {
	p := dsl.New("hello", dsl.Description("says hello"))
	who := dsl.Param(p, "who", "world")
	greet := dsl.Run(p, "greet", dsl.Container{
		Image:   dsl.Lit("alpine:3.22"),
		Command: dsl.Args("sh", "-c", `echo "hello, $0" | tee /tmp/greeting`, who),
	})
	greeting := dsl.Output[string](greet, "greeting", "/tmp/greeting")
	dsl.Run(p, "answer", dsl.Container{
		Image:   dsl.Lit("alpine:3.22"),
		Command: dsl.Args("echo", dsl.Sprintf("they said %v", greeting)),
	})

	g, err := p.Graph()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range g.Nodes {
		fmt.Println(n.Name, "after", n.After)
	}
	// Output:
	// greet after []
	// answer after [greet]
}

// The outputs of a component are typed: giving a model where a rate is wanted does not compile.
func ExampleDefine() {
	type in struct {
		Data dsl.Value[string]
		Rate dsl.Value[float64]
	}
	type out struct {
		Model dsl.Value[string]
		Loss  dsl.Value[float64]
	}
	fit := dsl.Define("fit", func(in in, out out) dsl.Container {
		return dsl.Container{
			Image: dsl.Lit("python:3.13"),
			Command: dsl.Args("python", "fit.py", "--data", in.Data, "--rate", in.Rate,
				"--model", dsl.Path(out.Model), "--loss", dsl.Path(out.Loss)),
		}
	})

	p := dsl.New("sweep")
	rates := dsl.Param(p, "rates", []float64{0.1, 0.01})
	all := dsl.Each(p, rates, func(rate dsl.Value[float64]) out {
		return fit.Add(p, in{Data: dsl.Lit("s3://data"), Rate: rate})
	})
	dsl.Run(p, "compare", dsl.Container{
		Image: dsl.Lit("python:3.13"),
		Args:  dsl.Args(dsl.Collect(all.Model), dsl.Collect(all.Loss)),
	})

	g, err := p.Graph()
	fmt.Println(len(g.Nodes), err)
	// Output: 2 <nil>
}

// Of the branches of an If one runs, and what comes after goes on with its output.
func ExampleOneOf() {
	p := dsl.New("choose")
	mode := dsl.Param(p, "mode", "fast", dsl.Choices("fast", "exact"))
	run := func(name string) dsl.File[dsl.Model] {
		step := dsl.Run(p, name, dsl.Container{Image: dsl.Lit("python:3.13"), Command: dsl.Args("fit", "/tmp/model")})
		return dsl.OutputFile[dsl.Model](step, "model", "/tmp/model")
	}
	var fast, exact dsl.File[dsl.Model]
	p.If(dsl.Eq(mode, "fast"), func() { fast = run("fit-fast") }).
		Else(func() { exact = run("fit-exact") })
	dsl.Run(p, "deploy", dsl.Container{Image: dsl.Lit("deployer:1"), Args: dsl.Args("--model", dsl.OneOf(fast, exact))})

	g, err := p.Graph()
	fmt.Println(g.Nodes[1].Name, g.Nodes[1].After, err)
	// Output: deploy [condition-1] <nil>
}

type state struct {
	Loss  dsl.Value[float64]
	Model dsl.File[dsl.Model]
}

// improve trains a model until its loss is small, by calling itself.
func improve(p *dsl.Pipeline, in state) state {
	return dsl.Sub(p, "improve", in, func(in state) state {
		epoch := dsl.Run(p, "epoch", dsl.Container{Image: dsl.Lit("python:3.13"), Args: dsl.Args(in.Model, in.Loss)})
		next := state{dsl.Output[float64](epoch, "loss", "/tmp/loss"), dsl.OutputFile[dsl.Model](epoch, "model", "/tmp/model")}
		var further state
		p.If(dsl.Gt(next.Loss, 0.01), func() { further = improve(p, next) })
		return state{dsl.OneOf(further.Loss, next.Loss), dsl.OneOf(further.Model, next.Model)}
	})
}

// A sub-pipeline is one step for those around it, and may call itself.
func ExampleSub() {
	p := dsl.New("until-good")
	start := dsl.Import[dsl.Model](p, dsl.FromKey(dsl.Lit("models/start")))
	best := improve(p, state{dsl.Lit(1.0), start})
	dsl.Run(p, "deploy", dsl.Container{Image: dsl.Lit("deployer:1"), Args: dsl.Args(best.Model, best.Loss)})

	g, err := p.Graph()
	fmt.Println(len(g.Nodes), len(g.Subs), err)
	// Output: 2 1 <nil>
}

// What a step asks of the cluster are options; those of all steps are defaults.
func ExamplePipeline_Defaults() {
	p := dsl.New("gpu", dsl.Parallelism(4), dsl.Timeout(dsl.Lit(12*time.Hour)))
	p.Defaults(
		dsl.Limits(dsl.Resources{Memory: dsl.Lit("4Gi")}),
		dsl.Retries(dsl.Retry{Limit: dsl.Lit(2), Policy: dsl.RetryOnError}),
	)
	dsl.Run(p, "fit", dsl.Container{Image: dsl.Lit("python:3.13")},
		dsl.GPUs(dsl.Param(p, "gpus", 1)),
		dsl.Mount("/data", dsl.Claim(dsl.Lit("training-data")).ReadOnly()),
		dsl.Tolerate(dsl.Toleration{Key: "gpu"}))

	g, err := p.Graph()
	for _, limit := range g.Nodes[0].Container.Limits {
		fmt.Println(limit.Name)
	}
	fmt.Println(err)
	// Output:
	// memory
	// nvidia.com/gpu
	// <nil>
}

func ExamplePipeline_Graph_faults() {
	p := dsl.New("wrong")
	dsl.Run(p, "fit", dsl.Container{Image: dsl.Lit("python:3.13")})
	dsl.Run(p, "fit", dsl.Container{})
	_, err := p.Graph()
	fmt.Println(err)
	// Output:
	// example_test.go:141: step fit: the name is used twice, first at example_test.go:140
	// example_test.go:141: step fit: Image is not set: it is the container image to run, as in dsl.Lit("alpine:3.22")
}
