// Command go_functions is a pipeline whose steps are Go functions: the program that compiles it is also what its steps
// run.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// Line is what is looked for, y = Slope*x + Base. It travels between steps as JSON.
type Line struct{ Slope, Base float64 }

type measureIn struct {
	Truth dsl.Value[Line]
	Noise dsl.Value[float64]
	Count dsl.Value[int]
}

type measureOut struct {
	Points dsl.File[dsl.Dataset]
}

var measure = dsl.Func("measure", func(_ context.Context, in measureIn, out *measureOut) error {
	dice := rand.New(rand.NewPCG(1, 2))
	rows := make([][]string, in.Count.Get())
	for i := range rows {
		x := dice.Float64() * 10
		y := in.Truth.Get().Slope*x + in.Truth.Get().Base + in.Noise.Get()*dice.NormFloat64()
		rows[i] = []string{fmt.Sprint(x), fmt.Sprint(y)}
	}
	fmt.Println(len(rows), "points")
	return writeCSV(out.Points.Path(), rows)
})

type fitIn struct {
	Points dsl.File[dsl.Dataset]
	Rate   dsl.Value[float64]
	Steps  dsl.Value[int]
}

type fitOut struct {
	Line dsl.Value[Line]
	Loss dsl.Value[float64]
}

// fit finds the line by gradient descent.
var fit = dsl.Func("fit", func(ctx context.Context, in fitIn, out *fitOut) error {
	points, err := readCSV(in.Points.Path())
	if err != nil {
		return err
	}
	var line Line
	var loss float64
	for range in.Steps.Get() {
		if ctx.Err() != nil { // the step is being stopped
			return context.Cause(ctx)
		}
		var slope, base float64
		loss = 0
		for _, p := range points {
			miss := line.Slope*p[0] + line.Base - p[1]
			slope += miss * p[0]
			base += miss
			loss += miss * miss
		}
		n := float64(len(points))
		line.Slope -= in.Rate.Get() * slope / n
		line.Base -= in.Rate.Get() * base / n
		loss /= n
	}
	fmt.Printf("learning rate %g: y = %.3f*x + %.3f, loss=%.4f\n", in.Rate.Get(), line.Slope, line.Base, loss)
	out.Line.Put(line)
	out.Loss.Put(loss)
	return nil
})

type compareIn struct {
	Truth  dsl.Value[Line]
	Lines  dsl.Value[[]Line]
	Losses dsl.Value[[]float64]
}

type compareOut struct {
	Best    dsl.Value[Line]
	Metrics dsl.File[dsl.Metrics]
}

var compare = dsl.Func("compare", func(_ context.Context, in compareIn, out *compareOut) error {
	best, losses := 0, in.Losses.Get()
	for i, loss := range losses {
		if loss < losses[best] {
			best = i
		}
	}
	line, truth := in.Lines.Get()[best], in.Truth.Get()
	off := math.Hypot(line.Slope-truth.Slope, line.Base-truth.Base)
	fmt.Printf("best: y = %.3f*x + %.3f, off by %.3f\n", line.Slope, line.Base, off)
	out.Best.Put(line)
	type metric struct {
		Name   string  `json:"name"`
		Value  float64 `json:"numberValue"`
		Format string  `json:"format"`
	}
	data, err := json.Marshal(map[string]any{"metrics": []metric{{"loss", losses[best], "RAW"}, {"off-by", off, "RAW"}}})
	if err != nil {
		return err
	}
	return os.WriteFile(out.Metrics.Path(), data, 0o644)
})

// GoFunctions is the pipeline. A run can set all of its parameters.
func GoFunctions() *dsl.Pipeline {
	p := dsl.New("go-functions", dsl.Description("Finds a line through points, in Go functions."))
	truth := dsl.Param(p, "truth", Line{Slope: 2, Base: 1}, dsl.Help("The line to find"))
	noise := dsl.Param(p, "noise", 0.5, dsl.Help("How far off the points are"))
	count := dsl.Param(p, "points", 500)
	rates := dsl.Param(p, "learning_rates", []float64{0.0001, 0.001, 0.01}, dsl.Help("Learning rates to try"))

	data := measure.Add(p, measureIn{Truth: truth, Noise: noise, Count: count})
	all := dsl.Each(p, rates, func(rate dsl.Value[float64]) fitOut {
		return fit.Add(p, fitIn{Points: data.Points, Rate: rate, Steps: dsl.Lit(2000)})
	})
	compare.Add(p, compareIn{Truth: truth, Lines: dsl.Collect(all.Line), Losses: dsl.Collect(all.Loss)})
	return p
}

func main() { compiler.Main(GoFunctions) }

func writeCSV(name string, rows [][]string) error {
	f, err := os.Create(filepath.Clean(name))
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return f.Close()
}

func readCSV(name string) ([][2]float64, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	points := make([][2]float64, len(rows))
	for i, row := range rows {
		for j := range points[i] {
			if points[i][j], err = strconv.ParseFloat(row[j], 64); err != nil {
				return nil, fmt.Errorf("point %d: %w", i+1, err)
			}
		}
	}
	return points, nil
}
