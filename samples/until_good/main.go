// Command until_good compiles a pipeline that trains round after round until the model is good enough: a sub-pipeline
// that calls itself.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// program travels in the pipeline itself: any image with Python can run it.
//
//go:embed epoch.py
var program string

// settings are the same in all rounds.
type settings struct {
	Image  dsl.Value[string]
	Target dsl.Value[float64]
	Most   dsl.Value[int]
}

// state is what one round leaves to the next.
type state struct {
	Model dsl.File[dsl.Model]
	Round dsl.Value[int]
}

// result is what the last round leaves.
type result struct {
	Model    dsl.File[dsl.Model]
	Accuracy dsl.Value[float64]
}

type epochIn struct {
	settings
	state
}

type epochOut struct {
	NextModel dsl.File[dsl.Model]
	Accuracy  dsl.Value[float64]
	Enough    dsl.Value[bool]
	NextRound dsl.Value[int]
}

var epoch = dsl.Define("epoch", func(in epochIn, out epochOut) dsl.Container {
	return dsl.Script(in.Image, "python3", program,
		"--model", in.Model, "--round", in.Round, "--target", in.Target, "--most", in.Most,
		"--next-model", dsl.Path(out.NextModel), "--accuracy", dsl.Path(out.Accuracy),
		"--enough", dsl.Path(out.Enough), "--next-round", dsl.Path(out.NextRound))
})

// improve trains for one round and, where that is not enough, calls itself.
func improve(p *dsl.Pipeline, s settings, from state) result {
	return dsl.Sub(p, "improve", from, func(from state) result {
		round := epoch.Add(p, epochIn{s, from})
		var further result
		p.If(dsl.Eq(round.Enough, false), func() {
			further = improve(p, s, state{Model: round.NextModel, Round: round.NextRound})
		})
		return result{Model: dsl.OneOf(further.Model, round.NextModel), Accuracy: dsl.OneOf(further.Accuracy, round.Accuracy)}
	})
}

// UntilGood is the pipeline. A run can set all of its parameters.
func UntilGood() *dsl.Pipeline {
	p := dsl.New("until-good", dsl.Description("Trains round after round until the accuracy is reached."))
	s := settings{
		Image:  dsl.Param(p, "image", "python:3.13-slim", dsl.Help("Container image with Python")),
		Target: dsl.Param(p, "target", 0.94, dsl.Help("Accuracy to reach")),
		Most:   dsl.Param(p, "most_rounds", 10, dsl.Help("Rounds after which it is given up")),
	}
	start := dsl.Import[dsl.Model](p, dsl.FromText(dsl.Lit("[0, 0, 0, 0, 0]")))
	best := improve(p, s, state{Model: start, Round: dsl.Lit(1)})
	dsl.Run(p, "show", dsl.Container{
		Image:   s.Image,
		Command: dsl.Args("sh", "-c", `echo "accuracy $1 with the weights $(cat "$0")"`, best.Model, best.Accuracy),
	})
	return p
}

func main() { compiler.Main(UntilGood) }
