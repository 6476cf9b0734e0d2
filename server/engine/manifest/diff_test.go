package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/manifest"
)

const before = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: x-
  annotations:
    pipelines.kubeflow.org/pipeline_compilation_time: "2020-01-01"
    pipelines.kubeflow.org/pipeline_spec: '{"name":"x","inputs":[]}'
spec:
  entrypoint: main
  arguments: {parameters: [{name: a, value: 1}, {name: b, value: "2"}]}
  templates:
  - name: main
    dag:
      tasks:
      - {name: first, template: one}
      - {name: second, template: two, dependencies: [first, third]}
      - {name: third, template: one}
  - name: one
    container: {image: alpine, args: [a, b, c], resources: {limits: {cpu: 1000m}}}
  - name: two
    container: {image: alpine, env: [{name: A, value: "1"}, {name: B, value: "2"}]}
`

// same is before, written otherwise.
const same = `kind: Workflow
apiVersion: argoproj.io/v1alpha1
metadata:
  annotations:
    pipelines.kubeflow.org/pipeline_spec: '{ "inputs": [], "name": "x" }'
    pipelines.kubeflow.org/kfp_sdk_version: 1.8.22
  generateName: x-
spec:
  templates:
  - name: II
    container:
      env:
      - {name: B, value: "2"}
      - {name: A, value: "1"}
      image: alpine
  - name: I
    inputs: {}
    container: {image: "alpine", args: ["a", "b", "c"], resources: {limits: {cpu: "1"}}}
  - name: start
    dag:
      tasks:
      - {name: third, template: I}
      - {name: second, template: II, dependencies: [third, first]}
      - {name: first, template: I}
  - name: unused
    container: {image: busybox}
  entrypoint: start
  arguments: {parameters: [{name: b, value: 2}, {name: a, value: "1"}]}
`

func TestDiffSeesNoFormOnlyMeaning(t *testing.T) {
	t.Parallel()
	changes, err := manifest.Diff([]byte(before), []byte(same))
	require.NoError(t, err)
	require.Empty(t, changes)
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, new string
		want     manifest.Change
	}{
		"parameter": {`value: "2"}]}`, `value: "3"}]}`, manifest.Change{Path: "spec.arguments.parameters[b].value", From: "2", To: "3"}},
		"image":     {"image: alpine, env", "image: debian, env", manifest.Change{Step: "second", Path: "container.image", From: "alpine", To: "debian"}},
		"argument in the middle": {
			"args: [a, b, c]", "args: [a, c]",
			manifest.Change{Step: "first", Path: "container.args[1]", From: "b"},
		},
		"argument at the end": {"args: [a, b, c]", "args: [a, b, c, d]", manifest.Change{Step: "first", Path: "container.args[3]", To: "d"}},
		"quantity":            {"cpu: 1000m", "cpu: 2", manifest.Change{Step: "first", Path: "container.resources.limits.cpu", From: "1", To: "2"}},
		"dependency":          {"[first, third]", "[first]", manifest.Change{Step: "second", Path: "task.dependencies[1]", From: "third"}},
		"task":                {"      - {name: third, template: one}\n", "", manifest.Change{Step: "third", From: map[string]any{"name": "third", "template": "one"}}},
		"template gone":       {"template: two", "template: three", manifest.Change{Step: "second", Path: "task.template", From: "two", To: "three (which does not exist)"}},
		"spec":                {`{"name":"x",`, `{"name":"y",`, manifest.Change{Path: "metadata.annotations.pipelines.kubeflow.org/pipeline_spec.name", From: "x", To: "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, before, c.old)
			changes, err := manifest.Diff([]byte(before), []byte(strings.Replace(before, c.old, c.new, 1)))
			require.NoError(t, err)
			require.Len(t, changes, 1)
			require.Equal(t, c.want, changes[0])
		})
	}
}

func TestDiffSaysWhichCannotBeRead(t *testing.T) {
	t.Parallel()
	_, err := manifest.Diff([]byte("a: 1"), []byte(before))
	require.EqualError(t, err, "the first workflow: it is not a Workflow: apiVersion and kind are missing")
	_, err = manifest.Diff([]byte(before), []byte(""))
	require.ErrorContains(t, err, "the second workflow: ")
}

// Workflows that call themselves are compared to their end.
func TestDiffOfRecursion(t *testing.T) {
	t.Parallel()
	loop := strings.Replace(before, "{name: third, template: one}", "{name: third, template: main}", 1)
	changes, err := manifest.Diff([]byte(loop), []byte(loop))
	require.NoError(t, err)
	require.Empty(t, changes)
}

// Each golden is itself and no other.
func TestDiffOfGoldens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../compiler/testdata/*.yaml")
	require.NoError(t, err)
	for i, file := range files {
		a, err := os.ReadFile(file)
		require.NoError(t, err)
		b, err := os.ReadFile(files[(i+1)%len(files)])
		require.NoError(t, err)
		changes, err := manifest.Diff(a, a)
		require.NoError(t, err)
		require.Empty(t, changes, file)
		changes, err = manifest.Diff(a, b)
		require.NoError(t, err)
		require.NotEmpty(t, changes, file)
	}
}
