package engine

import (
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
)

// TestSkipped: a step that was skipped shows the condition as the pipeline has it.
func TestSkipped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ when, said, want string }{
		{`{{=asFloat(inputs.parameters.count) > 5}}`, "when 'false' evaluated false", "skipped: count > 5 was false"},
		{`{{=asFloat(tasks.fit.outputs.parameters['final-loss']) < 0.001}}`, "when 'false' evaluated false", "skipped: fit.final-loss < 0.001 was false"},
		{`{{=lower(inputs.parameters.dry) != "true"}}`, "when 'false' evaluated false", `skipped: dry != "true" was false`},
		{`"{{tasks.flip-coin.outputs.parameters.flip-coin-output}}" == "heads"`, `when '"tails" == "heads"' evaluated false`, `skipped: "flip-coin.flip-coin-output" == "heads" was false ("tails" == "heads")`},
		{`1 > 2`, "when '1 > 2' evaluated false", "skipped: 1 > 2 was false"},
		{`{{workflow.parameters.go}}`, "when 'no' evaluated false", "skipped: go was false (no)"},
		{``, "something else", "something else"},
	} {
		wf := &wfv1.Workflow{Spec: wfv1.WorkflowSpec{Templates: []wfv1.Template{
			{Name: "main", DAG: &wfv1.DAGTemplate{Tasks: []wfv1.DAGTask{{Name: "first"}, {Name: "step", When: c.when}}}},
			{Name: "list", Steps: []wfv1.ParallelSteps{{Steps: []wfv1.WorkflowStep{{Name: "step", When: c.when}}}}},
		}}}
		for _, outer := range []string{"main", "list"} {
			wf.Status.Nodes = wfv1.Nodes{"outer": {TemplateName: outer}}
			n := wfv1.NodeStatus{DisplayName: "step(0:a)", BoundaryID: "outer", Type: wfv1.NodeTypeSkipped, Message: c.said}
			require.Equal(t, c.want, nodeOf(wf, n).Message)
		}
	}
	alone := wfv1.NodeStatus{Type: wfv1.NodeTypeSkipped, Message: "when '1 > 2' evaluated false"}
	require.Equal(t, alone.Message, nodeOf(&wfv1.Workflow{}, alone).Message, "the template is elsewhere")
}
