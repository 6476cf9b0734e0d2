package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The functions of the steps, started as steps start them.
func TestFunctions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(function string, args ...string) {
		require.NoError(t, GoFunctions().RunFunc(t.Context(), function, args))
	}
	read := func(name string, into any) {
		data, err := os.ReadFile(file(name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, into))
	}
	const truth = `truth={"Slope":2,"Base":1}`

	run("measure", "-in", truth, "-in", "noise=0.1", "-in", "count=200", "-out", "points="+file("points"))
	run("fit", "-in", "points="+file("points"), "-in", "rate=0.01", "-in", "steps=3000", "-out", "line="+file("line"), "-out", "loss="+file("loss"))
	var line Line
	read("line", &line)
	require.InDelta(t, 2, line.Slope, 0.05)
	require.InDelta(t, 1, line.Base, 0.1)

	run("compare", "-in", truth, "-in", `lines=[{"Slope":9,"Base":9},{"Slope":2,"Base":1}]`, "-in", "losses=[5,0.1]",
		"-out", "best="+file("best"), "-out", "mlpipeline-metrics="+file("metrics"))
	var best Line
	read("best", &best)
	require.Equal(t, Line{2, 1}, best)
	var metrics struct {
		Metrics []struct{ NumberValue float64 }
	}
	read("metrics", &metrics)
	require.Zero(t, metrics.Metrics[1].NumberValue)

	err := GoFunctions().RunFunc(t.Context(), "fit", []string{
		"-in", "points=" + file("none"), "-in", "rate=1", "-in", "steps=1", "-out", "line=" + file("x"), "-out", "loss=" + file("y"),
	})
	require.ErrorContains(t, err, "function fit: open "+file("none"))
}
