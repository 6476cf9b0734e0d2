package dsl_test

import (
	"fmt"

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

func ExamplePipeline_Graph_faults() {
	p := dsl.New("wrong")
	dsl.Run(p, "fit", dsl.Container{Image: dsl.Lit("python:3.13")})
	dsl.Run(p, "fit", dsl.Container{})
	_, err := p.Graph()
	fmt.Println(err)
	// Output:
	// example_test.go:71: step fit: the name is used twice, first at example_test.go:70
	// example_test.go:71: step fit: Image is not set: it is the container image to run, as in dsl.Lit("alpine:3.22")
}
