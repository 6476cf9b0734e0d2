// Package draw makes pictures of pipelines and runs: SVG that needs nothing beside it, DOT for Graphviz, and Mermaid
// for Markdown. The same graph always gives the same bytes.
package draw

import (
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
	// Status is the phase of a step that runs or ran, and gives it its colour; empty in pictures of pipelines.
	Status string
	// After holds the IDs of nodes beside this one that come before it.
	After []string
	Group bool
	Nodes []Node // of a group
}

// Of is the diagram of a recorded pipeline.
func Of(g *graph.Pipeline) Diagram {
	d := Diagram{Title: g.Name, Nodes: nodes(g.Nodes)}
	if len(g.Exit) > 0 {
		d.Nodes = append(d.Nodes, Node{ID: " exit", Label: "on exit", Group: true, After: last(d.Nodes), Nodes: nodes(g.Exit)})
	}
	return d
}

func nodes(list []graph.Node) []Node {
	out := make([]Node, 0, len(list))
	for _, n := range list {
		out = append(out, Node{
			ID: n.Name, Label: label(n), Kind: n.Kind, After: n.After, Group: len(n.Children()) > 0, Nodes: nodes(n.Children()),
		})
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
		return "if " + words(n.If.Cond.Left) + " " + n.If.Cond.Op + " " + short(n.If.Cond.Right)
	case n.Each != nil:
		return "for each of " + words(n.Each.Items)
	}
	return n.Name
}

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
