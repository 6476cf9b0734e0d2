package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// writer writes the function of one pipeline. Before it writes, it goes through the graph to find out where each variable
// is used. It omits variables without a use. A variable that is used outside of the function literal that sets it
// is declared before that literal.
type writer struct {
	b     strings.Builder
	g     *graph.Pipeline
	kinds *kinds
	ids   *names

	vars       map[variable]*declared
	paramTypes map[string]string
	bodies     map[string]*body // the pipeline's has no name; sub-pipelines
	in         *body            // which is written
	subs       map[string]*subCode
}

// variable is what a variable of the program stands for.
type variable struct {
	param, claim string
	sub          string // where it is
	step, output string // without an output it is the step, the job, or what a call returned
	file         bool   // of outputs: a step may leave a value and a file of the same name
	loop         string // the item
}

// declared is what is known of a variable.
type declared struct {
	name    string
	goType  string // of what it holds
	in      []string
	used    bool
	escapes bool
	outside []string // where it is declared when it escapes
}

// body is the pipeline or a sub-pipeline.
type body struct {
	name   string
	places map[string]*place
	order  []*place
	subIn  map[string]string // the fields of its inputs
}

// place is where a node stands.
type place struct {
	graph.Node
	blocks []string // the function literals around it, from the outside
	around []*place // the conditions and loops
	inside []*place // what stands in it, at any depth
	job    *job     // where it is a distributed job
	extra  []string // what it waits for though its values do not say so, by names of nodes
	passed []string // what it must say that the group around it waits for
}

// The parts of a writer.
type (
	steps        struct{ *writer } // what a node runs, and its options
	subPipelines struct{ *writer }
)

func newWriter(g *graph.Pipeline, k *kinds) *writer {
	w := &writer{
		g: g, kinds: k, ids: newNames(reserved), vars: map[variable]*declared{}, paramTypes: map[string]string{},
		bodies: map[string]*body{}, subs: map[string]*subCode{},
	}
	w.visit(func(n graph.Node) { // so that no variable takes their names
		if n.Container != nil {
			for _, a := range n.Container.Artifacts {
				k.goType(a.Kind)
			}
		}
	})
	for name := range k.names.taken {
		w.ids.taken[name] = true
	}
	w.typeParams()
	for _, p := range g.Params {
		w.vars[variable{param: p.Name}] = &declared{name: w.ids.variable(p.Name), goType: w.paramTypes[p.Name]}
	}
	for _, c := range g.Settings.Claims {
		w.vars[variable{claim: c.Name}] = &declared{name: w.ids.variable(c.Name)}
	}
	w.bodies[""] = w.newBody("", g.Nodes, g.Exit)
	for _, s := range g.Subs {
		w.bodies[s.Name] = w.newBody(s.Name, s.Nodes)
	}
	subPipelines{w}.nameSubs()
	for _, name := range w.bodyNames() {
		w.in = w.bodies[name]
		for _, p := range w.in.order {
			w.declare(p)
		}
	}
	for _, name := range w.bodyNames() {
		w.in = w.bodies[name]
		for _, p := range w.in.order {
			w.noteUses(p)
		}
		if sub := w.subs[name]; sub != nil {
			for _, o := range sub.Outputs {
				w.useText(o.From, nil)
			}
		}
	}
	w.in = w.bodies[""]
	return w
}

func (w *writer) bodyNames() []string {
	names := []string{""}
	for _, s := range w.g.Subs {
		names = append(names, s.Name)
	}
	return names
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// newBody finds the places of nodes.
func (w *writer) newBody(name string, lists ...[]graph.Node) *body {
	b := &body{name: name, places: map[string]*place{}}
	for i, nodes := range lists {
		blocks := []string(nil)
		if i == 1 {
			blocks = []string{"exit"}
		}
		b.add(nodes, blocks, nil)
	}
	if name == "" && len(lists) > 1 && len(lists[1]) > 0 {
		for i, n := range lists[1] { // each handler is a function literal
			if p := b.places[n.Name]; p != nil {
				b.separate(p, fmt.Sprintf("exit-%d", i))
			}
		}
	}
	b.order = b.waits()
	return b
}

// separate gives what stands in an exit handler's node a block of its own.
func (b *body) separate(p *place, block string) {
	linked := false
	for _, other := range b.places {
		linked = linked || len(other.blocks) == 1 && other.blocks[0] == "exit" && len(other.After) > 0
	}
	if linked {
		return
	}
	for _, inner := range append([]*place{p}, p.inside...) {
		inner.blocks = append([]string{block}, inner.blocks[1:]...)
	}
}

func (b *body) add(nodes []graph.Node, blocks []string, around []*place) {
	for _, n := range nodes {
		p := &place{Node: n, blocks: blocks, around: around}
		if n.Container != nil {
			p.job = jobOf(n)
		}
		b.places[n.Name] = p
		b.order = append(b.order, p)
		for _, group := range around {
			group.inside = append(group.inside, p)
		}
		within := append(slices.Clone(around), p)
		block := func(i int) []string { return append(slices.Clone(blocks), fmt.Sprintf("%s/%d", n.Name, i)) }
		switch {
		case n.Each != nil:
			b.add(n.Each.Nodes, block(0), within)
		case n.If != nil:
			for i, branch := range n.If.Branches() {
				b.add(branch.Nodes, block(i), within)
			}
		}
	}
}

// waits finds the nodes that each node waits for without using their values. A group waits through its first step.
func (b *body) waits() []*place {
	for _, p := range b.order {
		implied := map[string]bool{}
		for _, one := range append([]*place{p}, p.inside...) {
			for _, r := range refsOf(one.Node) {
				if producer := b.places[r.Step]; producer != nil {
					implied[producer.Name] = true
					for _, group := range producer.around {
						implied[group.Name] = true
					}
				}
			}
		}
		for _, name := range p.After {
			if implied[name] {
				continue
			}
			if leaf := p.first(); leaf == p {
				p.extra = append(p.extra, name)
			} else if leaf != nil {
				leaf.passed = append(leaf.passed, name)
			}
		}
	}
	return b.order
}

// first is the first step of a group.
func (p *place) first() *place {
	if p.If == nil && p.Each == nil {
		return p
	}
	for _, inner := range p.inside {
		if inner.If == nil && inner.Each == nil {
			return inner
		}
	}
	return nil
}

// refsOf are the references of a node itself, those of its branches' conditions and values with it.
func refsOf(n graph.Node) []graph.Ref {
	var refs []graph.Ref
	for _, t := range n.Texts() {
		refs = append(refs, t.Refs()...)
	}
	if n.If == nil {
		return refs
	}
	for _, b := range n.If.Branches()[1:] {
		if b.Cond != nil {
			refs = append(refs, b.Cond.Left.Refs()...)
		}
	}
	for _, m := range n.If.Outputs {
		for _, from := range m.From {
			if from != nil {
				refs = append(refs, *from)
			}
		}
	}
	return refs
}

// declare names the variables that a node sets.
func (w *writer) declare(p *place) {
	add := func(v variable, called, goType string) {
		v.sub = w.in.name
		w.vars[v] = &declared{name: w.ids.variable(called), goType: goType, in: p.blocks}
	}
	outputName := func(output string) string {
		if strings.HasPrefix(output, p.Name+"-") {
			return output // as Kubeflow Pipelines calls it
		}
		return p.Name + " " + output
	}
	switch {
	case p.job != nil:
		add(variable{step: p.Name}, p.Name, "train.Outputs")
	case p.Container != nil:
		add(variable{step: p.Name}, p.Name, "*dsl.Step")
		for _, o := range p.Container.Outputs {
			add(variable{step: p.Name, output: o.Name}, outputName(o.Name), "dsl.Value["+w.listType(p.Name, o.Name, o.Type)+"]")
		}
		for _, a := range p.Container.Artifacts {
			add(variable{step: p.Name, output: a.Name, file: true}, outputName(a.Name), "dsl.File["+w.kinds.goType(a.Kind)+"]")
		}
	case p.Call != nil:
		add(variable{step: p.Name}, p.Name, w.subs[p.Call.Sub].outType)
	case p.Each != nil:
		called := "item"
		if refs := p.Each.Items.Refs(); len(refs) == 1 {
			if one, plural := strings.CutSuffix(refs[0].Param+refs[0].Output, "s"); plural && len(one) > 1 {
				called = one
			}
		}
		w.vars[variable{loop: p.Name}] = &declared{name: w.ids.variable(called), goType: scalarType(p.Each.Item)}
	case p.If != nil:
		for i, m := range p.If.Outputs {
			called := fmt.Sprintf("%s value %d", p.Name, i+1)
			goType := "dsl.Value[" + w.listType(p.Name, m.Name, m.Type) + "]"
			for _, from := range m.From {
				if from == nil {
					continue
				}
				if called = from.Output; strings.HasPrefix(called, "one-of-") {
					called = "value"
				}
				if m.File {
					goType = "dsl.File[" + w.fileType(*from, 0) + "]"
				}
				break
			}
			add(variable{step: p.Name, output: m.Name, file: m.File}, called, goType)
		}
	}
}

// noteUses notes which variables a node uses, and where.
func (w *writer) noteUses(p *place) {
	for _, r := range refsOf(p.Node) {
		w.useRef(r, p.blocks)
	}
	if p.Container != nil {
		for _, m := range w.mounts(p.Node) {
			if m.Volume.RunClaim != "" {
				w.use(variable{claim: m.Volume.RunClaim}, p.blocks)
			}
		}
		if len(p.Container.Outputs)+len(kept(p.Node)) > 0 && p.job == nil {
			w.use(variable{sub: w.in.name, step: p.Name}, p.blocks)
		}
	}
	for _, name := range append(slices.Clone(p.extra), p.passed...) {
		if leaf := w.in.places[name].first(); leaf != nil {
			w.use(variable{sub: w.in.name, step: leaf.Name}, p.blocks)
			if leaf.Call != nil {
				w.subs[leaf.Call.Sub].hasStep = true
			}
		}
	}
	if p.Call != nil && len(p.extra)+len(p.passed) > 0 {
		w.subs[p.Call.Sub].hasAfter = true
	}
}

func (w *writer) mounts(n graph.Node) []graph.Mount {
	mounts := slices.Clone(n.Container.Mounts)
	if n.Pod != nil {
		for _, s := range slices.Concat(n.Pod.Sidecars, n.Pod.InitContainers) {
			mounts = append(mounts, s.Container.Mounts...)
		}
	}
	return mounts
}

func (w *writer) useText(t graph.Text, blocks []string) {
	for _, r := range t.Refs() {
		w.useRef(r, blocks)
	}
}

func (w *writer) useRef(r graph.Ref, blocks []string) {
	if v, ok := w.variable(r); ok {
		w.use(v, blocks)
		if p := w.in.places[r.Step]; p != nil && p.Container != nil && p.job == nil { // its output needs the step
			w.use(variable{sub: w.in.name, step: r.Step}, p.blocks)
		}
	}
}

// variable is the one in which the value of a reference is.
func (w *writer) variable(r graph.Ref) (variable, bool) {
	switch {
	case r.Param != "":
		return variable{param: r.Param}, true
	case r.Loop != "":
		return variable{loop: r.Loop}, true
	case r.Step == "":
		return variable{}, false
	}
	v := variable{sub: w.in.name, step: r.Step, output: r.Output, file: r.File}
	if p := w.in.places[r.Step]; p != nil && (p.job != nil || p.Call != nil) {
		v.output, v.file = "", false
	}
	return v, w.vars[v] != nil
}

func (w *writer) use(v variable, blocks []string) {
	d := w.vars[v]
	if d == nil {
		return
	}
	same := 0
	for same < len(d.in) && same < len(blocks) && d.in[same] == blocks[same] {
		same++
	}
	if same < len(d.in) {
		if !d.escapes || same < len(d.outside) {
			d.outside = d.in[:same]
		}
		d.escapes = true
	}
	d.used = true
}

// define writes the assignment of a variable, or the bare call when nothing uses the variable.
func (w *writer) define(v variable, code string) {
	d := w.vars[v]
	switch {
	case !d.used:
		w.printf("%s\n", code)
	case d.escapes:
		w.printf("%s = %s\n", d.name, code)
	default:
		w.printf("%s := %s\n", d.name, code)
	}
}
