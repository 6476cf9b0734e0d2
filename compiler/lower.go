package compiler

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// lowering turns one graph into templates: a container template per step, a DAG template per list of nodes. What a
// template uses from outside it declares as input parameters, and the task that runs it passes them in.
type lowering struct {
	templates []template
	taken     map[string]bool          // names of templates
	inputs    map[graph.Ref]string     // the input parameter that carries a reference
	inputUsed map[string]bool          // names of input parameters
	loops     map[string][]string      // the loops around each step, innermost first
	types     map[graph.Ref]graph.Type // of the outputs of steps
	exports   map[string][]graph.Ref   // what each loop hands out
}

func lower(g *graph.Pipeline) (*workflow, error) {
	l := &lowering{
		taken:     map[string]bool{},
		inputs:    map[graph.Ref]string{},
		inputUsed: map[string]bool{},
		loops:     map[string][]string{},
		types:     map[graph.Ref]graph.Type{},
		exports:   map[string][]graph.Ref{},
	}
	notes, err := annotations(g)
	if err != nil {
		return nil, err
	}
	name := sanitize(g.Name)
	wf := &workflow{
		APIVersion: "argoproj.io/v1alpha1",
		Kind:       "Workflow",
		Metadata:   metadata{GenerateName: name + "-", Annotations: notes},
		Spec:       workflowSpec{Entrypoint: l.unique(name), ServiceAccountName: serviceAccount},
	}
	if err := wf.set(g.Settings); err != nil {
		return nil, err
	}
	for _, p := range g.Params {
		l.inputs[graph.Ref{Param: p.Name}], l.inputUsed[p.Name] = p.Name, true
		wf.Spec.Arguments.Parameters = append(wf.Spec.Arguments.Parameters,
			parameter{Name: p.Name, Description: text(p.Description), Value: (*text)(&p.Default)})
	}
	all := slices.Concat(g.Nodes, g.Exit)
	l.findLoops(all, nil)
	l.findExports(all)
	if _, err := l.dag(wf.Spec.Entrypoint, g.Nodes, nil); err != nil {
		return nil, err
	}
	if len(g.Exit) > 0 {
		wf.Spec.OnExit = l.unique("exit")
		if _, err := l.dag(wf.Spec.OnExit, g.Exit, nil); err != nil {
			return nil, err
		}
	}
	wf.Spec.Templates = l.templates
	return wf, nil
}

// findLoops notes which loops are around each step, and the types of its outputs.
func (l *lowering) findLoops(nodes []graph.Node, around []string) {
	for _, n := range nodes {
		inner := around
		if n.Each != nil {
			inner = append([]string{n.Name}, around...)
		}
		if n.Container != nil {
			l.loops[n.Name] = around
			for _, o := range n.Container.Outputs {
				l.types[graph.Ref{Step: n.Name, Output: o.Name}] = o.Type
			}
		}
		l.findLoops(n.Children(), inner)
	}
}

// findExports notes which outputs each loop must hand out because something outside collects them.
func (l *lowering) findExports(nodes []graph.Node) {
	for _, n := range nodes {
		for _, r := range references(n) {
			for depth := range r.Collected {
				loop := l.loops[r.Step][depth]
				out := graph.Ref{Step: r.Step, Output: r.Output, Collected: depth}
				if !slices.Contains(l.exports[loop], out) {
					l.exports[loop] = append(l.exports[loop], out)
				}
			}
		}
		l.findExports(n.Children())
	}
}

// dag adds the template for a list of nodes and returns what it needs from outside.
func (l *lowering) dag(name string, nodes []graph.Node, exports []graph.Ref) ([]graph.Ref, error) {
	at := len(l.templates)
	l.templates = append(l.templates, template{Name: name}) // before the templates of its steps
	here := l.places(nodes)
	var needs []graph.Ref
	tasks := make([]task, 0, len(nodes))
	for _, n := range nodes {
		t, used, err := l.task(n, here)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
		for _, r := range used {
			if _, local := here[r]; !local && !slices.Contains(needs, r) {
				needs = append(needs, r)
			}
		}
	}
	t := &l.templates[at]
	t.DAG = &dag{Tasks: tasks}
	t.Inputs = l.declare(needs)
	for _, r := range exports {
		from := &valueFrom{Parameter: string(here[r].tag())}
		if here[r].expression != "" {
			from = &valueFrom{Expression: here[r].expression}
		}
		t.Outputs.Parameters = append(t.Outputs.Parameters, parameter{Name: l.input(r), ValueFrom: from})
	}
	return needs, nil
}

// places returns the references that the nodes themselves provide, and where they are.
func (l *lowering) places(nodes []graph.Node) map[graph.Ref]source {
	here := map[graph.Ref]source{}
	for _, n := range nodes {
		if n.Container != nil {
			for _, o := range n.Container.Outputs {
				here[graph.Ref{Step: n.Name, Output: o.Name}] = source{path: "tasks." + n.Name + ".outputs.parameters." + o.Name}
			}
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

// task returns the task that runs node n, and the references that it needs.
func (l *lowering) task(n graph.Node, here map[graph.Ref]source) (task, []graph.Ref, error) {
	t := task{Name: n.Name, Template: l.unique(n.Name), Dependencies: n.After}
	where := func(r graph.Ref) source {
		if n.Each != nil && r.Loop == n.Name {
			return item(n.Each.Item)
		}
		if s, ok := here[r]; ok {
			return s
		}
		return source{path: "inputs.parameters." + l.input(r)}
	}
	var needs []graph.Ref
	var err error
	switch {
	case n.Container != nil:
		needs, err = l.container(t.Template, n)
	case n.If != nil:
		t.When = condition(n.If.Cond, where)
		needs, err = l.dag(t.Template, n.If.Nodes, nil)
	case n.Each != nil:
		if err := t.loop(n.Each.Items, where); err != nil {
			return t, nil, err
		}
		needs, err = l.dag(t.Template, n.Each.Nodes, l.exports[n.Name])
	default:
		err = fmt.Errorf("node %s is neither a container, nor a condition, nor a loop", n.Name)
	}
	if err != nil {
		return t, nil, err
	}
	for _, r := range needs {
		value := where(r).tag()
		t.Arguments.Parameters = append(t.Arguments.Parameters, parameter{Name: l.input(r), Value: &value})
	}
	needs = slices.DeleteFunc(append(references(n), needs...), func(r graph.Ref) bool {
		return isBuiltIn(r) || n.Each != nil && r.Loop == n.Name
	})
	return t, needs, nil
}

// container adds the template of a step and returns what it needs from outside.
func (l *lowering) container(name string, n graph.Node) ([]graph.Ref, error) {
	needs := slices.DeleteFunc(references(n), isBuiltIn)
	inputs := func(r graph.Ref) source { return source{path: "inputs.parameters." + l.input(r)} }
	t := template{Name: name, Inputs: l.declare(needs)}
	p := &pod{
		fill: func(t graph.Text) text { return render(t, inputs) },
		arg:  func(t graph.Text) text { return renderArg(t, inputs) },
		t:    &t,
	}
	c := p.container("containers", "main", n.Container)
	t.Container = &c
	settings := n.Pod
	if settings == nil {
		settings = &graph.Pod{}
	}
	if err := cmp.Or(p.settings(settings), p.finish(settings.Patch)); err != nil {
		return nil, fmt.Errorf("step %s: %w", n.Name, err)
	}
	for _, o := range n.Container.Outputs {
		t.Outputs.Parameters = append(t.Outputs.Parameters, parameter{Name: o.Name, ValueFrom: &valueFrom{Path: text(o.Path), Default: (*text)(o.Default)}})
	}
	for _, a := range n.Container.Artifacts {
		t.Outputs.Artifacts = append(t.Outputs.Artifacts, artifact{a.Name, text(a.Path), a.Optional})
	}
	l.templates = append(l.templates, t)
	return needs, nil
}

// isBuiltIn says whether a reference is to what Argo or the container itself knows.
func isBuiltIn(r graph.Ref) bool { return r.Variable != "" || r.Env != "" }

// declare returns the input parameters that carry the references.
func (l *lowering) declare(needs []graph.Ref) parameters {
	var in parameters
	for _, r := range needs {
		in.Parameters = append(in.Parameters, parameter{Name: l.input(r)})
	}
	return in
}

// input returns the name of the input parameter that carries a reference, which is the same in all templates.
func (l *lowering) input(r graph.Ref) string {
	if name, ok := l.inputs[r]; ok {
		return name
	}
	name := r.Loop + "-item"
	if r.Step != "" {
		name = r.Step + "-" + r.Output
		for range r.Collected {
			name += "-list"
		}
	}
	name = free(name, l.inputUsed)
	l.inputs[r] = name
	return name
}

// unique returns a name for a template.
func (l *lowering) unique(name string) string { return free(name, l.taken) }

// free returns name, or name-2, name-3 and so on where it is taken, and takes it.
func free(name string, taken map[string]bool) string {
	candidate := name
	for i := 2; taken[candidate]; i++ {
		candidate = fmt.Sprintf("%s-%d", name, i)
	}
	taken[candidate] = true
	return candidate
}
