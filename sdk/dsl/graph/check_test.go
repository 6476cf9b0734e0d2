package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func step(name string, after ...string) Node {
	return Node{Name: name, Kind: "Container", At: Position{File: "p.go", Line: 1}, After: after, Container: &Container{
		Image: Text{{Text: "a"}}, Outputs: []Output{{Name: "out", Path: "/out"}}, Artifacts: []Artifact{{Name: "file", Path: "/file"}},
	}}
}

func using(n Node, refs ...Ref) Node {
	for _, r := range refs {
		n.Container.Args = append(n.Container.Args, Text{{Ref: &r}})
	}
	return n
}

func each(name string, items Text, nodes ...Node) Node {
	return Node{Name: name, Each: &Each{Items: items, Nodes: nodes}}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	list := Text{{Text: "[1]"}}
	out := Ref{Step: "a", Output: "out"}
	collected := Ref{Step: "a", Output: "out", Collected: 1}
	require.NoError(t, (&Pipeline{Name: "p", Nodes: []Node{each("loop", list, step("a")), using(step("b", "loop"), collected)}}).Check())

	for want, p := range map[string]Pipeline{
		`pipeline "p" has no steps`:                                        {},
		"p.go:1: b: it waits for a, which waits for it":                    {Nodes: []Node{step("a", "b"), step("b", "a")}},
		"p.go:1: a: it waits for a, which waits for it":                    {Nodes: []Node{step("a", "a")}},
		"p.go:1: a: it waits for b, which is not in the same group":        {Nodes: []Node{step("a", "b"), each("loop", list, step("b"))}},
		"p.go:1: a: the name is used twice":                                {Nodes: []Node{step("a"), each("loop", list, step("a"))}},
		`p.go:1: A b: a node has the name "A b"`:                           {Nodes: []Node{step("A b")}},
		"x: it must be one of a container, a condition, a loop and a call": {Nodes: []Node{{Name: "x"}}},
		"loop: there are no steps in it":                                   {Nodes: []Node{each("loop", list)}},
		"loop: its items are not a JSON list, or the list is empty":        {Nodes: []Node{each("loop", Text{{Text: "[]"}}, step("a"))}},
		"p.go:1: b: it uses output out of a, and does not wait for it":     {Nodes: []Node{step("a"), using(step("b"), out)}},
		"p.go:1: b: it uses output out of a, which it cannot see":          {Nodes: []Node{each("loop", list, step("a")), using(step("b", "loop"), out)}},
		"p.go:1: b: output out of a is collected where there is no loop":   {Nodes: []Node{step("a"), using(step("b", "a"), collected)}},
		"p.go:1: b: there is no output x of a":                             {Nodes: []Node{step("a"), using(step("b", "a"), Ref{Step: "a", Output: "x"})}},
		"p.go:1: b: artifact file is used where a value is needed":         {Nodes: []Node{step("a"), using(step("b", "a"), Ref{Step: "a", Output: "file", File: true})}},
		"p.go:1: a: the pipeline has no parameter x":                       {Nodes: []Node{using(step("a"), Ref{Param: "x"})}},
		"p.go:1: a: there is no input x here":                              {Nodes: []Node{using(step("a"), Ref{Input: "x"})}},
		"p.go:1: a: it uses an item of loop outside of it":                 {Nodes: []Node{using(step("a"), Ref{Loop: "loop"})}},
		"sub-pipeline s has no steps in it":                                {Nodes: []Node{{Name: "c", Call: &Call{Sub: "s"}}}, Subs: []Sub{{Name: "s"}}},
		"c: it calls s, which is not a sub-pipeline":                       {Nodes: []Node{{Name: "c", Call: &Call{Sub: "s"}}}},
		"c: it passes 0 inputs of 1": {
			Nodes: []Node{{Name: "c", Call: &Call{Sub: "s"}}}, Subs: []Sub{{Name: "s", Inputs: []SubInput{{Name: "in"}}, Nodes: []Node{step("a")}}},
		},
		"again: sub-pipeline s calls itself always, and would never end": {
			Nodes: []Node{step("a")}, Subs: []Sub{{Name: "s", Nodes: []Node{{Name: "again", Call: &Call{Sub: "s"}}}}},
		},
		`c: it compares by "~"`:                          {Nodes: []Node{{Name: "c", If: &If{Cond: Cond{Op: "~"}, Nodes: []Node{step("a")}}}}},
		`c: it compares with "x", which is not a number`: {Nodes: []Node{{Name: "c", If: &If{Cond: Cond{Op: "<", Type: Integer, Right: "x"}, Nodes: []Node{step("a")}}}}},
	} {
		p.Name = "p"
		require.EqualError(t, p.Check(), want)
	}
	both := Pipeline{Name: "p", Nodes: []Node{step("a", "b"), step("b", "a"), using(step("c"), Ref{Param: "x"})}}
	require.EqualError(t, both.Check(), "p.go:1: b: it waits for a, which waits for it\np.go:1: c: the pipeline has no parameter x")
}
