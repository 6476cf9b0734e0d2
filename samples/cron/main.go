// Command cron compiles a pipeline that is to run again and again; schedule, beside it, has a server do so.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// program travels in the pipeline itself: any image with Python can run it.
//
//go:embed check.py
var program string

type lookIn struct {
	Image  dsl.Value[string]
	Due    dsl.Value[string]
	Number dsl.Value[string]
}

type lookOut struct {
	Metrics dsl.File[dsl.Metrics]
}

var look = dsl.Define("look", func(in lookIn, out lookOut) dsl.Container {
	return dsl.Script(in.Image, "python3", program, in.Due, in.Number, dsl.Path(out.Metrics))
})

// Cron is the pipeline. A run or a schedule can set all of its parameters.
func Cron() *dsl.Pipeline {
	p := dsl.New("cron", dsl.Description("Looks at how busy the machine is."))
	look.Add(p, lookIn{
		Image:  dsl.Param(p, "image", "python:3.13-slim", dsl.Help("Container image with Python")),
		Due:    dsl.Param(p, "due", "[[CurrentTime.2006-01-02T15:04:05Z]]", dsl.Help("When it should look")),
		Number: dsl.Param(p, "number", "1", dsl.Help("How many times it will have looked")),
	})
	return p
}

func main() { compiler.Main(Cron) }
