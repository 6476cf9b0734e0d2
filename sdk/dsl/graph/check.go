package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// Check says what is wrong with a pipeline that was put together by hand: names, order and references that do not fit. What
// package dsl records has no such faults. The error joins one for each, with the node's place where it has one.
func (p *Pipeline) Check() error {
	c := &checker{pipeline: p, subs: map[string]*Sub{}, params: map[string]bool{}}
	for _, param := range p.Params {
		if c.params[param.Name] {
			c.fault(Node{At: param.At}, "parameter %s is declared twice", param.Name)
		}
		c.params[param.Name] = true
	}
	for i, sub := range p.Subs {
		if c.subs[sub.Name] != nil {
			c.fault(Node{At: sub.At}, "sub-pipeline %s is there twice", sub.Name)
		}
		c.subs[sub.Name] = &p.Subs[i]
		if len(sub.Nodes) == 0 {
			c.fault(Node{At: sub.At}, "sub-pipeline %s has no steps in it", sub.Name)
		}
	}
	if len(p.Nodes) == 0 {
		c.errs = append(c.errs, fmt.Errorf("pipeline %q has no steps", p.Name))
	}
	c.whole(nil, p.Nodes, p.Exit)
	for i := range p.Subs {
		c.whole(&p.Subs[i], p.Subs[i].Nodes)
	}
	c.endless()
	return errors.Join(c.errs...)
}

type checker struct {
	pipeline *Pipeline
	subs     map[string]*Sub
	params   map[string]bool
	sub      *Sub
	places   map[string]*place // of the nodes of the pipeline or sub-pipeline that is looked at
	errs     []error
}

// place is where a node stands.
type place struct {
	node  Node
	list  *list
	index int
}

// list holds nodes that run under the same circumstances.
type list struct {
	nodes []Node
	owner *place // the condition or loop around it; nil for the whole
}

func (c *checker) fault(n Node, format string, args ...any) {
	at := ""
	if n.At.File != "" {
		at = fmt.Sprintf("%s:%d: ", n.At.File, n.At.Line)
	}
	if n.Name != "" {
		at += n.Name + ": "
	}
	c.errs = append(c.errs, errors.New(at+fmt.Sprintf(format, args...)))
}

// whole checks a pipeline and its exit, or a sub-pipeline.
func (c *checker) whole(sub *Sub, lists ...[]Node) {
	c.sub, c.places = sub, map[string]*place{}
	before := len(c.errs)
	var all []*list
	for _, nodes := range lists {
		all = c.enter(nodes, nil, all)
	}
	if len(c.errs) > before {
		return // what does not know its names tells nothing of its references
	}
	for _, l := range all {
		c.order(l)
		for i := range l.nodes {
			c.node(c.places[l.nodes[i].Name])
		}
	}
	if sub != nil {
		end := &place{node: Node{At: sub.At}, list: all[0], index: len(all[0].nodes)}
		for _, o := range sub.Outputs {
			c.text(end, o.From, o.File)
			if r := o.From.Refs(); o.File && len(r) == 1 && r[0].Collected > 0 {
				c.fault(end.node, "output %s is a folder of collected files", o.Name)
			}
		}
	}
}

var nodeName = regexp.MustCompile(`^[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?$`)

// enter notes where nodes are.
func (c *checker) enter(nodes []Node, owner *place, all []*list) []*list {
	l := &list{nodes: nodes, owner: owner}
	all = append(all, l)
	for i, n := range nodes {
		kinds := 0
		for _, is := range []bool{n.Container != nil, n.If != nil, n.Each != nil, n.Call != nil} {
			if is {
				kinds++
			}
		}
		at := &place{node: n, list: l, index: i}
		switch _, twice := c.places[n.Name]; {
		case !nodeName.MatchString(n.Name) || len(n.Name) > 128:
			c.fault(n, "a node has the name %q", n.Name)
		case twice:
			c.fault(n, "the name is used twice")
			continue // it may hold itself
		case kinds != 1:
			c.fault(n, "it must be one of a container, a condition, a loop and a call")
		}
		c.places[n.Name] = at
		switch {
		case n.If != nil:
			for _, b := range n.If.Branches() {
				all = c.enter(b.Nodes, at, all)
			}
			// An ElseIf has no node: its branches belong to the first If.
		case n.Each != nil:
			all = c.enter(n.Each.Nodes, at, all)
		}
	}
	if len(nodes) == 0 && owner != nil {
		c.fault(owner.node, "there are no steps in it")
	}
	return all
}

// order checks that no nodes wait for each other, or for what is not beside them.
func (c *checker) order(l *list) {
	const open, done = 1, 2
	state := map[string]int{}
	beside := map[string]Node{}
	for _, n := range l.nodes {
		beside[n.Name] = n
	}
	var visit func(Node)
	visit = func(n Node) {
		state[n.Name] = open
		for _, name := range n.After {
			other, ok := beside[name]
			switch {
			case !ok:
				c.fault(n, "it waits for %s, which is not in the same group", name)
			case state[name] == open:
				c.fault(n, "it waits for %s, which waits for it", name)
			case state[name] == 0:
				visit(other)
			}
		}
		state[n.Name] = done
	}
	for _, n := range l.nodes {
		if state[n.Name] == 0 {
			visit(n)
		}
	}
}

func (c *checker) node(at *place) {
	n := at.node
	switch {
	case n.Container != nil:
		c.container(at)
	case n.If != nil:
		c.condition(at)
	case n.Each != nil:
		c.loop(at)
	case n.Call != nil:
		c.call(at)
	}
}

func (c *checker) container(at *place) {
	n := at.node
	switch r := n.Container.Resource; {
	case r == nil && len(n.Container.Image) == 0:
		c.fault(n, "it has no image")
	case r != nil && (len(n.Container.Image) > 0 || len(r.Manifest) == 0):
		c.fault(n, "it has no manifest, or an image beside it")
	}
	texts := n
	box := *n.Container
	texts.Container, box.Files = &box, nil
	for _, f := range n.Container.Files {
		c.text(at, f.From, true)
		box.Files = append(box.Files, File{Import: f.Import})
	}
	for _, t := range texts.Texts() {
		c.text(at, t, false)
	}
	files := map[string]bool{}
	for i, f := range n.Container.Files {
		refs := f.From.Refs()
		switch {
		case !path.IsAbs(f.Path) || files[f.Path]:
			c.fault(n, "file %d has the path %q, which is not absolute or there already", i+1, f.Path)
		case (f.Import == nil) != (len(f.From) == 1 && len(refs) == 1 && refs[0].File):
			c.fault(n, "file %s must come from one artifact, or be imported", f.Path)
		}
		files[f.Path] = true
	}
	names := map[string]bool{}
	for _, o := range n.Container.Outputs {
		if names["value "+o.Name] || (o.Path == "") == (n.Container.Resource == nil) || (o.JSONPath == "") != (n.Container.Resource == nil) {
			c.fault(n, "output %s is there twice, or has no path", o.Name)
		}
		names["value "+o.Name] = true
	}
	for _, a := range n.Container.Artifacts {
		if names["file "+a.Name] || a.Path == "" {
			c.fault(n, "artifact %s is there twice, or has no path", a.Name)
		}
		names["file "+a.Name] = true
	}
	for _, m := range n.Container.Mounts {
		known := func(claim Claim) bool { return claim.Name == m.Volume.RunClaim }
		if m.Volume.RunClaim != "" && !slices.ContainsFunc(c.pipeline.Settings.Claims, known) {
			c.fault(n, "it mounts the claim %s, which the pipeline does not make", m.Volume.RunClaim)
		}
	}
}

func (c *checker) condition(at *place) {
	branches := at.node.If.Branches()
	for _, b := range branches {
		if b.Cond == nil {
			continue
		}
		c.text(at, b.Cond.Left, false)
		if !slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, b.Cond.Op) {
			c.fault(at.node, "it compares by %q", b.Cond.Op)
		}
		if _, err := strconv.ParseFloat(b.Cond.Right, 64); (b.Cond.Type == Integer || b.Cond.Type == Float) && err != nil {
			c.fault(at.node, "it compares with %q, which is not a number", b.Cond.Right)
		}
	}
	for _, m := range at.node.If.Outputs {
		if len(m.From) != len(branches) {
			c.fault(at.node, "output %s must say for each of %d branches where it comes from", m.Name, len(branches))
			continue
		}
		for i, from := range m.From {
			switch {
			case from == nil && len(m.Otherwise) == 0:
				c.fault(at.node, "output %s comes from nowhere in branch %d", m.Name, i+1)
			case from != nil && from.File && from.Collected > 0:
				c.fault(at.node, "output %s is a folder of collected files", m.Name)
			case from != nil:
				c.ref(&place{node: Node{Name: at.node.Name, At: at.node.At}, list: c.listOf(at, i), index: len(branches[i].Nodes)}, *from)
			}
		}
		c.text(at, m.Otherwise, m.File)
	}
}

// listOf is the list of a branch.
func (c *checker) listOf(at *place, branch int) *list {
	return &list{nodes: at.node.If.Branches()[branch].Nodes, owner: at}
}

func (c *checker) loop(at *place) {
	items := at.node.Each.Items
	if constant, ok := items.Constant(); ok {
		var list []any
		if err := json.Unmarshal([]byte(constant), &list); err != nil || len(list) == 0 {
			c.fault(at.node, "its items are not a JSON list, or the list is empty")
		}
	} else if list, err := items.List(); len(items) != 1 && (err != nil || len(list) == 0) {
		c.fault(at.node, "its items must be one value, or a JSON list with values in its strings")
	}
	c.text(at, items, false)
}

func (c *checker) call(at *place) {
	sub := c.subs[at.node.Call.Sub]
	if sub == nil {
		c.fault(at.node, "it calls %s, which is not a sub-pipeline", at.node.Call.Sub)
		return
	}
	if len(at.node.Call.Args) != len(sub.Inputs) {
		c.fault(at.node, "it passes %d inputs of %d", len(at.node.Call.Args), len(sub.Inputs))
	}
	passed := map[string]bool{}
	for _, a := range at.node.Call.Args {
		i := slices.IndexFunc(sub.Inputs, func(in SubInput) bool { return in.Name == a.Name })
		switch {
		case i < 0 || passed[a.Name]:
			c.fault(at.node, "it passes %s twice, or it is not an input of %s", a.Name, sub.Name)
			continue
		case a.Import != nil:
			for _, t := range a.Import.texts(nil) {
				c.text(at, t, false)
			}
		case a.Import == nil:
			c.text(at, a.Value, sub.Inputs[i].File)
		}
		passed[a.Name] = true
	}
}

// text checks the references of a text, which is an artifact if it is to be a file.
func (c *checker) text(at *place, t Text, file bool) {
	refs := t.Refs()
	if file && len(t) > 0 && (len(t) != 1 || len(refs) != 1 || !refs[0].File) {
		c.fault(at.node, "what should be a file is not an artifact")
	}
	for _, r := range refs {
		if r.File && !file {
			c.fault(at.node, "artifact %s is used where a value is needed", r.Output+r.Input)
		}
		c.ref(at, r)
	}
}
