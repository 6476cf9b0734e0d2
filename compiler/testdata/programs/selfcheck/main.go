// Command selfcheck compiles a pipeline whose steps check what they are given: that every kind of value arrives in a
// running step as it was written. Run on a cluster it succeeds or names the value that did not.
package main

import (
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

func main() { compiler.Main(selfcheck) }

// same is a script that fails unless its two arguments are equal.
const same = `[ "$1" = "$2" ] || { echo "got [$1], want [$2]"; exit 3; }`

const odd = "it's \"odd\" $HOME `x` \\ é } \n end"

func sh(p *dsl.Pipeline, name, script string, args ...any) *dsl.Step {
	return dsl.Run(p, name, dsl.Container{
		Image:   dsl.Lit("alpine:3.22"),
		Command: dsl.Args("sh", "-ec", script, name),
		Args:    dsl.Args(args...),
		Env:     dsl.Env{"WORKFLOW": dsl.Argo("workflow.name"), "POD": dsl.FieldRef("metadata.name")},
	})
}

type fitIn struct {
	Data dsl.Value[string]
	Rate dsl.Value[float64]
}

type fitOut struct {
	Model dsl.Value[string]
	Loss  dsl.Value[float64]
}

// fit names its model after its inputs and loses as much as its rate.
var fit = dsl.Define("fit", func(in fitIn, out fitOut) dsl.Container {
	return dsl.Container{
		Image: dsl.Lit("alpine:3.22"),
		Command: dsl.Args("sh", "-ec", `printf %s "$1@$2" > "$3"; printf %s "$2" > "$4"`, "fit",
			in.Data, in.Rate, dsl.Path(out.Model), dsl.Path(out.Loss)),
	}
})

type kindsIn struct{ Name dsl.Value[string] }

type kindsOut struct {
	Number dsl.Value[int]
	Flag   dsl.Value[bool]
	JSON   dsl.Value[string]
	List   dsl.Value[[]int]
}

// kinds writes an output of each type, some with the line end that echo adds.
var kinds = dsl.Define("kinds", func(in kindsIn, out kindsOut) dsl.Container {
	const script = `echo "${#1}" > "$2"; echo True > "$3"; printf '{"a":"%s"}' "$1" > "$4"; echo "[1,${#1}]" > "$5"`
	return dsl.Container{
		Image:   dsl.Lit("alpine:3.22"),
		Command: dsl.Args("sh", "-ec", script, "kinds", in.Name, dsl.Path(out.Number), dsl.Path(out.Flag), dsl.Path(out.JSON), dsl.Path(out.List)),
	}
})

func selfcheck() *dsl.Pipeline {
	p := dsl.New("selfcheck", dsl.Description("checks that every kind of value arrives as it was written"))
	text := dsl.Param(p, "text", odd)
	sh(p, "text", same, text, odd)
	sh(p, "env", `[ -n "$WORKFLOW" ]; case "$POD" in "$WORKFLOW"*) ;; *) exit 4;; esac`)
	names := outputs(p, nested(p), text)
	collected(p, names)
	items(p)
	p.OnExit(func() {
		status := dsl.Argo("workflow.status")
		sh(p, "bye", same, status, "Succeeded")
		p.If(dsl.Eq(status, "Succeeded"), func() { sh(p, "cheer", same, text, odd) })
		p.If(dsl.Eq(status, "Failed"), func() { sh(p, "mourn", "exit 5") })
	})
	return p
}

// nested collects out of loops within loops.
func nested(p *dsl.Pipeline) dsl.Value[[][]float64] {
	rates := dsl.Param(p, "rates", []float64{0.5, 5e-5})
	return dsl.Collect(dsl.Each(p, rates, func(rate dsl.Value[float64]) dsl.Value[[]float64] {
		inner := dsl.Each(p, dsl.Lit([]string{"a", `b "q"`, "007", "yes", "\n x"}), func(data dsl.Value[string]) fitOut {
			return fit.Add(p, fitIn{Data: data, Rate: rate})
		})
		sh(p, "models", same, dsl.Collect(inner.Model),
			dsl.Sprintf(`["a@%v","b \"q\"@%v","007@%v","yes@%v","\n x@%v"]`, rate, rate, rate, rate, rate))
		return dsl.Collect(inner.Loss)
	}))
}

// outputs asks about outputs, and returns a list of names.
func outputs(p *dsl.Pipeline, losses dsl.Value[[][]float64], text dsl.Value[string]) dsl.Value[[]string] {
	all := sh(p, "losses", same+`; printf 5e-05 > /tmp/small; printf True > /tmp/flag; echo '["x","y"]' > /tmp/names`,
		losses, "[[0.5,0.5,0.5,0.5,0.5],[0.00005,0.00005,0.00005,0.00005,0.00005]]")
	small := dsl.Output[float64](all, "small", "/tmp/small")
	flag := dsl.Output[bool](all, "flag", "/tmp/flag")
	missing := dsl.Output[string](all, "missing", "/tmp/missing", dsl.Default(`no "such" one`))
	sh(p, "default", same, missing, `no "such" one`)
	p.If(dsl.Lt(small, 0.001), func() {
		first := sh(p, "small", "true")
		p.If(dsl.Eq(flag, true), func() { sh(p, "flag", "true") })
		p.If(dsl.Eq(text, odd), func() {
			dsl.Run(p, "odd", dsl.Container{Image: dsl.Lit("alpine:3.22"), Command: dsl.Args("true")}, dsl.After(first))
		})
		p.If(dsl.Eq(missing, "no"), func() { sh(p, "missing", "exit 5") })
	})
	p.If(dsl.Gt(small, 0.001), func() { sh(p, "large", "exit 5") })
	return dsl.Output[[]string](all, "names", "/tmp/names")
}

// collected collects outputs of each type.
func collected(p *dsl.Pipeline, names dsl.Value[[]string]) {
	out := dsl.Each(p, names, func(name dsl.Value[string]) kindsOut { return kinds.Add(p, kindsIn{name}) })
	sh(p, "numbers", same, dsl.Collect(out.Number), "[1,1]")
	sh(p, "flags", same, dsl.Collect(out.Flag), "[true,true]")
	sh(p, "texts", same, dsl.Collect(out.JSON), `["{\"a\":\"x\"}","{\"a\":\"y\"}"]`)
	sh(p, "lists", same, dsl.Collect(out.List), "[[1,1],[1,1]]")
	dsl.Each(p, dsl.Collect(out.Number), func(n dsl.Value[int]) any { return sh(p, "number", same, n, 1) })
	dsl.Each(p, dsl.Collect(out.JSON), func(s dsl.Value[string]) any {
		return sh(p, "json", `case "$1" in '{"a":"x"}'|'{"a":"y"}') ;; *) echo "got [$1]"; exit 3;; esac`, s)
	})
}

// items loops over items that are more than a word.
func items(p *dsl.Pipeline) {
	type point struct {
		X    float64
		Tags []string
	}
	dsl.Each(p, dsl.Lit([]point{{1e-7, []string{"yes"}}}), func(pt dsl.Value[point]) any {
		return sh(p, "point", same, pt, `{"Tags":["yes"],"X":1e-7}`)
	})
	dsl.Each(p, dsl.Lit([]int{9007199254740993}), func(n dsl.Value[int]) any { return sh(p, "large-number", same, n, "9007199254740993") })
}
