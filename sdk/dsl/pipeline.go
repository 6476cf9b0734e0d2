package dsl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Pipeline records steps. It is made by New and filled by one goroutine.
type Pipeline struct {
	name, description string
	params            []*graph.Param
	root, exit        *scope
	current           *scope // where the next step goes
	names             map[string]graph.Position
	groups            map[string]int // how many groups of a kind there are
	settings          graph.Settings
	defaults          []StepOption
	faults            Faults
}

// New starts a pipeline. The name is for people and may be any text; the names of its runs are made from its
// letters, digits and dashes.
func New(name string, opts ...Option) *Pipeline {
	p := &Pipeline{name: name, names: map[string]graph.Position{}, groups: map[string]int{}}
	p.root = &scope{kind: rootScope}
	p.exit = &scope{kind: exitScope}
	p.current = p.root
	for _, opt := range opts {
		if opt != nil {
			opt.ofPipeline(p)
		}
	}
	at := caller()
	if strings.TrimSpace(name) == "" {
		p.fault(at, "", "the pipeline has no name")
	}
	for _, s := range []string{name, p.description} {
		if err := checkText(s); err != nil {
			p.fault(at, "", "the pipeline's name or description %v", err)
		}
	}
	return p
}

// ParamOption sets something of a parameter.
type ParamOption func(*graph.Param)

// Help says in a line what the parameter means.
func Help(s string) ParamOption { return func(p *graph.Param) { p.Description = s } }

var paramName = regexp.MustCompile(`^[a-zA-Z][-_a-zA-Z0-9]*$`)

// Param declares a parameter of the pipeline, which whoever starts a run may set, and its default.
func Param[T any](p *Pipeline, name string, def T, opts ...ParamOption) Value[T] {
	at := caller()
	if p == nil {
		return valueOf[T](faulty(at, "parameter %s belongs to a nil pipeline", name))
	}
	param := &graph.Param{Name: name, Type: typeOf[T](), At: at}
	for _, opt := range opts {
		opt(param)
	}
	var err error
	if param.Default, err = encode(def); err != nil {
		p.fault(at, "", "parameter %s: its default cannot be written as JSON: %v", name, err)
	}
	if !paramName.MatchString(name) {
		p.fault(at, "", "parameter %q: the name must begin with a letter and hold only letters, digits, - and _", name)
	}
	if err := checkText(param.Description); err != nil {
		p.fault(at, "", "parameter %s: its help %v", name, err)
	}
	if err := checkParameter(param.Default); err != nil {
		p.fault(at, "", "parameter %s: its default %v", name, err)
	}
	if i := slices.IndexFunc(p.params, func(q *graph.Param) bool { return q.Name == name }); i >= 0 {
		p.fault(at, "", "parameter %s is declared twice, first at %s", name, place(p.params[i].At))
		param = p.params[i]
	} else {
		p.params = append(p.params, param)
	}
	return valueOf[T](reference(ref{Ref: graph.Ref{Param: name}, pipeline: p, param: param}))
}

// OnExit records steps that run when all others have ended, however they ended. They may use the pipeline's
// parameters and Argo("workflow.status"), but no outputs of the steps before.
func (p *Pipeline) OnExit(steps func()) {
	if p == nil {
		return
	}
	if p.current != p.root {
		p.fault(caller(), "", "OnExit inside %s: exit steps belong to the whole pipeline, so call it outside", p.current.describe())
	}
	p.within(p.exit, steps)
}

// Graph returns the recorded pipeline as plain data. The error is Faults where the pipeline has mistakes.
func (p *Pipeline) Graph() (*graph.Pipeline, error) {
	if p == nil {
		return nil, errNilPipeline
	}
	faults := p.faults
	if len(p.root.nodes) == 0 {
		faults = append(slices.Clone(faults), &Fault{Message: fmt.Sprintf("pipeline %q has no steps", p.name)})
	}
	if len(faults) > 0 {
		return nil, faults.sorted()
	}
	g := &graph.Pipeline{Name: p.name, Description: p.description, Nodes: p.root.graph(), Exit: p.exit.graph(), Settings: p.settings}
	for _, param := range p.params {
		g.Params = append(g.Params, *param)
	}
	return g, nil
}

// Name returns the name given to New.
func (p *Pipeline) Name() string {
	if p == nil {
		return ""
	}
	return p.name
}

func (p *Pipeline) fault(at graph.Position, step, format string, args ...any) {
	if p != nil {
		p.faults = append(p.faults, &Fault{At: at, Step: step, Message: fmt.Sprintf(format, args...)})
	}
}

// within records what steps records into s.
func (p *Pipeline) within(s *scope, steps func()) {
	outer := p.current
	p.current = s
	defer func() { p.current = outer }()
	if steps != nil {
		steps()
	}
}

func place(at graph.Position) string { return fmt.Sprintf("%s:%d", relative(at.File), at.Line) }
