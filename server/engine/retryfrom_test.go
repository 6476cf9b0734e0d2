package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// endedRun is a run that succeeded: data, then sub (a DAG of its own: fit and its loop, then pick), then report; other beside
// them; an exit handler.
func endedRun(t *testing.T, b *enginetest.Bundle) run.Run {
	t.Helper()
	r := b.Start(t)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		id := func(name string) string { return wf.NodeID(strings.TrimSuffix(wf.Name+"."+name, ".")) }
		node := func(name, display string, kind wfv1.NodeType, boundary string, children, outbound []string) {
			n := wfv1.NodeStatus{ID: id(name), Name: strings.TrimSuffix(wf.Name+"."+name, "."), DisplayName: display, Type: kind, Phase: wfv1.NodeSucceeded, TemplateName: "main"}
			if boundary != "-" {
				n.BoundaryID = id(boundary)
			}
			for _, c := range children {
				n.Children = append(n.Children, id(c))
			}
			for _, o := range outbound {
				n.OutboundNodes = append(n.OutboundNodes, id(o))
			}
			wf.Status.Nodes[n.ID] = n
		}
		wf.Status = wfv1.WorkflowStatus{Phase: wfv1.WorkflowSucceeded, Nodes: wfv1.Nodes{}}
		node("", wf.Name, wfv1.NodeTypeDAG, "-", []string{"data", "other"}, []string{"report", "other"})
		node("data", "data", wfv1.NodeTypePod, "", []string{"sub"}, nil)
		node("sub", "sub", wfv1.NodeTypeDAG, "", []string{"sub.fit", "sub.side"}, []string{"sub.pick", "sub.side"})
		node("sub.fit", "fit", wfv1.NodeTypeTaskGroup, "sub", []string{"sub.fit(0)", "sub.fit(1)"}, []string{"sub.fit(0)", "sub.fit(1)"})
		node("sub.fit(0)", "fit(0)", wfv1.NodeTypeRetry, "sub", []string{"sub.fit(0)(0)", "sub.fit(0)(1)"}, []string{"sub.fit(0)(1)"})
		node("sub.fit(0)(0)", "fit(0)(0)", wfv1.NodeTypePod, "sub", nil, nil)
		node("sub.fit(0)(1)", "fit(0)(1)", wfv1.NodeTypePod, "sub", []string{"sub.pick"}, nil)
		node("sub.fit(1)", "fit(1)", wfv1.NodeTypePod, "sub", []string{"sub.pick"}, nil)
		node("sub.side", "side", wfv1.NodeTypePod, "sub", []string{"report"}, nil)
		node("sub.pick", "pick", wfv1.NodeTypePod, "sub", []string{"report"}, nil)
		node("report", "report", wfv1.NodeTypePod, "", nil, nil)
		node("other", "other", wfv1.NodeTypePod, "", nil, nil)
		node("onExit", "onExit", wfv1.NodeTypePod, "-", nil, nil)
	})
	return r
}

// TestRewind: going on from a step runs it and what comes after it again, opens the groups around it, and leaves the rest.
func TestRewind(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := endedRun(t, b)
	text, err := json.Marshal(b.Workflow(t, r))
	require.NoError(t, err)
	for step, want := range map[string]struct{ again, open []string }{
		"report":     {[]string{"onExit", "report"}, []string{""}},
		"pick":       {[]string{"onExit", "report", "sub.pick"}, []string{"", "sub"}},
		"sub.fit(1)": {[]string{"onExit", "report", "sub.fit(1)", "sub.pick"}, []string{"", "sub", "sub.fit"}},
		"fit(0)(1)":  {[]string{"onExit", "report", "sub.fit(0)", "sub.fit(0)(0)", "sub.fit(0)(1)", "sub.pick"}, []string{"", "sub", "sub.fit"}},
		"fit":        {[]string{"onExit", "report", "sub.fit", "sub.fit(0)", "sub.fit(0)(0)", "sub.fit(0)(1)", "sub.fit(1)", "sub.pick"}, []string{"", "sub"}},
		"side":       {[]string{"onExit", "report", "sub.side"}, []string{"", "sub"}},
		"sub":        {[]string{"onExit", "report", "sub", "sub.fit", "sub.fit(0)", "sub.fit(0)(0)", "sub.fit(0)(1)", "sub.fit(1)", "sub.pick", "sub.side"}, []string{""}},
		"other":      {[]string{"onExit", "other"}, []string{""}},
		r.Workflow:   {[]string{"", "data", "onExit", "other", "report", "sub", "sub.fit", "sub.fit(0)", "sub.fit(0)(0)", "sub.fit(0)(1)", "sub.fit(1)", "sub.pick", "sub.side"}, nil},
	} {
		a, err := b.Engine.Again(text, 1, run.From{Step: step, Parameters: []run.Parameter{{Name: "greeting", Value: "ho"}}})
		require.NoError(t, err, step)
		wf := &wfv1.Workflow{}
		require.NoError(t, json.Unmarshal(a.Workflow, wf))
		require.Equal(t, "ho", wf.Spec.Arguments.Parameters[0].Value.String())
		var again, open []string
		before := b.Workflow(t, r)
		for id, n := range before.Status.Nodes {
			name := strings.TrimPrefix(strings.TrimPrefix(n.Name, wf.Name), ".")
			if now, there := wf.Status.Nodes[id]; !there {
				again = append(again, name)
			} else if now.Phase == wfv1.NodeRunning {
				open = append(open, name)
			}
		}
		slices.Sort(again)
		slices.Sort(open)
		require.Equal(t, want.again, again, step)
		require.Equal(t, want.open, open, step)
		require.Len(t, a.Dropped, len(again))
	}
	for says, from := range map[string]run.From{
		"did not get to it":            {Step: "nowhere"},
		"to an exit handler":           {Step: "onExit"},
		"Unrecognized input parameter": {Step: "pick", Parameters: []run.Parameter{{Name: "x"}}},
	} {
		_, err := b.Engine.Again(text, 1, from)
		require.ErrorContains(t, err, says)
		require.Equal(t, apierr.Invalid, apierr.KindOf(err))
	}
}

// TestKeptWithOthers: a retry with another value names the steps that it keeps and that used the old one.
func TestKeptWithOthers(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := endedRun(t, b)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		old := wf.Spec.Arguments.Parameters[0].Value
		for id, n := range wf.Status.Nodes {
			n.TemplateName = "asks nothing"
			switch strings.TrimPrefix(n.Name, wf.Name+".") {
			case "data", "sub.fit(0)", "sub.fit(0)(1)", "report":
				n.Inputs = &wfv1.Inputs{Parameters: []wfv1.Parameter{{Name: "greeting", Value: old}}}
			case "sub.side":
				n.Inputs = &wfv1.Inputs{Parameters: []wfv1.Parameter{{Name: "greeting", Value: wfv1.AnyStringPtr("its own")}}}
			case "other":
				n.TemplateName = "asks"
			}
			wf.Status.Nodes[id] = n
		}
		wf.Spec.Templates = append(wf.Spec.Templates, wfv1.Template{Name: "asks", Container: &corev1.Container{Image: "{{workflow.parameters.greeting}}"}})
	})
	text, err := json.Marshal(b.Workflow(t, r))
	require.NoError(t, err)
	old := b.Workflow(t, r).Spec.Arguments.Parameters[0].Value.String()
	for value, want := range map[string][]string{"ho": {`retry 3 set greeting to "ho"; kept steps used "` + old + `": data, fit(0), other`}, old: nil} {
		again, err := b.Engine.Again(text, 3, run.From{Step: "pick", Parameters: []run.Parameter{{Name: "greeting", Value: value}}})
		require.NoError(t, err)
		require.Equal(t, want, again.Warnings)
	}
}
