// Command sweep compiles a pipeline that tries several learning rates at the same time, chooses the best, and trains
// with it for longer if it is good enough.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// The programs travel in the pipeline itself: any image with Python can run them.
var (
	//go:embed train.py
	trainProgram string
	//go:embed choose.py
	chooseProgram string
)

type trainIn struct {
	Image  dsl.Value[string]
	Rate   dsl.Value[float64]
	Epochs dsl.Value[int]
}

type trainOut struct {
	Model    dsl.File[dsl.Model]
	Accuracy dsl.Value[float64]
	Metrics  dsl.File[dsl.Metrics]
}

var train = dsl.Define("train", func(in trainIn, out trainOut) dsl.Container {
	return dsl.Script(in.Image, "python3", trainProgram, "--rate", in.Rate, "--epochs", in.Epochs,
		"--model", dsl.Path(out.Model), "--accuracy", dsl.Path(out.Accuracy), "--metrics", dsl.Path(out.Metrics))
})

type chooseIn struct {
	Image      dsl.Value[string]
	Rates      dsl.Value[[]float64]
	Accuracies dsl.Value[[]float64]
}

type chooseOut struct {
	Rate     dsl.Value[float64]
	Accuracy dsl.Value[float64]
}

var choose = dsl.Define("choose", func(in chooseIn, out chooseOut) dsl.Container {
	return dsl.Script(in.Image, "python3", chooseProgram, in.Rates, in.Accuracies, dsl.Path(out.Rate), dsl.Path(out.Accuracy))
})

// Sweep is the pipeline. A run can set all of its parameters.
func Sweep() *dsl.Pipeline {
	p := dsl.New("sweep", dsl.Description("Tries several learning rates at the same time and goes on with the best."))
	image := dsl.Param(p, "image", "python:3.13-slim", dsl.Help("Container image with Python"))
	rates := dsl.Param(p, "learning_rates", []float64{0.0001, 0.001, 0.01, 0.1, 0.5}, dsl.Help("Learning rates to try"))
	epochs := dsl.Param(p, "epochs", 3, dsl.Help("How often all examples are seen while the rates are compared"))
	more := dsl.Param(p, "final_epochs", 10, dsl.Help("How often with the best rate"))

	accuracies := dsl.Each(p, rates, func(rate dsl.Value[float64]) dsl.Value[float64] {
		return train.Add(p, trainIn{Image: image, Rate: rate, Epochs: epochs}).Accuracy
	})
	best := choose.Add(p, chooseIn{Image: image, Rates: rates, Accuracies: dsl.Collect(accuracies)})

	var model dsl.File[dsl.Model]
	p.If(dsl.Ge(best.Accuracy, 0.9), func() {
		model = train.Add(p, trainIn{Image: image, Rate: best.Rate, Epochs: more}).Model
		dsl.Run(p, "show", dsl.Container{Image: image, Command: dsl.Args("sh", "-c", `echo "the model's weights:"; cat "$0"`, model)})
	}).Else(func() {
		dsl.Run(p, "give-up", dsl.Container{
			Image: image, Command: dsl.Args("echo", dsl.Sprintf("the best learning rate, %v, reaches an accuracy of %v only", best.Rate, best.Accuracy)),
		})
	})
	p.OnExit(func() {
		dsl.Run(p, "tidy", dsl.Container{Image: image, Command: dsl.Args("echo", dsl.Sprintf("sweep over %v ended: %v", rates, dsl.Argo("workflow.status")))})
	})
	return p
}

func main() { compiler.Main(Sweep) }
