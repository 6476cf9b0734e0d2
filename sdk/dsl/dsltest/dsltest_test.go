package dsltest_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/dsltest"
)

var alpine = dsl.Lit("alpine:3.22")

func run(p *dsl.Pipeline, name string, args ...any) *dsl.Step {
	return dsl.Run(p, name, dsl.Container{Image: alpine, Args: dsl.Args(args...)})
}

// sweep fits a model at several rates and deploys the best, if it is good enough.
func sweep() *dsl.Pipeline {
	p := dsl.New("sweep")
	rates := dsl.Param(p, "rates", []float64{0.1, 0.2})
	goal := dsl.Required[string](p, "goal")
	losses := dsl.Each(p, rates, func(rate dsl.Value[float64]) dsl.Value[float64] {
		return dsl.Output[float64](run(p, "fit", rate, goal), "loss", "/tmp/loss")
	})
	best := dsl.Output[float64](run(p, "pick", dsl.Collect(losses)), "best", "/tmp/best")
	var good, bad dsl.Value[string]
	p.If(dsl.Lt(best, 0.5), func() {
		good = dsl.Output[string](run(p, "deploy", best), "url", "/tmp/url")
	}).Else(func() {
		bad = dsl.Output[string](run(p, "complain"), "text", "/tmp/text", dsl.Default("too bad"))
	})
	run(p, "report", dsl.OneOf(good, bad))
	p.OnFailure(func() { run(p, "page", dsl.Argo("workflow.status")) })
	return p
}

func TestRunFollowsThePipeline(t *testing.T) {
	t.Parallel()
	steps := dsltest.Steps{
		"fit": func(c dsltest.Call) (dsltest.Outputs, error) {
			rate, err := strconv.ParseFloat(c.Args[0], 64)
			return dsltest.Outputs{"loss": 10 * rate}, err
		},
		"pick":   func(c dsltest.Call) (dsltest.Outputs, error) { return dsltest.Outputs{"best": 0.25}, nil },
		"deploy": func(dsltest.Call) (dsltest.Outputs, error) { return dsltest.Outputs{"url": "https://model"}, nil },
	}
	r := dsltest.Run(t, sweep(), dsltest.Params{"rates": []float64{0.1, 0.2, 0.3}, "goal": "speed"}, steps)
	require.Equal(t, "Succeeded", r.Status)
	require.Equal(t, []string{"fit", "pick", "deploy", "report"}, r.Steps())
	require.Len(t, r.Of("fit"), 3)
	require.Equal(t, []string{"0.3", "speed"}, r.Of("fit")[2].Args)
	require.Equal(t, []string{"[1,2,3]"}, r.Of("pick")[0].Args)
	require.Equal(t, []string{"https://model"}, r.Of("report")[0].Args)

	steps["pick"] = func(dsltest.Call) (dsltest.Outputs, error) { return dsltest.Outputs{"best": 0.75}, nil }
	r = dsltest.Run(t, sweep(), dsltest.Params{"goal": "speed"}, steps)
	require.Equal(t, []string{"too bad"}, r.Of("report")[0].Args)
	require.Empty(t, r.Of("deploy"))

	steps["pick"] = func(dsltest.Call) (dsltest.Outputs, error) { return nil, errors.New("no") }
	r = dsltest.Run(t, sweep(), dsltest.Params{"goal": "speed"}, steps)
	require.Equal(t, "Failed", r.Status)
	require.Equal(t, []string{"fit", "pick", "page"}, r.Steps())
	require.Equal(t, []string{"Failed"}, r.Of("page")[0].Args)
}

type state struct{ N dsl.Value[int] }

// count calls itself until it has counted to three.
func count(p *dsl.Pipeline, in state) state {
	return dsl.Sub(p, "count", in, func(in state) state {
		next := state{dsl.Output[int](run(p, "add", in.N), "n", "/tmp/n")}
		var deeper state
		p.If(dsl.Lt(next.N, 3), func() { deeper = count(p, next) })
		return state{dsl.OneOf(deeper.N, next.N)}
	})
}

func Example() {
	t := &testing.T{} // that of the test
	p := dsl.New("counting")
	run(p, "show", count(p, state{dsl.Lit(0)}).N)
	r := dsltest.Run(t, p, nil, dsltest.Steps{
		"add": func(c dsltest.Call) (dsltest.Outputs, error) {
			n, err := strconv.Atoi(c.Args[0])
			return dsltest.Outputs{"n": n + 1}, err
		},
	})
	fmt.Println(len(r.Of("add")), r.Of("show")[0].Args)
	// Output: 3 [3]
}

// Lists of texts stay lists of texts, whatever they look like, and lists of lists are those of the items.
func TestCollectedValues(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	all := dsl.Each(p, dsl.Lit([]string{"1", "x"}), func(a dsl.Value[string]) dsl.Value[[]string] {
		inner := dsl.Each(p, dsl.Lit([]int{7, 8}), func(b dsl.Value[int]) dsl.Value[string] {
			return dsl.Output[string](run(p, "join", a, b), "out", "/tmp/out")
		})
		return dsl.Collect(inner)
	})
	run(p, "show", dsl.Collect(all))
	r := dsltest.Run(t, p, nil, dsltest.Steps{
		"join": func(c dsltest.Call) (dsltest.Outputs, error) {
			return dsltest.Outputs{"out": c.Args[0] + c.Args[1]}, nil
		},
	})
	require.Equal(t, []string{`[["17","18"],["x7","x8"]]`}, r.Of("show")[0].Args)
}

// failing notes how a test was ended.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func TestRunSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for want, call := range map[string]func(testing.TB){
		"parameter goal is required: set it in Params":                        func(t testing.TB) { dsltest.Run(t, sweep(), nil, nil) },
		"the pipeline has no parameter gaol":                                  func(t testing.TB) { dsltest.Run(t, sweep(), dsltest.Params{"gaol": 1}, nil) },
		"the pipeline has no step fti":                                        func(t testing.TB) { dsltest.Run(t, sweep(), nil, dsltest.Steps{"fti": nil}) },
		"step fit puts out loss: say what it is in Steps":                     func(t testing.TB) { dsltest.Run(t, sweep(), dsltest.Params{"goal": ""}, nil) },
		`parameter rates is "all"; it must be a JSON list, such as ["a","b"]`: func(t testing.TB) { dsltest.Run(t, sweep(), dsltest.Params{"goal": "", "rates": "all"}, nil) },
		"the pipeline has faults:\npipeline \"p\" has no steps":               func(t testing.TB) { dsltest.Graph(t, dsl.New("p")) },
	} {
		f := &failing{}
		require.PanicsWithValue(t, f, func() { call(f) })
		require.Equal(t, want, f.message)
	}
}
