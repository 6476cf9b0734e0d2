package draw

import (
	"fmt"
	"strconv"
	"strings"
)

// DOT writes the diagram for Graphviz.
func (d Diagram) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  label=%s;\n  labelloc=t;\n  compound=true;\n  node [shape=box, style=rounded];\n", dotText(d.Title), dotText(d.Title))
	dotNodes(&b, d.Nodes, "  ")
	dotEdges(&b, d.Nodes, "  ")
	b.WriteString("}\n")
	return b.String()
}

func dotNodes(b *strings.Builder, nodes []Node, indent string) {
	for _, n := range nodes {
		if !n.Group {
			fmt.Fprintf(b, "%s%s [label=%s];\n", indent, dotText(n.ID), dotText(strings.TrimSpace(n.Label+"\n"+below(&n))))
			continue
		}
		fmt.Fprintf(b, "%ssubgraph %s {\n%s  label=%s;\n%s  style=dashed;\n", indent, dotText("cluster_"+n.ID), indent, dotText(n.Label), indent)
		if len(n.Nodes) == 0 {
			fmt.Fprintf(b, "%s  %s [style=invis];\n", indent, dotText(n.ID))
		}
		dotNodes(b, n.Nodes, indent+"  ")
		dotEdges(b, n.Nodes, indent+"  ")
		fmt.Fprintf(b, "%s}\n", indent)
	}
}

// dotEdges draws edges between groups from a node of the one to a node of the other, cut at their borders.
func dotEdges(b *strings.Builder, nodes []Node, indent string) {
	byID := map[string]*Node{}
	for i := range nodes {
		byID[nodes[i].ID] = &nodes[i]
	}
	for i := range nodes {
		for _, before := range nodes[i].After {
			from := byID[before]
			if from == nil {
				continue
			}
			var options []string
			if from.Group {
				options = append(options, "ltail="+dotText("cluster_"+from.ID))
			}
			if nodes[i].Group {
				options = append(options, "lhead="+dotText("cluster_"+nodes[i].ID))
			}
			suffix := ""
			if len(options) > 0 {
				suffix = " [" + strings.Join(options, ", ") + "]"
			}
			fmt.Fprintf(b, "%s%s -> %s%s;\n", indent, dotText(leaf(from)), dotText(leaf(&nodes[i])), suffix)
		}
	}
}

// leaf is the first node inside other than a group.
func leaf(n *Node) string {
	for n.Group && len(n.Nodes) > 0 {
		n = &n.Nodes[0]
	}
	return n.ID
}

// dotText quotes as the DOT language does: only the quote itself is escaped, \n is a line end.
func dotText(s string) string {
	s = strings.ReplaceAll(s, `\`, `\\`)
	s = strings.ReplaceAll(s, `"`, `\"`)
	return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"`
}

// Mermaid writes the diagram for Markdown, as GitHub and many notebooks draw it.
func (d Diagram) Mermaid() string {
	m := &mermaid{ids: map[string]string{}}
	fmt.Fprintf(&m.Builder, "---\ntitle: %s\n---\nflowchart TD\n", strconv.Quote(d.Title))
	m.nodes(d.Nodes, "  ")
	return m.String()
}

type mermaid struct {
	strings.Builder
	ids map[string]string
}

// id is a name that Mermaid takes for no word of its own.
func (m *mermaid) id(of string) string {
	if _, ok := m.ids[of]; !ok {
		m.ids[of] = "n" + strconv.Itoa(len(m.ids)+1)
	}
	return m.ids[of]
}

func (m *mermaid) nodes(nodes []Node, indent string) {
	known := map[string]bool{}
	for _, n := range nodes {
		known[n.ID] = true
		if !n.Group {
			fmt.Fprintf(m, "%s%s[\"%s\"]\n", indent, m.id(n.ID), strings.TrimSuffix(mermaidText(n.Label)+"<br/>"+mermaidText(below(&n)), "<br/>"))
			continue
		}
		fmt.Fprintf(m, "%ssubgraph %s[\"%s\"]\n", indent, m.id(n.ID), mermaidText(n.Label))
		m.nodes(n.Nodes, indent+"  ")
		fmt.Fprintf(m, "%send\n", indent)
	}
	for _, n := range nodes {
		for _, before := range n.After {
			if known[before] {
				fmt.Fprintf(m, "%s%s --> %s\n", indent, m.id(before), m.id(n.ID))
			}
		}
	}
}

// mermaidText escapes by Mermaid's own entities: #quot; is a quote.
func mermaidText(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ").Replace(s)
}
