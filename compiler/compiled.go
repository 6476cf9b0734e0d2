package compiler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// compiled is a pipeline of which all is right.
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
		return nil, fmt.Errorf("--image %s: no step runs a function of the program (dsl.Func)", with.image)
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

// checkSame compiles once more and refuses pipelines that come out differently, so that nobody finds out by a package
// that changes without a change of its source.
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
			errs = append(errs, fmt.Errorf("--param %s: pipeline %q has no such parameter; %s", given.name, g.Name, known(g.Params)))
			continue
		}
		if err := fits(g.Params[i].Type, given.value); err != nil {
			errs = append(errs, fmt.Errorf("--param %s=%s: %w", given.name, given.value, err))
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

// fits says whether a parameter of type t can have the value.
func fits(t graph.Type, value string) error {
	if strings.Contains(value, "{{") {
		return errors.New("the value holds {{, which Argo would take for a variable")
	}
	switch t {
	case graph.Integer:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return errors.New("the parameter is a whole number")
		}
	case graph.Float:
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return errors.New("the parameter is a number")
		}
	case graph.Bool:
		if _, err := strconv.ParseBool(value); err != nil {
			return errors.New("the parameter is true or false")
		}
	case graph.List:
		if json.Unmarshal([]byte(value), &[]any{}) != nil {
			return errors.New(`the parameter is a JSON list, such as ["a","b"]`)
		}
	case graph.Object:
		if json.Unmarshal([]byte(value), &map[string]any{}) != nil {
			return errors.New(`the parameter is a JSON object, such as {"a":1}`)
		}
	}
	return nil
}
