package engine_test

import (
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

const trains = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: train-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: metric, value: images/sec}]}
  templates:
    - name: main
      inputs: {parameters: [{name: own, value: "loss:RAW:min"}, {name: none, value: ""}, {name: our-own, value: "a<$$b$(X)"}]}
      container:
        image: argosyml/argosy-launcher:dev
        command: [argosy-launcher]
        args: [mpijob, "--metric={{workflow.parameters.metric}}", --metric, "{{inputs.parameters.own}}", "--metric={{inputs.parameters.none}}",
          '--metric={{=sprig.replace("$", "$$", inputs.parameters[''our-own''])}}:RAW', '--metric={{=sprig.replace("$", "$$", inputs.parameters.gone)}}', "--metric=a:::$$(x)$(ARGOSY_BRACE){2}$",
          "--metrics-file=/x", --, "train --metric=not-ours"]
    - name: other
      container: {image: alpine, command: [echo, --metric=x]}
`

// TestScrapeRules: the server knows what a step looks for in its output from the arguments of its launcher.
func TestScrapeRules(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r, err := b.Runs.Creator.Create(t.Context(), run.Request{Name: "a run", Manifest: []byte(trains)})
	require.NoError(t, err)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		inputs := &wfv1.Inputs{Parameters: wf.Spec.Templates[0].Inputs.Parameters}
		wf.Status.Phase = wfv1.WorkflowRunning
		wf.Status.Nodes = wfv1.Nodes{
			"a": {ID: "a", Name: wf.Name + ".a", Type: wfv1.NodeTypePod, TemplateName: "main", Inputs: inputs},
			"b": {ID: "b", Name: wf.Name + ".b", Type: wfv1.NodeTypePod, TemplateName: "other"},
			"c": {ID: "c", Name: wf.Name + ".c", Type: wfv1.NodeTypeDAG, TemplateName: "main"},
			"d": {ID: "d", Name: wf.Name + ".d", Type: wfv1.NodeTypePod, TemplateName: "gone"},
		}
	})
	seen, err := b.Engine.Find(t.Context(), enginetest.Namespace, r.Workflow)
	require.NoError(t, err)
	state, err := seen.State()
	require.NoError(t, err)
	rules := map[string][]string{}
	for _, n := range state.Nodes {
		rules[n.ID] = n.Scrape
	}
	require.Equal(t, map[string][]string{"a": {"images/sec", "loss:RAW:min", "a<$$b$(X):RAW", "a:::$(x){{2}$"}, "b": nil, "c": nil, "d": nil}, rules)
}
