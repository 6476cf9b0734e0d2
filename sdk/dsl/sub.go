package dsl

import (
	"reflect"
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// sub is a sub-pipeline under construction.
type sub struct {
	name    string
	at      graph.Position // of the call of Sub
	in, out reflect.Type
	scope   *scope
	from    *scope // of the call that had it recorded
	outputs []graph.SubOutput
	open    bool
}

// Sub runs a pipeline of its own as one step. Its steps see the pipeline's parameters and in, and nothing else of the caller; the caller
// sees only what body returns. In and Out are structs of Values and Files.
//
// The body is recorded once, however often the function that calls Sub is called. So that function may call itself,
// within an If, for what must be done until a condition holds:
//
//	func refine(p *dsl.Pipeline, in State) State {
//		return dsl.Sub(p, "refine", in, func(in State) State {
//			next := improve.Add(p, in)
//			var deeper State
//			p.If(dsl.Lt(next.Score, 0.9), func() { deeper = refine(p, next) })
//			return State{Score: dsl.OneOf(deeper.Score, next.Score)}
//		})
//	}
//
// The step waits for what in is made of, and for the handles in after.
func Sub[In, Out any](p *Pipeline, name string, in In, body func(In) Out, after ...Handle) Out {
	var out Out
	if p == nil {
		return out
	}
	at := caller()
	known := slices.IndexFunc(p.subs, func(s *sub) bool { return s.name == name })
	s := p.call(name, at)
	if reflect.TypeFor[In]().Kind() != reflect.Struct || reflect.TypeFor[Out]().Kind() != reflect.Struct || body == nil {
		s.Fault("Sub needs a struct of inputs, a struct of outputs and a function")
		return out
	}
	var called *sub
	if known >= 0 {
		called = p.subs[known]
		p.checkCall(s, called, at, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	} else {
		called = &sub{name: name, at: at, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), from: p.current, open: true}
		called.scope = &scope{kind: subScope, sub: called}
		p.subs = append(p.subs, called)
		p.record(called, func() {
			var inner In
			called.inputs(p, reflect.ValueOf(&inner).Elem())
			called.results(p, reflect.ValueOf(body(inner)))
		})
	}
	s.pass(called, reflect.ValueOf(in))
	s.receive(reflect.ValueOf(&out).Elem())
	After(after...).ofStep(s)
	return out
}

// call records the node of a call.
func (p *Pipeline) call(name string, at graph.Position) *Step {
	s := &Step{pipeline: p, node: p.add(graph.Node{Name: p.unused(name), Kind: "Call", At: at, Call: &graph.Call{Sub: name}})}
	if !stepName.MatchString(name) || len(name) > stepNameMax || groupName.MatchString(name) {
		p.fault(at, "", "sub-pipeline %q: the name must hold only lower-case letters, digits and -, begin with a letter, end with a letter or digit, and have at most %d characters", name, stepNameMax)
	}
	p.names[s.node.Name] = at
	return s
}

// checkCall checks a call of what is recorded already or at the moment.
func (p *Pipeline) checkCall(s *Step, called *sub, at graph.Position, in, out reflect.Type) {
	if called.at != at || called.in != in || called.out != out {
		s.Fault("sub-pipeline %s is another one than that at %s: choose another name", called.name, place(called.at))
		return
	}
	if !called.open {
		return
	}
	for scope := p.current; scope != nil; {
		switch {
		case scope.kind == ifScope || scope.kind == elseScope:
			return
		case scope.sub == called:
			s.Fault("sub-pipeline %s calls itself always, and would never end: put the call into an If", called.name)
			return
		case scope.sub != nil:
			scope = scope.sub.from
		default:
			scope = scope.parent()
		}
	}
}

// record lets steps record into a sub-pipeline, where names are free again.
func (p *Pipeline) record(s *sub, steps func()) {
	names, numbers := p.names, p.numbers
	p.names, p.numbers = map[string]graph.Position{}, map[string]int{}
	defer func() { p.names, p.numbers, s.open = names, numbers, false }()
	p.within(s.scope, steps)
	if len(s.scope.nodes) == 0 {
		p.fault(s.at, "", "sub-pipeline %s has no steps in it", s.name)
	}
}

// inputs fills the struct that the body is given.
func (s *sub) inputs(p *Pipeline, in reflect.Value) {
	for i := range in.NumField() {
		field := in.Type().Field(i)
		if v, name, ok := endpoint(field, in.Field(i)); ok {
			_, file := v.(AnyFile)
			v.set(reference(ref{Ref: graph.Ref{Input: name, File: file}, pipeline: p, scope: s.scope}))
		} else if field.Type != stepType {
			p.fault(s.at, "", "sub-pipeline %s: input %s is a %s: it must be an exported dsl.Value or dsl.File", s.name, field.Name, field.Type)
		}
	}
}

var stepType = reflect.TypeFor[*Step]()

// endpoint returns a field of a struct as something that a value can be put into, and its name.
func endpoint(field reflect.StructField, v reflect.Value) (settable, string, bool) {
	if !field.IsExported() || !v.CanAddr() {
		return nil, "", false
	}
	s, ok := v.Addr().Interface().(settable)
	name, _ := tag(field)
	return s, name, ok
}

// results notes what the body returned.
func (s *sub) results(p *Pipeline, out reflect.Value) {
	copied := reflect.New(out.Type()).Elem()
	copied.Set(out)
	at := &node{Node: graph.Node{Name: s.name, At: s.at, Container: &graph.Container{}}, scope: s.scope, index: len(s.scope.nodes)}
	for i := range copied.NumField() {
		field := copied.Type().Field(i)
		v, name, ok := endpoint(field, copied.Field(i))
		switch {
		case field.Type == stepType:
			continue
		case !ok:
			p.fault(s.at, "", "sub-pipeline %s: output %s is a %s: it must be an exported dsl.Value or dsl.File", s.name, field.Name, field.Type)
			continue
		case !v.IsSet():
			p.fault(s.at, "", "sub-pipeline %s: output %s is not set", s.name, field.Name)
			continue
		}
		what := "output " + name + " of the sub-pipeline"
		_, file := v.(AnyFile)
		o := graph.SubOutput{SubInput: graph.SubInput{Name: name, Type: v.kind(), File: file}}
		if r := v.recorded().single(); file && r != nil {
			p.report(at, what, v.recorded())
			if r.imports {
				p.fault(s.at, "", "sub-pipeline %s: %s is an import: import it where it is used", s.name, what)
			} else if r.Collected > 0 {
				p.fault(s.at, "", "sub-pipeline %s: %s is a folder of collected files, which Argo cannot hand on: return what a step makes of it", s.name, what)
			} else if p.checkRef(at, what, r) {
				own := r.Ref
				o.From = graph.Text{{Ref: &own}}
			}
		} else {
			o.From = p.use(at, what, v)
		}
		s.outputs = append(s.outputs, o)
	}
}

// pass notes the arguments of a call.
func (s *Step) pass(called *sub, in reflect.Value) {
	copied := reflect.New(in.Type()).Elem()
	copied.Set(in)
	for i := range copied.NumField() {
		field := copied.Type().Field(i)
		v, name, ok := endpoint(field, copied.Field(i))
		if !ok {
			continue // it is reported with the sub-pipeline
		}
		arg := graph.Arg{Name: name}
		_, file := v.(AnyFile)
		_, flags := tag(field)
		r := v.recorded().single()
		switch {
		case !v.IsSet() && slices.Contains(flags, "optional") && !file:
			arg.Value = graph.Text{{Text: ""}}
		case !v.IsSet():
			s.Fault("input %s is not set", field.Name)
		case !file:
			arg.Value = s.pipeline.use(s.node, field.Name, v)
		case r == nil:
			s.pipeline.report(s.node, field.Name, v.recorded())
		case r.imports:
			arg.Import = s.pipeline.plain(s.node, field.Name, r.imported)
		default:
			s.pipeline.report(s.node, field.Name, v.recorded())
			if s.pipeline.checkRef(s.node, field.Name, r) {
				own := r.Ref
				arg.Value = graph.Text{{Ref: &own}}
			}
		}
		s.node.Call.Args = append(s.node.Call.Args, arg)
	}
}

// receive fills the struct that the caller gets.
func (s *Step) receive(out reflect.Value) {
	for i := range out.NumField() {
		field := out.Type().Field(i)
		if field.Type == stepType && field.IsExported() {
			out.Field(i).Set(reflect.ValueOf(s))
			continue
		}
		if v, name, ok := endpoint(field, out.Field(i)); ok {
			t := s.output(name)
			_, t.single().File = v.(AnyFile)
			v.set(t)
		}
	}
}

// graph returns the sub-pipeline as plain data.
func (s *sub) graph() graph.Sub {
	g := graph.Sub{Name: s.name, At: s.at, Nodes: s.scope.graph(), Outputs: slices.Clone(s.outputs)}
	in := reflect.New(s.in).Elem()
	for i := range in.NumField() {
		if v, name, ok := endpoint(s.in.Field(i), in.Field(i)); ok {
			_, file := v.(AnyFile)
			g.Inputs = append(g.Inputs, graph.SubInput{Name: name, Type: v.kind(), File: file})
		}
	}
	return g
}
