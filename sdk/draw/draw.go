// Package draw draws pipelines and runs: as self-contained SVG, as DOT for Graphviz, and as Mermaid for Markdown. The same graph always
// gives the same bytes.
package draw

import (
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Diagram is a graph to draw.
type Diagram struct {
	Title string
	Nodes []Node
}

// Node is a step, or a group of nodes such as a loop.
type Node struct {
	ID    string // unique in the diagram
	Label string
	Kind  string // a word under the label: Container, MPIJob
	// Status is the phase of a step in a run and sets its colour; empty in drawings of pipelines.
	Status string
	// After holds the IDs of nodes beside this one that come before it.
	After []string
	Group bool
	Nodes []Node // of a group
}

// Of returns the diagram of a recorded pipeline.
func Of(g *graph.Pipeline) Diagram {
	o := outline{subs: map[string][]graph.Node{}}
	for _, sub := range g.Subs {
		o.subs[sub.Name] = sub.Nodes
	}
	d := Diagram{Title: g.Name, Nodes: o.nodes("", g.Nodes)}
	if len(g.Exit) > 0 {
		d.Nodes = append(d.Nodes, Node{ID: " exit", Label: "on exit", Group: true, After: last(d.Nodes), Nodes: o.nodes("", g.Exit)})
	}
	return d
}

// outline turns recorded nodes into drawn ones.
type outline struct {
	subs  map[string][]graph.Node
	calls []string // the sub-pipelines around: one that calls itself is not opened again
}

func (o *outline) nodes(prefix string, list []graph.Node) []Node {
	out := make([]Node, 0, len(list))
	for _, n := range list {
		d := Node{ID: prefix + n.Name, Label: label(n), Kind: n.Kind}
		for _, before := range n.After {
			d.After = append(d.After, prefix+before)
		}
		switch {
		case n.If != nil && len(n.If.Else) > 0:
			d.Label, d.Group = n.Name, true
			for i, b := range n.If.Branches() {
				text := "else"
				if b.Cond != nil {
					text = []string{"if ", "else if "}[min(i, 1)] + question(*b.Cond)
				}
				d.Nodes = append(d.Nodes, Node{ID: d.ID + " " + text, Label: text, Group: true, Nodes: o.nodes(prefix, b.Nodes)})
			}
		case n.Call != nil && !slices.Contains(o.calls, n.Call.Sub):
			d.Group = true
			o.calls = append(o.calls, n.Call.Sub)
			d.Nodes = o.nodes(d.ID+"/", o.subs[n.Call.Sub])
			o.calls = o.calls[:len(o.calls)-1]
		default:
			d.Group, d.Nodes = len(n.Children()) > 0, o.nodes(prefix, n.Children())
		}
		out = append(out, d)
	}
	return out
}

// last returns the nodes that no other waits for.
func last(list []Node) []string {
	waited := map[string]bool{}
	for _, n := range list {
		for _, id := range n.After {
			waited[id] = true
		}
	}
	var ids []string
	for _, n := range list {
		if !waited[n.ID] {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func label(n graph.Node) string {
	switch {
	case n.If != nil && n.If.Cond.Op != "":
		return "if " + question(n.If.Cond)
	case n.Each != nil:
		return "for each of " + words(n.Each.Items)
	}
	return n.Name
}

func question(c graph.Cond) string { return words(c.Left) + " " + c.Op + " " + short(c.Right) }

// words writes a text for people, with the names of what it refers to.
func words(t graph.Text) string {
	var b strings.Builder
	for _, p := range t {
		switch r := p.Ref; {
		case r == nil:
			b.WriteString(p.Text)
		case r.Param != "":
			b.WriteString(r.Param)
		case r.Step != "":
			b.WriteString(r.Step + "." + r.Output)
		case r.Field != "":
			b.WriteString("item." + r.Field)
		case r.Loop != "":
			b.WriteString("item")
		default:
			b.WriteString(r.Variable)
		}
	}
	return short(b.String())
}

// short cuts a text to what fits into a box, and gives it one line.
func short(s string) string {
	const most = 40
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	if len(runes) == 0 {
		return `""`
	}
	return string(runes)
}
