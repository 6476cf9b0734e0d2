// Command data_pipeline compiles a pipeline whose steps hand files to each other: data, features, a model, and a report
// that the run's page shows.
package main

import (
	_ "embed"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// program travels in the pipeline itself: any image with Python can run it.
//
//go:embed steps.py
var program string

// Visuals is the kind of file that tells the run's page what to draw.
type Visuals struct{}

// Steps are typed: what is wired wrongly, such as a Model where a Dataset is wanted, does not compile.
type (
	image struct{ Image dsl.Value[string] }

	collectIn struct {
		image
		Days dsl.Value[int]
	}
	collectOut struct{ Sales dsl.File[dsl.Dataset] }

	featuresIn struct {
		image
		Sales dsl.File[dsl.Dataset]
	}
	featuresOut struct {
		Table dsl.File[Features]
		Kept  dsl.Value[int]
	}

	fitIn struct {
		image
		Table dsl.File[Features]
	}
	fitOut struct{ Model dsl.File[dsl.Model] }

	evaluateIn struct {
		image
		Table dsl.File[Features]
		Model dsl.File[dsl.Model]
	}
	evaluateOut struct {
		Metrics dsl.File[dsl.Metrics] // its numbers become the run's
		Report  dsl.File[dsl.HTML]
		Visuals dsl.File[Visuals] `dsl:"mlpipeline-ui-metadata"` // Kubeflow Pipelines looks for this name
	}
)

// Features is a kind of file of this pipeline's own: a table of numbers.
type Features struct{}

func (i image) run(name string, args ...any) dsl.Container {
	return dsl.Script(i.Image, "python3", program, append([]any{name}, args...)...)
}

var (
	collect = dsl.Define("collect", func(in collectIn, out collectOut) dsl.Container {
		return in.run("collect", in.Days, dsl.Path(out.Sales))
	})
	features = dsl.Define("features", func(in featuresIn, out featuresOut) dsl.Container {
		return in.run("features", in.Sales, dsl.Path(out.Table), dsl.Path(out.Kept))
	})
	fit = dsl.Define("fit", func(in fitIn, out fitOut) dsl.Container {
		return in.run("fit", in.Table, dsl.Path(out.Model))
	})
	evaluate = dsl.Define("evaluate", func(in evaluateIn, out evaluateOut) dsl.Container {
		return in.run("evaluate", in.Table, in.Model, dsl.Path(out.Metrics), dsl.Path(out.Report), dsl.Path(out.Visuals))
	})
)

// DataPipeline is the pipeline. A run can set all of its parameters.
func DataPipeline() *dsl.Pipeline {
	p := dsl.New("data-pipeline", dsl.Description("From what was written down to a model and a report on how good it is."))
	i := image{dsl.Param(p, "image", "python:3.13-slim", dsl.Help("Container image with Python"))}
	days := dsl.Param(p, "days", 365, dsl.Help("How many days of sales there are"))

	data := collect.Add(p, collectIn{i, days})
	table := features.Add(p, featuresIn{i, data.Sales})
	model := fit.Add(p, fitIn{i, table.Table})
	evaluate.Add(p, evaluateIn{i, table.Table, model.Model})
	return p
}

func main() { compiler.Main(DataPipeline) }
