package dsl_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// wrongCollections are faults of files in loops.
var wrongCollections = map[string]func(*dsl.Pipeline){
	"step s: Args[0]: CollectFiles: the file is not set": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.CollectFiles(dsl.File[dsl.Model]{}))
	},
	"step s: Args[0]: Collect: output model of step fit is in the pipeline, not in an Each": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.CollectFiles(model(p, "fit")))
	},
	"step s: Args[0]: Collect: only an output of a step can be collected": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.CollectFiles(dsl.Import[dsl.Model](p, dsl.FromText(dsl.Lit("x")))))
	},
	"step s: Args[0] uses output model of step fit outside the Each at collect_test.go:LINE: use dsl.CollectFiles to get a folder of all of them": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Each(p, dsl.Lit([]int{1}), func(dsl.Value[int]) dsl.File[dsl.Model] { return model(p, "fit") }))
	},
	"step s: Args[0]: Collect: output model of step sub: files that a sub-pipeline returns cannot be collected, since each pass of the loop must leave its file in its own place, which only a step in the loop can: collect what a step there makes of it, such as a copy": func(p *dsl.Pipeline) {
		type in struct{ N dsl.Value[int] }
		type out struct{ Model dsl.File[dsl.Model] }
		measure(p, "s", dsl.CollectFiles(dsl.Each(p, dsl.Lit([]int{1}), func(n dsl.Value[int]) dsl.File[dsl.Model] {
			return dsl.Sub(p, "sub", in{n}, func(in) out { return out{model(p, "fit")} }).Model
		})))
	},
	"step s: Args[0]: Collect: output model of step fit: step fit takes its outputs from an earlier run, where they lie elsewhere: leave CacheKey and CacheFor out, or add NoCache": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.CollectFiles(dsl.Each(p, dsl.Lit([]int{1}), func(dsl.Value[int]) dsl.File[dsl.Model] {
			return model(p, "fit", dsl.CacheFor(time.Hour))
		})))
	},
	"step s: Args[0]: Collect: a value of the If at collect_test.go:LINE: OneOf has a file from outside of the If, which cannot be collected, since no step of this pass leaves it: give every branch a step that leaves one, such as a copy": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.CollectFiles(dsl.Each(p, dsl.Lit([]int{1}), func(n dsl.Value[int]) dsl.File[dsl.Model] {
			before := model(p, "before")
			var better dsl.File[dsl.Model]
			p.If(dsl.Gt(n, 1), func() { better = model(p, "better") })
			return dsl.OneOf(better, before)
		})))
	},
	"step s: Args[0]: OneOf: argument 1 is a folder of collected files, which Argo cannot hand on: give it to a step of that branch, and OneOf what the step makes of it": func(p *dsl.Pipeline) {
		var one, two dsl.File[[]dsl.Model]
		loop := func(name string) dsl.File[[]dsl.Model] {
			return dsl.CollectFiles(dsl.Each(p, dsl.Lit([]int{1}), func(dsl.Value[int]) dsl.File[dsl.Model] { return model(p, name) }))
		}
		p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { one = loop("one") }).Else(func() { two = loop("two") })
		measure(p, "s", dsl.OneOf(one, two))
	},
	"sub-pipeline sub: output models of the sub-pipeline is a folder of collected files, which Argo cannot hand on: return what a step makes of it": func(p *dsl.Pipeline) {
		type in struct{ N dsl.Value[int] }
		type out struct{ Models dsl.File[[]dsl.Model] }
		dsl.Sub(p, "sub", in{dsl.Lit(1)}, func(in) out {
			return out{dsl.CollectFiles(dsl.Each(p, dsl.Lit([]int{1}), func(dsl.Value[int]) dsl.File[dsl.Model] { return model(p, "fit") }))}
		})
	},
}

func model(p *dsl.Pipeline, name string, opts ...dsl.StepOption) dsl.File[dsl.Model] {
	return dsl.OutputFile[dsl.Model](dsl.Run(p, name, dsl.Container{Image: alpine}, opts...), "model", "/tmp/model")
}

func TestFaultsOfCollections(t *testing.T) {
	t.Parallel()
	checkFaults(t, wrongCollections)
}

// A function finds what a loop left in the order of its items.
func TestPathsOfCollectedFiles(t *testing.T) {
	t.Parallel()
	type in struct{ Models dsl.File[[]dsl.Model] }
	type out struct{ Names dsl.Value[[]string] }
	names := dsl.Func("names", func(_ context.Context, in in, out *out) error {
		paths, err := dsl.Paths(in.Models)
		var names []string
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
		out.Names.Put(names)
		return err
	})
	p := dsl.New("p")
	names.Add(p, in{dsl.CollectFiles(dsl.Each(p, dsl.Lit([]int{1, 2}), func(dsl.Value[int]) dsl.File[dsl.Model] { return model(p, "fit") }))})
	_, err := p.Graph()
	require.NoError(t, err)

	folder, result := t.TempDir(), filepath.Join(t.TempDir(), "names")
	for _, name := range []string{"00010", "00002"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	require.NoError(t, p.RunFunc(t.Context(), "names", []string{"-in", "models=" + folder, "-out", "names=" + result}))
	got, err := os.ReadFile(result)
	require.NoError(t, err)
	require.JSONEq(t, `["00002","00010"]`, string(got))
	require.ErrorContains(t, p.RunFunc(t.Context(), "names", []string{"-in", "models=/no/such", "-out", "names=" + result}), "reading the collected files: open /no/such")
}
