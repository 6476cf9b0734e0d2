package draw

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

func sweep(t require.TestingT) Diagram {
	p := dsl.New(`sweep "one" <&>`)
	rates := dsl.Param(p, "rates", []float64{0.1})
	image := dsl.Lit("alpine:3.22")
	prepare := dsl.Run(p, "prepare", dsl.Container{Image: image})
	loss := dsl.Each(p, rates, func(rate dsl.Value[float64]) dsl.Value[float64] {
		return dsl.Output[float64](dsl.Run(p, "fit", dsl.Container{Image: image, Args: dsl.Args(rate)}, dsl.After()), "loss", "/loss")
	})
	pick := dsl.Run(p, "pick", dsl.Container{Image: image, Args: dsl.Args(dsl.Collect(loss))}, dsl.After(prepare))
	best := dsl.Output[float64](pick, "best", "/best")
	p.If(dsl.Lt(best, 0.5), func() { dsl.Run(p, "deploy", dsl.Container{Image: image}) })
	p.OnExit(func() { dsl.Run(p, "notify", dsl.Container{Image: image}) })
	g, err := p.Graph()
	require.NoError(t, err)
	return Of(g)
}

func TestPicturesOfAPipeline(t *testing.T) {
	t.Parallel()
	d := sweep(t)
	svg := d.SVG()
	require.Equal(t, svg, sweep(t).SVG(), "the same graph gives the same bytes")
	wellFormed(t, svg)
	for _, want := range []string{"for each of rates", "if pick.best &lt; 0.5", "on exit", ">notify<", "sweep &#34;one&#34; &lt;&amp;&gt;"} {
		require.Contains(t, svg, want)
	}
	require.Equal(t, 4, strings.Count(svg, "<path d=\"M")/2, "loop and prepare before pick, pick before if, if before exit")

	require.Equal(t, `digraph "sweep \"one\" <&>" {
  label="sweep \"one\" <&>";
  labelloc=t;
  compound=true;
  node [shape=box, style=rounded];
  "prepare" [label="prepare\nContainer"];
  subgraph "cluster_for-loop-1" {
    label="for each of rates";
    style=dashed;
    "fit" [label="fit\nContainer"];
  }
  "pick" [label="pick\nContainer"];
  subgraph "cluster_condition-1" {
    label="if pick.best < 0.5";
    style=dashed;
    "deploy" [label="deploy\nContainer"];
  }
  subgraph "cluster_ exit" {
    label="on exit";
    style=dashed;
    "notify" [label="notify\nContainer"];
  }
  "fit" -> "pick" [ltail="cluster_for-loop-1"];
  "prepare" -> "pick";
  "pick" -> "deploy" [lhead="cluster_condition-1"];
  "deploy" -> "notify" [ltail="cluster_condition-1", lhead="cluster_ exit"];
}
`, d.DOT())

	require.Equal(t, `---
title: "sweep \"one\" <&>"
---
flowchart TD
  n1["prepare<br/>Container"]
  subgraph n2["for each of rates"]
    n3["fit<br/>Container"]
  end
  n4["pick<br/>Container"]
  subgraph n5["if pick.best #lt; 0.5"]
    n6["deploy<br/>Container"]
  end
  subgraph n7["on exit"]
    n8["notify<br/>Container"]
  end
  n2 --> n4
  n1 --> n4
  n4 --> n5
  n5 --> n7
`, d.Mermaid())
}

// Branches are drawn beside each other, and sub-pipelines opened, but not for ever.
func TestBranchesAndSubPipelines(t *testing.T) {
	t.Parallel()
	step := func(name string) graph.Node {
		return graph.Node{Name: name, Kind: "Container", Container: &graph.Container{}}
	}
	ask := func(right string) graph.Cond {
		return graph.Cond{Left: graph.Text{{Ref: &graph.Ref{Param: "mode"}}}, Op: "==", Right: right}
	}
	elseIf := graph.Node{Name: "condition-2", Kind: "ElseIf", If: &graph.If{Cond: ask("b"), Nodes: []graph.Node{step("two")}, Else: []graph.Node{step("three")}}}
	call := graph.Node{Name: "again", Kind: "Call", Call: &graph.Call{Sub: "refine"}, After: []string{"condition-1"}}
	d := Of(&graph.Pipeline{
		Name:  "p",
		Nodes: []graph.Node{{Name: "condition-1", Kind: "If", If: &graph.If{Cond: ask("a"), Nodes: []graph.Node{step("one")}, Else: []graph.Node{elseIf}}}, call},
		Subs:  []graph.Sub{{Name: "refine", Nodes: []graph.Node{step("fit"), {Name: "self", Kind: "Call", Call: &graph.Call{Sub: "refine"}, After: []string{"fit"}}}}},
	})
	wellFormed(t, d.SVG())
	require.Equal(t, `---
title: "p"
---
flowchart TD
  subgraph n1["condition-1"]
    subgraph n2["if mode == a"]
      n3["one<br/>Container"]
    end
    subgraph n4["else if mode == b"]
      n5["two<br/>Container"]
    end
    subgraph n6["else"]
      n7["three<br/>Container"]
    end
  end
  subgraph n8["again"]
    n9["fit<br/>Container"]
    n10["self<br/>Call"]
    n9 --> n10
  end
  n1 --> n8
`, d.Mermaid())
}

func TestOddGraphs(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]Diagram{
		"nothing":     {Title: ""},
		"empty group": {Nodes: []Node{{ID: "g", Label: "g", Group: true}, {ID: "b", After: []string{"g"}}}},
		"circle":      {Nodes: []Node{{ID: "a", After: []string{"b"}}, {ID: "b", After: []string{"a"}}, {ID: "c", After: []string{"c", "none"}}}},
		"controls":    {Title: "\x00\x1b[31m\xff\uffff", Nodes: []Node{{ID: "\n", Label: "日本語\x01", Status: "<odd>"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wellFormed(t, d.SVG())
			require.NotEmpty(t, d.DOT())
			require.NotEmpty(t, d.Mermaid())
		})
	}
}

// No two boxes of random graphs lie on each other, each lies below what it waits for, and groups hold what is theirs.
func TestLayout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var made int
		var build func(depth int) []Node
		build = func(depth int) []Node {
			nodes := make([]Node, rapid.IntRange(1, 9).Draw(t, "nodes"))
			for i := range nodes {
				made++
				nodes[i] = Node{ID: fmt.Sprint("n", made), Label: rapid.StringMatching(`[a-z]{1,30}`).Draw(t, "label")}
				for j := range i {
					if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
						nodes[i].After = append(nodes[i].After, nodes[j].ID)
					}
				}
				if depth < 2 && rapid.IntRange(0, 4).Draw(t, "group") == 0 {
					nodes[i].Group, nodes[i].Nodes = true, build(depth+1)
				}
			}
			return nodes
		}
		check(t, arrange(build(0)))
	})
}

func check(t *rapid.T, p *plane) {
	for _, layer := range p.layers {
		for i, b := range layer {
			require.GreaterOrEqual(t, b.x, -0.01)
			require.LessOrEqual(t, b.x+b.w, p.w+0.01)
			require.LessOrEqual(t, b.y+b.h, p.h+0.01)
			if i > 0 {
				require.GreaterOrEqual(t, b.x, layer[i-1].x+layer[i-1].w+gapX-0.01, "boxes keep apart")
			}
			if b.inner != nil {
				require.LessOrEqual(t, b.inner.w+2*groupPad, b.w+0.01)
				check(t, b.inner)
			}
		}
	}
	for _, edge := range p.edges {
		for i := 1; i < len(edge); i++ {
			require.GreaterOrEqual(t, edge[i].y, edge[i-1].bottom+gapY-0.01, "edges go down")
		}
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, svg)
	}
}

func BenchmarkSVG(b *testing.B) {
	d := Diagram{Title: "chain"}
	for i := range 1000 {
		n := Node{ID: fmt.Sprint(i), Label: fmt.Sprint("step-", i)}
		if i >= 10 {
			n.After = []string{fmt.Sprint(i - 10), fmt.Sprint(i - 7)}
		}
		d.Nodes = append(d.Nodes, n)
	}
	for b.Loop() {
		d.SVG()
	}
}
