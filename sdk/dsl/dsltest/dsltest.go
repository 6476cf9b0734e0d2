// Package dsltest unit-tests pipelines. Graph checks that a pipeline has no faults. Run executes its logic in memory, with functions of the
// test in place of the steps: conditions, loops, branches, sub-pipelines and exit steps take effect, so a test sees which steps run with
// which inputs.
//
//	run := dsltest.Run(t, Sweep(), dsltest.Params{"rates": []float64{0.1, 0.2}}, dsltest.Steps{
//		"fit": func(c dsltest.Call) (dsltest.Outputs, error) { return dsltest.Outputs{"loss": 0.5}, nil },
//	})
//	require.Len(t, run.Of("fit"), 2)
package dsltest

import (
	"slices"
	"testing"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Graph returns the recorded graph of a pipeline, and ends the test if the pipeline has faults.
func Graph(t testing.TB, p *dsl.Pipeline) *graph.Pipeline {
	t.Helper()
	g, err := p.Graph()
	if err != nil {
		t.Fatalf("the pipeline has faults:\n%v", err)
	}
	return g
}

// Params are values of the pipeline's parameters; those that are not named have their defaults.
type Params map[string]any

// Steps are what stands in for steps, by their names. A step that is not named succeeds and puts out the defaults of
// its outputs; one that has an output without a default must be named.
type Steps map[string]func(Call) (Outputs, error)

// Outputs are the values that a step puts out, by name: strings, numbers and whatever becomes JSON.
type Outputs map[string]any

// Call is one run of a step, with everything known that a run would know.
type Call struct {
	Step             string
	Image            string
	Command, Args    []string
	Env              map[string]string
	Requests, Limits map[string]string
	Failed           bool
	Outputs          map[string]string
}

// Result is what a run did.
type Result struct {
	// Calls are the runs of steps, each after those it waits for.
	Calls []Call
	// Status is Succeeded or Failed.
	Status string
}

// Of returns the runs of a step, in the order of the items where it is in a loop.
func (r *Result) Of(step string) []Call {
	var calls []Call
	for _, c := range r.Calls {
		if c.Step == step {
			calls = append(calls, c)
		}
	}
	return calls
}

// Steps returns the names of the steps that ran, each once, in order.
func (r *Result) Steps() []string {
	var names []string
	for _, c := range r.Calls {
		if !slices.Contains(names, c.Step) {
			names = append(names, c.Step)
		}
	}
	return names
}

// Run goes through a pipeline, and ends the test where that cannot be done.
func Run(t testing.TB, p *dsl.Pipeline, params Params, steps Steps) *Result {
	t.Helper()
	r := &runner{TB: t, g: Graph(t, p), steps: steps, params: map[string]string{}, types: map[graph.Ref]graph.Type{}, result: &Result{Status: "Succeeded"}}
	r.checkNames(params)
	for _, param := range r.g.Params {
		value, given := params[param.Name]
		switch {
		case given:
			r.params[param.Name] = r.text(value)
		case param.Required:
			t.Fatalf("parameter %s is required: set it in Params", param.Name)
		default:
			r.params[param.Name] = param.Default
		}
		if err := param.Accepts(r.params[param.Name]); err != nil {
			t.Fatalf("%v", err)
		}
	}
	r.nodes(r.g.Nodes, frame{})
	r.nodes(r.g.Exit, frame{})
	return r.result
}

// checkNames ends the test for parameters and steps that the pipeline does not have.
func (r *runner) checkNames(params Params) {
	r.Helper()
	for name := range params {
		if !slices.ContainsFunc(r.g.Params, func(p graph.Param) bool { return p.Name == name }) {
			r.Fatalf("the pipeline has no parameter %s", name)
		}
	}
	known := map[string]bool{}
	var walk func([]graph.Node)
	walk = func(nodes []graph.Node) {
		for _, n := range nodes {
			known[n.Name] = n.Container != nil
			walk(n.Children())
		}
	}
	walk(r.g.Nodes)
	walk(r.g.Exit)
	for _, sub := range r.g.Subs {
		walk(sub.Nodes)
	}
	for name := range r.steps {
		if !known[name] {
			r.Fatalf("the pipeline has no step %s", name)
		}
	}
}
