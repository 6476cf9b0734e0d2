package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// collected gathers files out of loops: of one, of nested ones at both depths, of branches, and inside of a sub-pipeline.
func collected() *dsl.Pipeline {
	p := dsl.New("collected")
	model := func(name string, args ...any) dsl.File[dsl.Model] {
		s := dsl.Run(p, name, dsl.Container{Image: alpine, Command: dsl.Args("fit"), Args: dsl.Args(args...)})
		return dsl.OutputFile[dsl.Model](s, "model", "/tmp/model")
	}
	rates := dsl.Param(p, "rates", []float64{0.1, 0.2})
	one := dsl.Each(p, rates, func(rate dsl.Value[float64]) dsl.File[dsl.Model] {
		m := model("fit", rate)
		dsl.Run(p, "look", dsl.Container{Image: alpine, Args: dsl.Args(m)})
		return m
	})
	best := model("best", dsl.CollectFiles(one))

	deep := dsl.Each(p, dsl.Lit([]string{"a", "b:(7:"}), func(data dsl.Value[string]) dsl.File[[]dsl.Model] {
		inner := dsl.Each(p, rates, func(rate dsl.Value[float64]) dsl.File[dsl.Model] {
			var fast, exact dsl.File[dsl.Model]
			p.If(dsl.Lt(rate, 0.15), func() { exact = model("exact", data, rate) }).Else(func() { fast = model("fast", data) })
			return dsl.OneOf(exact, fast)
		})
		folder := dsl.CollectFiles(inner)
		dsl.Run(p, "peek", dsl.Container{Image: alpine, Args: dsl.Args(folder)})
		return folder
	})
	type in struct{ Models dsl.File[[][]dsl.Model] }
	type out struct{ Best dsl.File[dsl.Model] }
	compare := func(models dsl.File[[][]dsl.Model]) out {
		return dsl.Sub(p, "compare", in{models}, func(in in) out {
			again := dsl.Each(p, dsl.Lit([]int{1, 2}), func(n dsl.Value[int]) dsl.File[dsl.Model] { return model("again", n, in.Models) })
			s := dsl.Run(p, "pick", dsl.Container{Image: alpine}, dsl.At("/models", dsl.CollectFiles(again)))
			return out{dsl.OutputFile[dsl.Model](s, "best", "/tmp/best")}
		})
	}
	all := dsl.CollectFiles(deep)
	compare(all)
	compare(all)
	dsl.Run(p, "publish", dsl.Container{Image: alpine, Args: dsl.Args(best)})
	return p
}

// A step whose file is collected is not taken from a cache: the file would then lie where the earlier run put it.
func TestCollectedFilesAreNotCached(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(collected())
	require.NoError(t, err)
	wf := validate(t, manifest)
	for name, want := range map[string]string{"fit": "P0D", "exact": "P0D", "again": "P0D", "best": "", "look": ""} {
		require.Equal(t, want, wf.GetTemplateByName(name).Metadata.Annotations["pipelines.kubeflow.org/max_cache_staleness"], name)
	}
}
