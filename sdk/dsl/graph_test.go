package dsl_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

func constant(s string) graph.Text { return graph.Text{{Text: s}} }
func param(s string) graph.Part    { return graph.Part{Ref: &graph.Ref{Param: s}} }

func TestGraphIsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	p := dsl.New("p", dsl.Description("d"))
	n := dsl.Param(p, "n", 3, dsl.Help("how many"))
	limit := dsl.Param(p, "limit", 90*time.Second)
	first := dsl.Run(p, "first", dsl.Container{
		Image:   dsl.Lit("a:1"),
		Command: dsl.Args("run", n),
		Env:     dsl.Env{"B": dsl.Sprintf("<%v|%s>", n, limit), "A": dsl.FieldRef("metadata.name")},
	})
	out := dsl.Output[[]float64](first, "out", "/out", dsl.Default("[]"))
	dsl.Each(p, out, func(item dsl.Value[float64]) any {
		p.If(dsl.Ge(item, 0.5), func() {
			dsl.Run(p, "inner", dsl.Container{Image: dsl.Lit("b:1"), Args: dsl.Args(dsl.Argo("pod.name"))})
		})
		return nil
	})
	p.OnExit(func() { dsl.Run(p, "bye", dsl.Container{Image: dsl.Lit("c:1")}) })

	empty := "[]"
	want := &graph.Pipeline{
		Name:        "p",
		Description: "d",
		Params: []graph.Param{
			{Name: "n", Type: graph.Integer, Default: "3", Description: "how many"},
			{Name: "limit", Type: graph.String, Default: "1m30s"},
		},
		Nodes: []graph.Node{
			{Name: "first", Kind: "Container", Container: &graph.Container{
				Image:   constant("a:1"),
				Command: []graph.Text{constant("run"), {param("n")}},
				Env: []graph.EnvVar{
					{Name: "A", FieldRef: "metadata.name"},
					{Name: "B", Value: graph.Text{{Text: "<"}, param("n"), {Text: "|"}, param("limit"), {Text: ">"}}},
				},
				Outputs: []graph.Output{{Name: "out", Type: graph.List, Path: "/out", Default: &empty}},
			}},
			{Name: "for-loop-1", Kind: "Each", After: []string{"first"}, Each: &graph.Each{
				Items: graph.Text{{Ref: &graph.Ref{Step: "first", Output: "out"}}},
				Item:  graph.Float,
				Nodes: []graph.Node{{Name: "condition-1", Kind: "If", If: &graph.If{
					Cond: graph.Cond{Left: graph.Text{{Ref: &graph.Ref{Loop: "for-loop-1"}}}, Op: ">=", Right: "0.5", Type: graph.Float},
					Nodes: []graph.Node{{Name: "inner", Kind: "Container", Container: &graph.Container{
						Image: constant("b:1"),
						Args:  []graph.Text{{{Ref: &graph.Ref{Variable: "pod.name"}}}},
					}}},
				}}},
			}},
		},
		Exit: []graph.Node{{Name: "bye", Kind: "Container", Container: &graph.Container{Image: constant("c:1")}}},
	}
	got, err := p.Graph()
	require.NoError(t, err)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(graph.Position{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("graph (-want +got):\n%s", diff)
	}
	require.Equal(t, "graph_test.go", base(got.Nodes[0].At.File))

	text, err := json.Marshal(got)
	require.NoError(t, err)
	var back graph.Pipeline
	require.NoError(t, json.Unmarshal(text, &back))
	require.Empty(t, cmp.Diff(got, &back, cmpopts.EquateEmpty()), "the graph survives JSON")
}

// A graph is a copy: what is recorded later does not reach it.
func TestGraphIsACopy(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	s := dsl.Run(p, "s", dsl.Container{Image: alpine})
	before, err := p.Graph()
	require.NoError(t, err)
	dsl.Output[int](s, "o", "/o")
	dsl.Run(p, "t", dsl.Container{Image: alpine})
	require.Len(t, before.Nodes, 1)
	require.Empty(t, before.Nodes[0].Container.Outputs)
}

// What waits for a step inside a group waits for the group, and the group for what its steps wait for.
func TestStepsWaitForGroups(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	run := func(name string, after ...dsl.Handle) *dsl.Step {
		return dsl.Run(p, name, dsl.Container{Image: alpine}, dsl.After(after...))
	}
	a := run("a")
	var b *dsl.Step
	p.If(dsl.Eq(dsl.Param(p, "x", 1), 1), func() {
		p.If(dsl.Eq(dsl.Param(p, "y", 1), 1), func() {
			b = run("b", a)
			run("c", b, a, a)
		})
	})
	run("d", b)

	g, err := p.Graph()
	require.NoError(t, err)
	outer := g.Nodes[1]
	inner := outer.If.Nodes[0]
	require.Equal(t, []string{"a"}, outer.After)
	require.Empty(t, inner.After)
	require.Empty(t, inner.If.Nodes[0].After)
	require.Equal(t, []string{"b"}, inner.If.Nodes[1].After)
	require.Equal(t, []string{"condition-1"}, g.Nodes[2].After)
}

func TestValuesConvertWhereSaid(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	n := dsl.Param(p, "n", 3)
	dsl.Run(p, "s", dsl.Container{Image: alpine, WorkingDir: dsl.Value[string](n)})
	g, err := p.Graph()
	require.NoError(t, err)
	require.Equal(t, graph.Text{param("n")}, g.Nodes[0].Container.WorkingDir)
}

func TestKnown(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	s := dsl.Run(p, "s", dsl.Container{Image: alpine})
	for _, test := range []struct {
		value dsl.AnyValue
		want  string
		ok    bool
	}{
		{dsl.Lit("a"), "a", true},
		{dsl.Lit(""), "", true},
		{dsl.Lit(0.5), "0.5", true},
		{dsl.Lit([]string{"<a>"}), `["<a>"]`, true},
		{dsl.Param(p, "n", 3), "3", true},
		{dsl.Sprintf("n=%v", dsl.Param(p, "m", 4)), "n=4", true},
		{dsl.Value[int]{}, "", false},
		{nil, "", false},
		{dsl.Output[int](s, "o", "/o"), "", false},
		{dsl.Argo("workflow.name"), "", false},
		{dsl.Lit(func() {}), "", false},
	} {
		got, ok := dsl.Known(test.value)
		require.Equal(t, test.ok, ok, "%#v", test.value)
		require.Equal(t, test.want, got)
	}
}
