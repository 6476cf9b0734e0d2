package dsl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

type score struct{ Score dsl.Value[float64] }

func measure(p *dsl.Pipeline, name string, args ...any) dsl.Value[float64] {
	return dsl.Output[float64](dsl.Run(p, name, dsl.Container{Image: alpine, Args: dsl.Args(args...)}), "score", "/tmp/score")
}

// endless calls itself in any case.
func endless(p *dsl.Pipeline, in score) score {
	return dsl.Sub(p, "endless", in, func(in score) score {
		measure(p, "again", in.Score)
		return endless(p, in)
	})
}

// wrongFlows are pipelines with one mistake each, and the fault they have.
var wrongFlows = map[string]func(*dsl.Pipeline){
	"step s: Args[0]: OneOf: there may be none: give a value for every branch, an Else among them, or a last one from outside of the If": func(p *dsl.Pipeline) {
		var a dsl.Value[float64]
		p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { a = measure(p, "a") })
		measure(p, "s", dsl.OneOf(a))
	},
	"step s: Args[0]: OneOf: argument 2 is of the same branch as one before": func(p *dsl.Pipeline) {
		var a, b dsl.Value[float64]
		p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { a, b = measure(p, "a"), measure(p, "b") })
		measure(p, "s", dsl.OneOf(a, b, dsl.Lit(0.5)))
	},
	"OneOf uses output score of step later: it cannot wait for later, which waits for it": func(p *dsl.Pipeline) {
		var a dsl.Value[float64]
		p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { a = measure(p, "a") })
		later := measure(p, "later", dsl.OneOf(a, dsl.Lit(0.5)))
		measure(p, "s", dsl.OneOf(a, later))
	},
	"step s: Args[0]: OneOf: argument 1 must be an output of a step in an If": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.OneOf(dsl.Lit(1), dsl.Lit(2)))
	},
	"step s: Args[0]: OneOf: argument 2 is not set": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.OneOf(dsl.Lit(1), dsl.Value[int]{}))
	},
	"step late: After: it cannot wait for middle, which waits for it": func(p *dsl.Pipeline) {
		var a dsl.Value[float64]
		b := p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { a = measure(p, "a") })
		middle := dsl.Run(p, "middle", dsl.Container{Image: alpine}, dsl.After(a))
		b.Else(func() { dsl.Run(p, "late", dsl.Container{Image: alpine}, dsl.After(middle)) })
	},
	"step b: After: it cannot wait for a, which is in another branch of the same If": func(p *dsl.Pipeline) {
		var a dsl.Value[float64]
		p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { a = measure(p, "a") }).
			Else(func() { dsl.Run(p, "b", dsl.Container{Image: alpine}, dsl.After(a)) })
	},
	"Else comes after the Else of its If": func(p *dsl.Pipeline) {
		b := p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { measure(p, "a") })
		b.Else(func() { measure(p, "b") })
		b.Else(func() { measure(p, "c") })
	},
	"Else has no steps in it": func(p *dsl.Pipeline) {
		p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() { measure(p, "a") }).Else(nil)
	},
	"step endless: sub-pipeline endless calls itself always, and would never end: put the call into an If": func(p *dsl.Pipeline) {
		endless(p, score{dsl.Lit(0.5)})
	},
	"step s: Args[0] uses output score of step outer outside the pipeline: pass it to the sub-pipeline as an input": func(p *dsl.Pipeline) {
		outer := measure(p, "outer")
		dsl.Sub(p, "sub", score{outer}, func(in score) score { return score{measure(p, "s", outer)} })
	},
	"step s: Args[0] uses input score outside sub-pipeline sub: only what it returns can be used outside": func(p *dsl.Pipeline) {
		var inner dsl.Value[float64]
		dsl.Sub(p, "sub", score{dsl.Lit(1.0)}, func(in score) score {
			inner = in.Score
			return score{measure(p, "a", in.Score)}
		})
		measure(p, "s", inner)
	},
	"sub-pipeline sub: output Score is not set": func(p *dsl.Pipeline) {
		dsl.Sub(p, "sub", score{dsl.Lit(1.0)}, func(in score) score { measure(p, "a"); return score{} })
	},
	"step sub: input Score is not set": func(p *dsl.Pipeline) {
		dsl.Sub(p, "sub", score{}, func(in score) score { return score{measure(p, "a", in.Score)} })
	},
	"step sub-2: sub-pipeline sub is another one than that at features_wrong_test.go:LINE: choose another name": func(p *dsl.Pipeline) {
		dsl.Sub(p, "sub", score{dsl.Lit(1.0)}, func(in score) score { return score{measure(p, "a", in.Score)} })
		dsl.Sub(p, "sub", score{dsl.Lit(1.0)}, func(in score) score { return score{measure(p, "b", in.Score)} })
	},
	"sub-pipeline sub has no steps in it": func(p *dsl.Pipeline) {
		dsl.Sub(p, "sub", score{dsl.Lit(1.0)}, func(in score) score { return in })
		measure(p, "s")
	},
	"If is a file: files can stand in Command, Args and Env only": func(p *dsl.Pipeline) {
		data := dsl.OutputFile[dsl.Dataset](dsl.Run(p, "a", dsl.Container{Image: alpine}), "data", "/tmp/data")
		p.If(dsl.Eq(dsl.Sprintf("%v", data), "x"), func() { measure(p, "b") })
	},
	"step s: Image is a file: files can stand in Command, Args and Env only": func(p *dsl.Pipeline) {
		data := dsl.OutputFile[dsl.Dataset](dsl.Run(p, "a", dsl.Container{Image: alpine}), "data", "/tmp/data")
		dsl.Run(p, "s", dsl.Container{Image: dsl.Sprintf("%v", data)})
	},
	`step s: At x: it must be an absolute path in the container`: func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Container{Image: alpine}, dsl.At("x", dsl.Import[dsl.Dataset](p, dsl.FromText(dsl.Lit("y")))))
	},
	"step s: Args[0]: the URL of the imported file is empty": func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Import[dsl.Dataset](p, dsl.FromHTTP(dsl.Lit(""))))})
	},
	`step s: Args[0]: "example.com/a.csv" is not the URL of a file: it must begin with http:// or https://`: func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Import[dsl.Dataset](p, dsl.FromHTTP(dsl.Param(p, "url", "example.com/a.csv"))))})
	},
	"step s: Args[0]: it is not said where the imported file comes from": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Import[dsl.Dataset](p, dsl.Source{}))
	},
	"step s: artifact data is declared twice": func(p *dsl.Pipeline) {
		s := dsl.Run(p, "s", dsl.Container{Image: alpine})
		dsl.OutputFile[dsl.Dataset](s, "data", "/tmp/a")
		dsl.OutputFile[dsl.Dataset](s, "data", "/tmp/b")
	},
	`step s: Source needs a Command, its interpreter, as in dsl.Args("python3")`: func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Container{Image: alpine, Source: dsl.Lit("x")})
	},
	"step s: Source is empty: is a //go:embed missing before the variable?": func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Script(alpine, "python3", ""))
	},
	"step s: Command[0], the program to run, is empty": func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Script(alpine, "", "print(1)"))
	},
	"step s: Image is not set: it is the container image to run, as in dsl.Lit(\"alpine:3.22\")": func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Script(dsl.Value[string]{}, "python3", "print(1)"))
	},
	"step s: Source holds {{, which Argo would take for a variable: use dsl.Argo for a variable; other text with {{ can stand in Command, Args and Env only": func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Script(alpine, "python3", "print('{{x}}')"))
	},
	"step s: Source holds a NUL character": func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Script(alpine, "python3", "print('\x00')"))
	},
	"step s: container beside: only the step's own container has a Source": func(p *dsl.Pipeline) {
		dsl.Run(p, "s", dsl.Container{Image: alpine}, dsl.Sidecar("beside", dsl.Script(alpine, "sh", "true")))
	},
	"step same-2: function same is another one than that at features_wrong_test.go:LINE: choose another name": func(p *dsl.Pipeline) {
		type none struct{}
		dsl.Func("same", func(context.Context, none, *none) error { return nil }).Add(p, none{})
		dsl.Func("same", func(_ context.Context, _ none, out *none) error { *out = none{}; return nil }).Add(p, none{})
	},
	"step none: component none has no function": func(p *dsl.Pipeline) {
		dsl.Func[struct{}, struct{}]("none", nil).Add(p, struct{}{})
	},
	`parameter x: its default "c" is not one of its choices`: func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Param(p, "x", "c", dsl.Choices("a", "b")))
	},
	"parameter x: its choices do not fit: they are of type String, and it is of type Integer": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Param(p, "x", 1, dsl.Choices("a", "b")))
	},
	"parameter x: Min and Max are for numbers, and it is of type String": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Param(p, "x", "a", dsl.Max(3)))
	},
	"parameter x: the limit 0.5 cannot be one of its values: it must be a whole number": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Param(p, "x", 1, dsl.Min(0.5)))
	},
	"parameter x: Min 3 is greater than Max 2": func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Required[int](p, "x", dsl.Min(3), dsl.Max(2)))
	},
	`the default of parameter x is "4"; it must be a whole number from 1 to 3`: func(p *dsl.Pipeline) {
		measure(p, "s", dsl.Param(p, "x", 4, dsl.Min(1), dsl.Max(3)))
	},
	"step s: Args[0]: output out belongs to no step that runs a container": func(p *dsl.Pipeline) {
		type in struct{}
		type out struct{ *dsl.Step }
		sub := dsl.Sub(p, "sub", in{}, func(in) out { measure(p, "a"); return out{} })
		measure(p, "s", dsl.Output[int](sub.Step, "out", "/tmp/out"))
	},
}

func TestFaultsOfFlows(t *testing.T) {
	t.Parallel()
	checkFaults(t, wrongFlows)
}

// checkFaults records pipelines with one mistake each. In the fault that is wanted LINE stands for the number of a line.
func checkFaults(t *testing.T, wrong map[string]func(*dsl.Pipeline)) {
	t.Helper()
	for want, build := range wrong {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			p := dsl.New("wrong")
			build(p)
			_, err := p.Graph()
			require.Error(t, err)
			at, message, ok := strings.Cut(err.Error(), ": ")
			require.True(t, ok)
			require.Regexp(t, `^[a-z_]+_test.go:[0-9]+$`, at, err.Error())
			want, rest, placed := strings.Cut(want, "LINE")
			require.True(t, strings.HasPrefix(message, want), "got  %s\nwant %s", message, want)
			if placed {
				require.True(t, strings.HasSuffix(message, rest), message)
			} else {
				require.Equal(t, want, message)
			}
		})
	}
}

func TestNilStepsAndBranchesDoNotPanic(t *testing.T) {
	t.Parallel()
	var p *dsl.Pipeline
	c := dsl.Cond{}
	p.If(c, nil).ElseIf(c, nil).Else(nil)
	p.OnFailure(nil)
	p.Defaults(nil)
	p.NewClaim("a", "b")
	dsl.Required[int](p, "x")
	dsl.OutputFile[dsl.Model](nil, "m", "/m")
	dsl.Import[dsl.Model](p, dsl.Source{})
	dsl.OneOf[dsl.Value[int]]()
	dsl.Sub(p, "s", struct{}{}, func(struct{}) struct{} { return struct{}{} })
	q := dsl.New("q")
	dsl.Run(q, "s", dsl.Container{Image: alpine}, nil, dsl.Near(dsl.Affinity{}), dsl.Mount("/a", dsl.Volume{}), dsl.At("/a", nil))
	dsl.Sub[struct{}, struct{}](q, "sub", struct{}{}, nil)
	dsl.Sub(q, "text", "", func(string) string { return "" })
	_, err := q.Graph()
	require.Error(t, err)
}
