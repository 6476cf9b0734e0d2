package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

type prepared struct {
	*dsl.Step
	Train, Test dsl.File[dsl.Dataset]
	Rows        dsl.Value[int]
}

type fitted struct {
	Model   dsl.File[dsl.Model]
	Metrics dsl.File[dsl.Metrics]
	Loss    dsl.Value[float64]
}

type checkpoint struct{} // a kind of the user's own

var prepare = dsl.Define("prepare", func(in struct{ Raw dsl.File[dsl.Dataset] }, out prepared) dsl.Container {
	return dsl.Container{Image: alpine, Command: dsl.Args("prepare", in.Raw, dsl.Path(out.Train), dsl.Path(out.Test), dsl.Path(out.Rows))}
})

var fitModel = dsl.Define("fit-model", func(in struct {
	Data dsl.File[dsl.Dataset]
	Rate dsl.Value[float64]
}, out fitted,
) dsl.Container {
	return dsl.Container{
		Image:   alpine,
		Command: dsl.Args("fit", dsl.Sprintf("--data=%v", in.Data), in.Rate, dsl.Path(out.Model), dsl.Path(out.Metrics), dsl.Path(out.Loss)),
		Env:     dsl.Env{"DATA": dsl.Sprintf("file://%v", in.Data)},
	}
})

// files wires artifacts of several kinds, through conditions and loops too, and imports.
func files() *dsl.Pipeline {
	p := dsl.New("files")
	raw := dsl.Import[dsl.Dataset](p, dsl.FromHTTP(dsl.Param(p, "url", "https://example.com/data.csv")))
	data := prepare.Add(p, struct{ Raw dsl.File[dsl.Dataset] }{raw})
	fit := fitModel.Add(p, struct {
		Data dsl.File[dsl.Dataset]
		Rate dsl.Value[float64]
	}{data.Train, dsl.Lit(0.1)})
	show := dsl.Run(p, "show", dsl.Container{Image: alpine, Args: dsl.Args(fit.Model)},
		dsl.At("/data/test", data.Test),
		dsl.At("/code", dsl.Import[dsl.Dataset](p, dsl.FromGit(dsl.Lit("https://example.com/code.git"), dsl.Lit("v1")))),
		dsl.At("/conf", dsl.Import[dsl.Dataset](p, dsl.FromText(dsl.Lit("a: 1\nb: $(X)\n")))),
		dsl.At("/old", dsl.Import[dsl.Model](p, dsl.FromKey(dsl.Sprintf("models/%v", dsl.Argo("workflow.name"))))))
	page := dsl.OutputFile[dsl.HTML](show, "page", "/tmp/page.html")
	saved := dsl.OutputFile[checkpoint](show, "saved", "/tmp/saved")
	p.If(dsl.Lt(fit.Loss, 0.5), func() {
		dsl.Each(p, dsl.Lit([]string{"a", "b"}), func(name dsl.Value[string]) any {
			return dsl.Run(p, "publish", dsl.Container{Image: alpine, Args: dsl.Args(name, page, saved, fit.Model)})
		})
	})
	return p
}

// branches asks several questions and goes on with one answer.
func branches() *dsl.Pipeline {
	p := dsl.New("branches")
	mode := dsl.Param(p, "mode", "fast", dsl.Choices("fast", "exact", "none"), dsl.Help("how to compute"))
	size := dsl.Required[int](p, "size")
	existing := dsl.Run(p, "existing", dsl.Container{Image: alpine})
	old := dsl.OutputFile[dsl.Model](existing, "model", "/tmp/model")
	var fast, exact, none dsl.Value[float64]
	var fastModel, exactModel dsl.File[dsl.Model]
	run := func(name string, args ...any) (dsl.Value[float64], dsl.File[dsl.Model]) {
		s := dsl.Run(p, name, dsl.Container{Image: alpine, Args: dsl.Args(args...)})
		return dsl.Output[float64](s, "loss", "/tmp/loss"), dsl.OutputFile[dsl.Model](s, "model", "/tmp/model")
	}
	p.If(dsl.Eq(mode, "fast"), func() {
		fast, fastModel = run("fast", size)
	}).ElseIf(dsl.Eq(mode, "exact"), func() {
		var one dsl.Value[float64]
		p.If(dsl.Gt(size, 10), func() {
			one, exactModel = run("large", size)
		})
		exact = dsl.OneOf(one, dsl.Lit(0.25))
		exactModel = dsl.OneOf(exactModel, old)
	}).Else(func() {
		none, _ = run("none")
	})
	loss := dsl.OneOf(fast, exact, none)
	model := dsl.OneOf(fastModel, exactModel, old)
	dsl.Run(p, "report", dsl.Container{Image: alpine, Args: dsl.Args(loss, model)})
	dsl.Each(p, dsl.Lit([]int{1, 2}), func(n dsl.Value[int]) any {
		var even, odd dsl.Value[string]
		p.If(dsl.Eq(n, 2), func() {
			even = dsl.Output[string](dsl.Run(p, "even", dsl.Container{Image: alpine}), "word", "/tmp/word")
		}).Else(func() {
			odd = dsl.Output[string](dsl.Run(p, "odd", dsl.Container{Image: alpine}), "word", "/tmp/word")
		})
		word := dsl.OneOf(even, odd)
		return dsl.Run(p, "say", dsl.Container{Image: alpine, Args: dsl.Args(word)})
	})
	p.OnExit(func() { dsl.Run(p, "note", dsl.Container{Image: alpine}) })
	p.OnFailure(func() { dsl.Run(p, "page", dsl.Container{Image: alpine, Args: dsl.Args(size)}) })
	return p
}

type state struct {
	Score dsl.Value[float64]
	Model dsl.File[dsl.Model]
}

// refine improves a model until it is good enough, by calling itself.
func refine(p *dsl.Pipeline, in state) state {
	return dsl.Sub(p, "refine", in, func(in state) state {
		s := dsl.Run(p, "improve", dsl.Container{Image: alpine, Args: dsl.Args(in.Model, in.Score)})
		next := state{dsl.Output[float64](s, "score", "/tmp/score"), dsl.OutputFile[dsl.Model](s, "model", "/tmp/model")}
		var deeper state
		p.If(dsl.Lt(next.Score, 0.9), func() { deeper = refine(p, next) })
		return state{dsl.OneOf(deeper.Score, next.Score), dsl.OneOf(deeper.Model, next.Model)}
	})
}

// subs calls sub-pipelines: twice, in a loop, and one that calls itself.
func subs() *dsl.Pipeline {
	p := dsl.New("subs")
	goal := dsl.Param(p, "goal", "best")
	type pairIn struct {
		Left, Right dsl.Value[string]
		Note        dsl.Value[string] `dsl:",optional"`
	}
	type pairOut struct {
		*dsl.Step
		Both, Left dsl.Value[string]
	}
	pair := func(in pairIn, after ...dsl.Handle) pairOut {
		return dsl.Sub(p, "pair", in, func(in pairIn) pairOut {
			left := dsl.Run(p, "left", dsl.Container{Image: alpine, Args: dsl.Args(in.Left, goal)})
			right := dsl.Run(p, "right", dsl.Container{Image: alpine, Args: dsl.Args(in.Right, in.Note)}, dsl.After(left))
			out := dsl.Output[string](right, "out", "/tmp/out")
			return pairOut{Both: dsl.Sprintf("%v+%v", in.Left, out), Left: in.Left}
		}, after...)
	}
	one := pair(pairIn{Left: goal, Right: dsl.Lit("b")})
	two := pair(pairIn{Left: one.Both, Right: one.Left, Note: dsl.Lit("again")}, one)
	dsl.Run(p, "left", dsl.Container{Image: alpine, Args: dsl.Args(two.Both)}) // the name is free: the other is inside
	all := dsl.Each(p, dsl.Lit([]string{"x", "y"}), func(item dsl.Value[string]) pairOut {
		return pair(pairIn{Left: item, Right: item})
	})
	first := dsl.Run(p, "first", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Collect(all.Both))})
	best := refine(p, state{dsl.Lit(0.0), dsl.OutputFile[dsl.Model](first, "model", "/tmp/model")})
	dsl.Run(p, "last", dsl.Container{Image: alpine, Args: dsl.Args(best.Score, best.Model)})
	return p
}

// scripts runs programs that are written in the pipeline.
func scripts() *dsl.Pipeline {
	p := dsl.New("scripts")
	n := dsl.Param(p, "n", 3)
	count := dsl.Run(p, "count", dsl.Container{
		Image: alpine, Command: dsl.Args("python3"), Env: dsl.Env{"N": dsl.Value[string](n)},
		Source: dsl.Lit("import os\n\nfor i in range(int(os.environ['N'])):\n\tprint(i, '$(N) $$')\nopen('/tmp/out', 'w').write('1')\n"),
	})
	out := dsl.Output[int](count, "out", "/tmp/out")
	dsl.Run(p, "greet", dsl.Script(alpine, "sh", "echo hello, $1\necho $$", out))
	return p
}

// The templates of a sub-pipeline are there once, however often it is called.
func TestSubPipelinesAreSharedTemplates(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(subs())
	require.NoError(t, err)
	wf := validate(t, manifest)
	calls := map[string]int{}
	for _, tmpl := range wf.Spec.Templates {
		calls[tmpl.Name+" is there"]++
		if tmpl.DAG != nil {
			for _, task := range tmpl.DAG.Tasks {
				calls[task.Template]++
			}
		}
	}
	require.Equal(t, 3, calls["pair"])
	require.Equal(t, 2, calls["refine"])
	require.Equal(t, 1, calls["pair is there"])
	require.Equal(t, 1, calls["refine is there"])
}
