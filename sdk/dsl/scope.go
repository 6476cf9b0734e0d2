package dsl

import (
	"fmt"
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

type scopeKind int

const (
	rootScope scopeKind = iota
	exitScope
	ifScope
	elseScope
	eachScope
	subScope
)

// scope is a list of nodes that run under the same circumstances: the whole pipeline, its exit steps, or the
// inside of a condition or a loop.
type scope struct {
	kind  scopeKind
	owner *node // the condition or loop; nil for the pipeline, its exit and sub-pipelines
	nodes []*node
	sub   *sub // the sub-pipeline that this is all of
}

// node is a step or a group under construction.
type node struct {
	graph.Node
	scope *scope // where it stands
	index int    // there
	inner *scope // what it holds, for groups
	other *scope // the Else of a condition
}

func (s *scope) parent() *scope {
	if s.owner == nil {
		return nil
	}
	return s.owner.scope
}

// whole returns the pipeline, its exit or the sub-pipeline that s is part of.
func (s *scope) whole() *scope {
	for s.parent() != nil {
		s = s.parent()
	}
	return s
}

// holds says whether what is visible in s is visible in t too.
func (s *scope) holds(t *scope) bool {
	for ; t != nil; t = t.parent() {
		if s == t {
			return true
		}
	}
	return false
}

func (s *scope) describe() string {
	switch s.kind {
	case rootScope:
		return "the pipeline"
	case exitScope:
		return "the exit steps"
	case ifScope:
		return "the " + s.owner.Kind + " at " + place(s.owner.At)
	case elseScope:
		return "the Else of the " + s.owner.Kind + " at " + place(s.owner.At)
	case subScope:
		return "sub-pipeline " + s.sub.name
	default:
		return "the Each at " + place(s.owner.At)
	}
}

// graph returns the nodes as plain data.
func (s *scope) graph() []graph.Node {
	var nodes []graph.Node
	for _, n := range s.nodes {
		g := n.Node
		g.After = slices.Clone(g.After)
		switch {
		case g.If != nil:
			g.If = &graph.If{Cond: g.If.Cond, Nodes: n.inner.graph(), Outputs: slices.Clone(g.If.Outputs)}
			if n.other != nil {
				g.If.Else = n.other.graph()
			}
		case g.Each != nil:
			g.Each = &graph.Each{Items: g.Each.Items, Item: g.Each.Item, Nodes: n.inner.graph()}
		case g.Container != nil:
			c := *g.Container
			g.Container = &c
			if g.Pod != nil {
				pod := *g.Pod
				g.Pod = &pod
			}
		}
		nodes = append(nodes, g)
	}
	return nodes
}

// has says whether a node is in this pipeline.
func (p *Pipeline) has(n *node) bool {
	whole := n.scope.whole()
	return whole == p.root || whole == p.exit || whole.sub != nil && slices.Contains(p.subs, whole.sub)
}

// under returns n or the group around it that stands directly in s; nil where s does not hold n.
func (n *node) under(s *scope) *node {
	for n != nil && n.scope != s {
		n = n.scope.owner
	}
	return n
}

// wait makes n start after other, or as much of the groups around them as is needed for that.
func (n *node) wait(other *node) error {
	s := n.scope
	for s != nil && !s.holds(other.scope) {
		s = s.parent()
	}
	if s == nil {
		return fmt.Errorf("it cannot wait for %s: exit steps, sub-pipelines and the others do not mix", other.Name)
	}
	first, second := other.under(s), n.under(s)
	switch {
	case first == second && first != n && first != other:
		return fmt.Errorf("it cannot wait for %s, which is in another branch of the same If", other.Name)
	case first == second:
		return fmt.Errorf("it cannot wait for %s, which it is part of", other.Name)
	case first.index > second.index && first.waitsFor(second):
		return fmt.Errorf("it cannot wait for %s, which waits for it", other.Name)
	}
	if !slices.Contains(second.After, first.Name) {
		second.After = append(second.After, first.Name)
	}
	return nil
}

// waitsFor says whether n, directly or not, waits for a node beside it.
func (n *node) waitsFor(other *node) bool {
	for _, candidate := range n.scope.nodes {
		if slices.Contains(n.After, candidate.Name) && (candidate == other || candidate.waitsFor(other)) {
			return true
		}
	}
	return false
}

// top returns the If that s is a branch of, or nil.
func (s *scope) top() *node {
	if s == nil || s.kind != ifScope && s.kind != elseScope {
		return nil
	}
	n := s.owner
	for n.Kind == "ElseIf" {
		n = n.scope.owner
	}
	return n
}

// branches returns the scopes of an If's branches, and whether one of them runs in any case.
func (n *node) branches() (branches []*scope, total bool) {
	for {
		branches = append(branches, n.inner)
		switch {
		case n.other == nil:
			return branches, false
		case len(n.other.nodes) == 1 && n.other.nodes[0].Kind == "ElseIf":
			n = n.other.nodes[0]
		default:
			return append(branches, n.other), true
		}
	}
}

// add puts a new node into the current scope.
func (p *Pipeline) add(g graph.Node) *node {
	n := &node{Node: g, scope: p.current, index: len(p.current.nodes)}
	p.current.nodes = append(p.current.nodes, n)
	return n
}

// group puts a new condition or loop into the current scope and names it.
func (p *Pipeline) group(kind scopeKind, prefix string, g graph.Node) *node {
	p.groups[prefix]++
	g.Name = fmt.Sprintf("%s-%d", prefix, p.groups[prefix])
	n := p.add(g)
	n.inner = &scope{kind: kind, owner: n}
	return n
}
