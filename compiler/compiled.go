package compiler

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// compiled is a checked pipeline without faults.
type compiled struct {
	graph    *graph.Pipeline
	workflow []byte
	inImage  bool // it has functions, which run in the image of the command line
}

// changes are what a command line makes of the pipelines.
type changes struct {
	params assignments
	image  string // in which the program's functions run
}

// compileAll compiles every pipeline and returns the faults of all together.
func compileAll(pipelines []*dsl.Pipeline, with changes) ([]compiled, error) {
	all := make([]compiled, len(pipelines))
	errs := make([]error, len(pipelines))
	for i, p := range pipelines {
		all[i], errs[i] = compileWith(p, with)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if with.image != "" && !slices.ContainsFunc(all, func(c compiled) bool { return c.inImage }) {
		return nil, wrongUse{fmt.Errorf("--image %s: no step runs a function of the program (dsl.Func)", with.image)}
	}
	return all, nil
}

func compileWith(p *dsl.Pipeline, with changes) (compiled, error) {
	g, err := p.Graph()
	if err != nil {
		return compiled{}, err
	}
	if err := with.params.apply(g); err != nil {
		return compiled{}, err
	}
	functions := with.image != "" && inImage(g, with.image)
	workflow, err := CompileGraph(g)
	return compiled{g, workflow, functions}, err
}

// checkSame compiles once more and refuses a pipeline that comes out differently, before it becomes a package
// that changes while its source stays the same.
func checkSame(pipelines []func() *dsl.Pipeline, first []compiled, with changes) error {
	recorded, err := record(pipelines)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range first {
		i := slices.IndexFunc(recorded, func(p *dsl.Pipeline) bool { return p.Name() == c.graph.Name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("pipeline %q has another name each time its function is called", c.graph.Name))
			continue
		}
		again, err := compileWith(recorded[i], with)
		if err == nil && !bytes.Equal(again.workflow, c.workflow) {
			err = fmt.Errorf("pipeline %q is another workflow each time its function is called (line %d): does the function go through a map, or ask for the time?",
				c.graph.Name, firstDifference(c.workflow, again.workflow))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// firstDifference is the number of the first line that differs.
func firstDifference(a, b []byte) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return line
		}
		if a[i] == '\n' {
			line++
		}
	}
	return line
}

// steps counts the nodes that run something.
func steps(nodes []graph.Node) int {
	n := 0
	for _, node := range nodes {
		if children := node.Children(); len(children) > 0 {
			n += steps(children)
			continue
		}
		n++
	}
	return n
}

// assignments are the values of --param.
type assignments []assignment

type assignment struct{ name, value string }

// String is part of flag.Value.
func (a *assignments) String() string { return "" }

// Set is part of flag.Value.
func (a *assignments) Set(s string) error {
	name, value, found := strings.Cut(s, "=")
	if !found || name == "" {
		return errors.New("want name=value")
	}
	if slices.ContainsFunc(*a, func(other assignment) bool { return other.name == name }) {
		return fmt.Errorf("%s is given twice", name)
	}
	*a = append(*a, assignment{name, value})
	return nil
}

// apply makes the values the defaults of the pipeline's parameters.
func (a assignments) apply(g *graph.Pipeline) error {
	var errs []error
	for _, given := range a {
		i := slices.IndexFunc(g.Params, func(p graph.Param) bool { return p.Name == given.name })
		if i < 0 {
			errs = append(errs, wrongUse{fmt.Errorf("--param %s: pipeline %q has no such parameter; %s", given.name, g.Name, known(g.Params))})
			continue
		}
		err := g.Params[i].Accepts(given.value)
		if strings.Contains(given.value, "{{") {
			err = errors.New("the value holds {{, which Argo would take for a variable")
		}
		if err != nil {
			errs = append(errs, wrongUse{fmt.Errorf("--param %s=%s: %w", given.name, given.value, err)})
			continue
		}
		g.Params[i].Default = given.value
	}
	return errors.Join(errs...)
}

func known(params []graph.Param) string {
	if len(params) == 0 {
		return "it has no parameters"
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return "it has " + strings.Join(names, ", ")
}
