package compiler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// lowering turns one graph into templates: a container template per step, a DAG template per list of nodes. What a
// template uses from outside it declares as inputs, and the task that runs it passes them in.
type lowering struct {
	*shared
	sub       bool                     // it is that of a sub-pipeline
	inputs    map[graph.Ref]string     // the input that carries a reference
	inputUsed map[string]bool          // names of inputs
	loops     map[string][]string      // the loops around each step, innermost first
	types     map[graph.Ref]graph.Type // of the outputs of steps
	exports   map[string][]graph.Ref   // what each loop hands out
	merges    map[graph.Ref]graph.Merge
	kept      map[graph.Ref][]graph.Ref // the files that are collected, by the outputs of steps that are among them
	members   map[string]*sharer        // the steps that share their templates with others
}

// shared is what a pipeline and its sub-pipelines have in common.
type shared struct {
	templates []template
	taken     map[string]bool // names of templates
	subs      map[string]graph.Sub
	called    map[string]string // the templates of subs
	required  map[string]bool   // parameters without a default
	pasted    bool              // Kubernetes reads the values in commands and variables
	pipeline  string
	program   string                 // where steps find the program that recorded the pipeline
	kept      func() (string, error) // its copy on this machine, where it is in no image
}

func (s *shared) lowering(sub bool) *lowering {
	return &lowering{
		shared:    s,
		sub:       sub,
		inputs:    map[graph.Ref]string{},
		inputUsed: map[string]bool{},
		loops:     map[string][]string{},
		types:     map[graph.Ref]graph.Type{},
		exports:   map[string][]graph.Ref{},
		merges:    map[graph.Ref]graph.Merge{},
		kept:      map[graph.Ref][]graph.Ref{},
		members:   map[string]*sharer{},
	}
}

func lower(g *graph.Pipeline) (*workflow, error) {
	s := &shared{taken: map[string]bool{}, subs: map[string]graph.Sub{}, called: map[string]string{}, required: map[string]bool{}, pipeline: g.Name, pasted: g.Settings.Pasted}
	if g.Settings.Program == "" {
		s.kept = sync.OnceValues(keepProgram)
	}
	s.program = cmp.Or(g.Settings.Program, mountedProgram)
	l := s.lowering(false)
	notes, err := annotations(g)
	if err != nil {
		return nil, err
	}
	name := sanitize(g.Name)
	wf := &workflow{
		APIVersion: "argoproj.io/v1alpha1",
		Kind:       "Workflow",
		Metadata:   metadata{GenerateName: name + "-", Annotations: notes},
		Spec:       workflowSpec{Entrypoint: s.unique(name), ServiceAccountName: serviceAccount},
	}
	if err := wf.set(g.Settings); err != nil {
		return nil, err
	}
	for _, p := range g.Params {
		l.inputs[graph.Ref{Param: p.Name}], l.inputUsed[p.Name] = p.Name, true
		s.required[p.Name] = p.Required
		wf.Spec.Arguments.Parameters = append(wf.Spec.Arguments.Parameters, argument(p))
	}
	for _, sub := range g.Subs {
		s.subs[sub.Name], s.called[sub.Name] = sub, s.unique(sub.Name)
	}
	all := slices.Concat(g.Nodes, g.Exit)
	l.findLoops(all, nil)
	l.findExports(all)
	lists := []list{{l, all}}
	for _, sub := range g.Subs {
		inner := s.lowering(true)
		inner.prepare(sub)
		lists = append(lists, list{inner, sub.Nodes})
	}
	if !s.pasted { // Kubernetes would read the arguments by which the steps differ
		if err := share(lists); err != nil {
			return nil, err
		}
	}
	if _, err := l.dag(wf.Spec.Entrypoint, g.Nodes, nil, nil); err != nil {
		return nil, err
	}
	if len(g.Exit) > 0 {
		wf.Spec.OnExit = s.unique("exit")
		if _, err := l.dag(wf.Spec.OnExit, g.Exit, nil, nil); err != nil {
			return nil, err
		}
	}
	for i, sub := range g.Subs {
		if err := lists[i+1].subPipeline(sub); err != nil {
			return nil, fmt.Errorf("sub-pipeline %s: %w", sub.Name, err)
		}
	}
	wf.Spec.Templates = s.templates
	return wf, nil
}

func argument(p graph.Param) parameter {
	out := parameter{Name: p.Name, Description: text(p.Description), Value: (*text)(&p.Default)}
	if p.Required {
		out.Value = nil
	}
	for _, choice := range p.Choices {
		out.Enum = append(out.Enum, text(choice))
	}
	return out
}

// findLoops notes which loops are around each step, and the types of its outputs.
func (l *lowering) findLoops(nodes []graph.Node, around []string) {
	for _, n := range nodes {
		inner := around
		if n.Each != nil {
			inner = append([]string{n.Name}, around...)
		} else {
			l.loops[n.Name] = around
		}
		for _, o := range l.outputs(n) {
			l.types[o.ref] = o.kind
		}
		if n.If != nil {
			for _, m := range n.If.Outputs {
				l.merges[graph.Ref{Step: n.Name, Output: m.Name, File: m.File}] = m
			}
		}
		l.findLoops(n.Children(), inner)
	}
}

// output is what a node gives to those beside it.
type output struct {
	ref  graph.Ref
	kind graph.Type
}

// outputs returns what a step, a condition or a call gives; not what is collected from a loop.
func (l *lowering) outputs(n graph.Node) []output {
	var out []output
	add := func(name string, kind graph.Type, file bool) {
		out = append(out, output{graph.Ref{Step: n.Name, Output: name, File: file}, kind})
	}
	switch {
	case n.Container != nil:
		for _, o := range n.Container.Outputs {
			add(o.Name, o.Type, false)
		}
		for _, a := range n.Container.Artifacts {
			add(a.Name, a.Kind, true)
		}
	case n.If != nil:
		for _, m := range n.If.Outputs {
			add(m.Name, m.Type, m.File)
		}
	case n.Call != nil:
		for _, o := range l.subs[n.Call.Sub].Outputs {
			add(o.Name, o.Type, o.File)
		}
	}
	return out
}

// findExports notes which outputs each loop must hand out because something outside collects them.
func (l *lowering) findExports(nodes []graph.Node) {
	for _, n := range nodes {
		refs := references(n)
		if n.If != nil {
			for _, m := range n.If.Outputs {
				for _, from := range m.From {
					if from != nil {
						refs = append(refs, *from)
					}
				}
			}
		}
		l.export(refs)
		l.findExports(n.Children())
	}
}

func (l *lowering) export(refs []graph.Ref) {
	for _, r := range refs {
		if isFolder(r) {
			l.keepFor(r)
			continue
		}
		for depth := range r.Collected {
			loop := l.loops[r.Step][depth]
			out := r
			out.Collected = depth
			if !slices.Contains(l.exports[loop], out) {
				l.exports[loop] = append(l.exports[loop], out)
			}
		}
	}
}

// export is a value that a DAG hands out.
type export struct {
	name string
	from graph.Text
	file bool
}

// dag adds the template for a list of nodes and returns what it needs from outside. Own are values that the template
// itself knows.
func (l *lowering) dag(name string, nodes []graph.Node, exports []export, own map[graph.Ref]source) ([]graph.Ref, error) {
	at := len(l.templates)
	l.templates = append(l.templates, template{Name: name}) // before the templates of its steps
	here := l.places(nodes)
	maps.Copy(here, own)
	where := func(r graph.Ref) source {
		if s, ok := here[r]; ok {
			return s
		}
		return l.source(r)
	}
	var needs []graph.Ref
	need := func(refs []graph.Ref) {
		for _, r := range refs {
			if _, local := here[r]; !local && !l.builtIn(r) && !slices.Contains(needs, r) {
				needs = append(needs, r)
			}
		}
	}
	tasks := make([]task, 0, len(nodes))
	for _, n := range nodes {
		t, used, err := l.task(n, where)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
		need(used)
	}
	t := &l.templates[at]
	t.DAG = &dag{Tasks: tasks}
	for _, e := range exports {
		t.Outputs.export(e, where)
		need(e.from.Refs())
	}
	t.Inputs = l.declare(needs)
	return needs, nil
}

// places returns the references that the nodes themselves provide, and where they are.
func (l *lowering) places(nodes []graph.Node) map[graph.Ref]source {
	here := map[graph.Ref]source{}
	for _, n := range nodes {
		for _, o := range l.outputs(n) {
			here[o.ref] = source{path: "tasks." + n.Name + ".outputs." + section(o.ref) + "." + o.ref.Output}
		}
		for _, r := range l.exports[n.Name] {
			t := graph.List // what was collected before
			if r.Collected == 0 {
				t = l.types[r]
			}
			collected := r
			collected.Collected++
			here[collected] = gathered("tasks."+n.Name+".outputs.parameters."+l.input(r), t)
		}
	}
	return here
}

func section(r graph.Ref) string {
	if r.File {
		return "artifacts"
	}
	return "parameters"
}

// task returns the task that runs node n, and the references that it needs.
func (l *lowering) task(n graph.Node, outside func(graph.Ref) source) (task, []graph.Ref, error) {
	t := task{Name: n.Name, Dependencies: n.After}
	where := func(r graph.Ref) source {
		if n.Each != nil && r.Loop == n.Name {
			return item(r, n.Each.Item)
		}
		return outside(r)
	}
	if n.Call != nil {
		t.Template = l.called[n.Call.Sub]
		t.Arguments = l.callArguments(n.Call, where)
		return t, l.references(n), nil
	}
	if m := l.members[n.Name]; m != nil {
		needs, err := m.run(&t, where)
		return t, needs, err
	}
	t.Template = l.unique(n.Name)
	var needs []graph.Ref
	var err error
	switch {
	case n.Container != nil:
		needs, err = l.needs(n), l.container(t.Template, n)
	case n.If != nil && len(n.If.Else)+len(n.If.Outputs) > 0:
		needs, err = l.choice(t.Template, n)
	case n.If != nil:
		t.When = tagged(condition(n.If.Cond, where))
		needs, err = l.dag(t.Template, n.If.Nodes, nil, nil)
	case n.Each != nil:
		if err := t.loop(n.Each.Items, where); err != nil {
			return t, nil, err
		}
		var exports []export
		for _, r := range l.exports[n.Name] {
			exports = append(exports, export{l.input(r), graph.Text{{Ref: &r}}, r.File})
		}
		needs, err = l.dag(t.Template, n.Each.Nodes, exports, map[graph.Ref]source{{Loop: n.Name, Index: true}: index()})
	default:
		err = fmt.Errorf("node %s is neither a container, nor a condition, a loop or a call", n.Name)
	}
	if err != nil {
		return t, nil, err
	}
	t.Arguments = l.arguments(needs, where)
	if n.Container == nil {
		needs = append(l.references(n), needs...)
	}
	return t, slices.DeleteFunc(needs, func(r graph.Ref) bool { return n.Each != nil && r.Loop == n.Name }), nil
}

// arguments passes references on to a template.
func (l *lowering) arguments(needs []graph.Ref, where func(graph.Ref) source) parameters {
	var out parameters
	for _, r := range needs {
		out.pass(l.input(r), where(r).tag(), r.File)
	}
	return out
}

// pass adds an argument.
func (p *parameters) pass(name string, value text, file bool) {
	if file {
		p.Artifacts = append(p.Artifacts, artifact{Name: name, From: value})
	} else {
		p.Parameters = append(p.Parameters, parameter{Name: name, Value: &value})
	}
}

// needs returns what a step needs from outside.
func (l *lowering) needs(n graph.Node) []graph.Ref {
	return slices.DeleteFunc(l.references(n), l.builtIn)
}

// container adds the template of a step.
func (l *lowering) container(name string, n graph.Node) error {
	t, err := l.step(name, n)
	l.templates = append(l.templates, t)
	return err
}

// step returns the template of a step.
func (l *lowering) step(name string, n graph.Node) (template, error) {
	t := template{Name: name, Inputs: l.declare(l.needs(n))}
	p := &pod{
		fill:  func(t graph.Text) text { return render(t, l.source) },
		arg:   func(t graph.Text) text { return l.renderArg(t, l.source) },
		word:  func(t graph.Text) text { return l.renderWord(t, l.source) },
		where: l.source,
		t:     &t,
	}
	l.files(p, n.Container.Files)
	run := *n.Container
	if run.Func != "" {
		if err := l.function(&run); err != nil {
			return t, fmt.Errorf("step %s: %w", n.Name, err)
		}
	}
	if run.Resource != nil {
		p.resource(run.Resource)
	} else {
		p.main(&run)
	}
	p.mounts = run.Mounts
	settings := n.Pod
	if settings == nil {
		settings = &graph.Pod{}
	}
	if err := cmp.Or(p.settings(settings), p.finish(settings.Patch)); err != nil {
		return t, fmt.Errorf("step %s: %w", n.Name, err)
	}
	for _, o := range n.Container.Outputs {
		from := &valueFrom{Path: text(o.Path), JSONPath: text(o.JSONPath)}
		if o.Default != nil {
			d := l.renderArg(graph.Text{{Text: *o.Default}}, nil)
			from.Default = &d
		}
		t.Outputs.Parameters = append(t.Outputs.Parameters, parameter{Name: o.Name, ValueFrom: from})
	}
	t.Outputs.Artifacts = l.artifacts(n)
	if l.keeps(n) {
		_ = p.cache(&graph.Cache{Off: true})
	}
	return t, t.describe(n)
}

// builtIn says whether a reference is to what Argo or the container itself knows wherever it stands.
func (l *lowering) builtIn(r graph.Ref) bool {
	return r.Variable != "" || r.Env != "" || l.global(r)
}

// global says whether a parameter is not passed from template to template: the calls of sub-pipelines do not, and
// Argo's validation refuses to pass what has no value yet.
func (l *lowering) global(r graph.Ref) bool { return r.Param != "" && (l.sub || l.required[r.Param]) }

// source says where a template finds what it has from outside.
func (l *lowering) source(r graph.Ref) source {
	if l.global(r) {
		return source{path: "workflow.parameters." + r.Param}
	}
	return source{path: "inputs." + section(r) + "." + l.input(r)}
}
