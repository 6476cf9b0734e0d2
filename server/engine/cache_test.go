package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

const cachedManifest = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: c-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: grace, value: "30"}]}
  templates:
    - name: main
      steps: [[{name: a, template: plain}, {name: b, template: patched}, {name: c, template: "off"}, {name: d, template: always}, {name: e, template: keyed}]]
    - {name: plain, container: {image: alpine, command: [date]}}
    - name: patched
      podSpecPatch: '{"priority": 12345678901234567, "schedulingGates": [{"name": "own"}], "terminationGracePeriodSeconds": {{workflow.parameters.grace}}}'
      container: {image: alpine, command: [date]}
    - {name: "off", metadata: {labels: {pipelines.kubeflow.org/enable_caching: "false"}}, container: {image: alpine, command: [date]}}
    - {name: always, metadata: {annotations: {pipelines.kubeflow.org/max_cache_staleness: P0D}}, container: {image: alpine, command: [date]}}
    - {name: keyed, metadata: {annotations: {argosy.dev/cache-key: v1}}, container: {image: alpine, command: [sh]}}
`

// TestGates: steps wait for the server only where something that they could take was kept.
func TestGates(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	prepare := func(reusable func(context.Context, []string) ([]string, error)) *wfv1.Workflow {
		p, err := b.Engine.Prepare(t.Context(), []byte(cachedManifest), run.Options{RunID: "r", Namespace: "kubeflow", Reusable: reusable})
		require.NoError(t, err)
		wf := &wfv1.Workflow{}
		require.NoError(t, json.Unmarshal(p.Workflow, wf))
		return wf
	}
	gated := func(wf *wfv1.Workflow) (names []string) {
		for _, tmpl := range wf.Spec.Templates {
			if tmpl.Metadata.Labels["argosy.dev/asks-cache"] == "true" {
				require.Contains(t, tmpl.PodSpecPatch, `{"name":"argosy.dev/cache"}`)
				names = append(names, tmpl.Name)
			}
		}
		return names
	}
	var families []string
	fresh := prepare(func(_ context.Context, asked []string) ([]string, error) {
		families = asked
		return nil, nil
	})
	require.Empty(t, gated(fresh))
	require.Len(t, families, 4)
	require.Equal(t, families[0], families[1], "how a pod is placed makes no difference")
	require.NotEqual(t, families[0], families[3])
	all := func(_ context.Context, asked []string) ([]string, error) { return asked, nil }
	known := prepare(all)
	require.Equal(t, []string{"plain", "keyed"}, gated(known), "a patch that is no JSON before it is filled in stays as it is")
	require.Equal(t, `{"schedulingGates":[{"name":"argosy.dev/cache"}]}`, known.GetTemplateByName("plain").PodSpecPatch)
	for name, on := range map[string]string{"plain": "true", "off": "true", "always": "true", "main": "true"} {
		require.Equal(t, on, known.GetTemplateByName(name).Metadata.Labels["pipelines.kubeflow.org/cache_enabled"], name)
	}
	off := prepare(nil)
	require.Empty(t, gated(off))
	require.Equal(t, "false", off.GetTemplateByName("plain").Metadata.Labels["pipelines.kubeflow.org/cache_enabled"])

	_, err := b.Engine.Prepare(t.Context(), []byte(cachedManifest), run.Options{RunID: "r", Reusable: func(context.Context, []string) ([]string, error) {
		return nil, errors.New("the store failed")
	}})
	require.EqualError(t, err, "the store failed")
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	outputs, err := b.Engine.Outputs([]byte(`{"status":{"nodes":{
		"a":{"outputs":{"parameters":[{"name":"x","value":"1"}],"artifacts":[{"name":"f","s3":{"key":"k"}}]}},
		"b":{},
		"elsewhere":{"outputs":{"artifacts":[{"name":"f","gcs":{"key":"k"}}]}}}}}`))
	require.NoError(t, err)
	require.Len(t, outputs, 2)
	require.JSONEq(t, `{}`, string(outputs["b"]))
	_, err = b.Engine.Outputs([]byte("no"))
	require.ErrorContains(t, err, "cannot be read")
}
