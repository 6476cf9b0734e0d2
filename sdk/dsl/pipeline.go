package dsl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Pipeline records steps. New returns one. It is not safe for concurrent use.
type Pipeline struct {
	name, description string
	params            []*graph.Param
	root, exit        *scope
	current           *scope // where the next step goes
	names             map[string]graph.Position
	numbers           map[string]int // the last that unused gave to a name
	groups            map[string]int // how many groups of a kind there are
	settings          graph.Settings
	defaults          []StepOption
	subs              []*sub
	functions         map[string]defined
	program           Value[string] // the image of Program
	faults            Faults
}

// New starts a pipeline. The name is for display and may be any text; the names of its runs use its letters, digits and dashes.
func New(name string, opts ...Option) *Pipeline {
	p := &Pipeline{name: name, names: map[string]graph.Position{}, numbers: map[string]int{}, groups: map[string]int{}}
	p.root = &scope{kind: rootScope}
	p.exit = &scope{kind: exitScope}
	p.current = p.root
	p.Set(opts...)
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

// ParamOption configures a parameter.
type ParamOption func(*param)

type param struct {
	graph.Param
	choices []any
}

// Help describes the parameter in a line.
func Help(s string) ParamOption { return func(p *param) { p.Description = s } }

// Choices lists the allowed values of the parameter.
func Choices[T any](values ...T) ParamOption {
	return func(p *param) {
		for _, v := range values {
			p.choices = append(p.choices, v)
		}
		if t := typeOf[T](); t != p.Type {
			p.choices = append(p.choices, fmt.Errorf("they are of type %s, and it is of type %s", t, p.Type))
		}
	}
}

// Min sets the least value of a numeric parameter. A run with a lower one is refused.
func Min[T int | float64](least T) ParamOption {
	return func(p *param) { p.Min = limit(least) }
}

// Max sets the greatest value of a numeric parameter. A run with a greater one is refused.
func Max[T int | float64](most T) ParamOption {
	return func(p *param) { p.Max = limit(most) }
}

func limit[T int | float64](n T) string {
	s, err := encode(n)
	if err != nil { // not a number, or infinite
		return fmt.Sprint(n)
	}
	return s
}

var paramName = regexp.MustCompile(`^[a-zA-Z][-_a-zA-Z0-9]*$`)

// Param declares a parameter of the pipeline and its default. A run may set it.
func Param[T any](p *Pipeline, name string, def T, opts ...ParamOption) Value[T] {
	at := caller()
	text, err := encode(def)
	if err != nil {
		p.fault(at, "", "parameter %s: its default cannot be written as JSON: %v", name, err)
	}
	return declareParam[T](p, at, graph.Param{Name: name, Default: text}, opts)
}

// Required declares a parameter without a default. A run must set it.
func Required[T any](p *Pipeline, name string, opts ...ParamOption) Value[T] {
	return declareParam[T](p, caller(), graph.Param{Name: name, Required: true}, opts)
}

func declareParam[T any](p *Pipeline, at graph.Position, g graph.Param, opts []ParamOption) Value[T] {
	name := g.Name
	if p == nil {
		return valueOf[T](faulty(at, "parameter %s belongs to a nil pipeline", name))
	}
	if err := travels[T](); err != nil && g.Required { // a default that cannot be written is reported already
		p.fault(at, "", "parameter %s: %v", name, err)
	}
	g.Type, g.At = typeOf[T](), at
	declared := &param{Param: g}
	for _, opt := range opts {
		opt(declared)
	}
	p.choose(declared)
	p.bound(declared)
	g = declared.Param
	if !paramName.MatchString(name) {
		p.fault(at, "", "parameter %q: the name must begin with a letter and hold only letters, digits, - and _", name)
	}
	if err := checkText(g.Description); err != nil {
		p.fault(at, "", "parameter %s: its help %v", name, err)
	}
	if err := checkParameter(g.Default); err != nil {
		p.fault(at, "", "parameter %s: its default %v", name, err)
	}
	kept := &g
	if i := slices.IndexFunc(p.params, func(q *graph.Param) bool { return q.Name == name }); i >= 0 {
		p.fault(at, "", "parameter %s is declared twice, first at %s", name, place(p.params[i].At))
		kept = p.params[i]
	} else {
		p.params = append(p.params, kept)
	}
	return valueOf[T](reference(ref{Ref: graph.Ref{Param: name}, pipeline: p, param: kept}))
}

// choose writes the choices of a parameter and checks its default against them.
func (p *Pipeline) choose(declared *param) {
	for _, v := range declared.choices {
		if err, wrong := v.(error); wrong {
			p.fault(declared.At, "", "parameter %s: its choices do not fit: %v", declared.Name, err)
			return
		}
		choice, err := encode(v)
		if err == nil {
			err = checkParameter(choice)
		}
		if err != nil {
			p.fault(declared.At, "", "parameter %s: choice %v: %v", declared.Name, v, err)
		}
		declared.Choices = append(declared.Choices, choice)
	}
	if len(declared.Choices) > 0 && !declared.Required && !slices.Contains(declared.Choices, declared.Default) {
		p.fault(declared.At, "", "parameter %s: its default %q is not one of its choices", declared.Name, declared.Default)
	}
}

// bound checks the limits of a parameter, and its default against them.
func (p *Pipeline) bound(declared *param) {
	if declared.Min == "" && declared.Max == "" {
		return
	}
	if declared.Type != graph.Integer && declared.Type != graph.Float {
		p.fault(declared.At, "", "parameter %s: Min and Max are for numbers, and it is of type %s", declared.Name, declared.Type)
		return
	}
	plain := graph.Param{Name: declared.Name, Type: declared.Type}
	for _, limit := range []string{declared.Min, declared.Max} {
		if limit != "" && plain.Accepts(limit) != nil {
			p.fault(declared.At, "", "parameter %s: the limit %s cannot be one of its values: it must be %s", declared.Name, limit, plain.Rule())
			return
		}
	}
	if declared.Min != "" && (graph.Param{Type: declared.Type, Max: declared.Max}).Accepts(declared.Min) != nil {
		p.fault(declared.At, "", "parameter %s: Min %s is greater than Max %s", declared.Name, declared.Min, declared.Max)
		return
	}
	if !declared.Required {
		if err := declared.Accepts(declared.Default); err != nil {
			p.fault(declared.At, "", "the default of %v", err)
		}
	}
}

// OnExit records steps that run after all others have ended, with any outcome. They may use the pipeline's parameters and
// Argo("workflow.status"), but not outputs of the earlier steps.
func (p *Pipeline) OnExit(steps func()) {
	if p == nil {
		return
	}
	if p.current != p.root {
		p.fault(caller(), "", "OnExit inside %s: exit steps belong to the whole pipeline, so call it outside", p.current.describe())
	}
	p.within(p.exit, steps)
}

// OnFailure records steps that run after all others have ended if the run did not succeed. They may use the same values as those of OnExit.
func (p *Pipeline) OnFailure(steps func()) {
	if p == nil {
		return
	}
	if p.current != p.root {
		p.fault(caller(), "", "OnFailure inside %s: exit steps belong to the whole pipeline, so call it outside", p.current.describe())
	}
	p.within(p.exit, func() { p.If(Ne(Argo("workflow.status"), "Succeeded"), steps) })
}

// Graph returns the recorded pipeline as plain data. If the pipeline has mistakes, the error is Faults.
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
	for _, sub := range p.subs {
		g.Subs = append(g.Subs, sub.graph())
	}
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

// Fault records a mistake at the first caller outside the SDK, for packages that build steps.
func (p *Pipeline) Fault(format string, args ...any) { p.fault(caller(), "", format, args...) }

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
