package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// typed is a package with parameters of every type.
func typed(t *testing.T) string {
	t.Helper()
	p := dsl.New("typed")
	args := dsl.Args(
		dsl.Param(p, "lines", 10, dsl.Min(1), dsl.Max(100)), dsl.Param(p, "rate", 0.5, dsl.Min(0.1)), dsl.Param(p, "dry", false),
		dsl.Param(p, "optimizer", "sgd", dsl.Choices("sgd", "adam")), dsl.Param(p, "rates", []float64{0.1}),
		dsl.Param(p, "settings", map[string]int{}), dsl.Param(p, "note", ""))
	dsl.Run(p, "work", dsl.Container{Image: dsl.Lit("alpine"), Command: dsl.Args("true"), Args: args})
	manifest, err := compiler.Compile(p)
	require.NoError(t, err)
	return string(manifest)
}

// TestParameterRules: a value that a package does not allow is refused when the run is made, with what it must be.
func TestParameterRules(t *testing.T) {
	t.Parallel()
	manifest := typed(t)
	for _, c := range []struct{ name, value, refusal string }{
		{"lines", "20", ""},
		{"lines", "abc", `parameter lines is "abc"; it must be a whole number from 1 to 100`},
		{"lines", "", `parameter lines is ""; it must be a whole number from 1 to 100`},
		{"lines", "1.5", `parameter lines is "1.5"; it must be a whole number from 1 to 100`},
		{"lines", "101", `parameter lines is "101"; it must be a whole number from 1 to 100`},
		{"lines", "[[Index]]", ""}, // a tick puts it in
		{"rate", "1e-1", ""},
		{"rate", "0", `parameter rate is "0"; it must be a number, at least 0.1`},
		{"dry", "True", ""},
		{"dry", "yes", `parameter dry is "yes"; it must be true or false`},
		{"optimizer", "adam", ""},
		{"optimizer", "Adam", `parameter optimizer is "Adam"; it must be one of sgd, adam`},
		{"rates", "[[1], 2]", ""},
		{"rates", "0.1", `parameter rates is "0.1"; it must be a JSON list, such as ["a","b"]`},
		{"settings", "[]", `parameter settings is "[]"; it must be a JSON object, such as {"a":1}`},
		{"note", "whatever", ""},
	} {
		_, err := newEngine().Prepare(t.Context(), []byte(manifest), options(run.Parameter{Name: c.name, Value: c.value}))
		if c.refusal == "" {
			require.NoError(t, err, c)
			continue
		}
		require.EqualError(t, err, c.refusal)
		require.Equal(t, apierr.Invalid, apierr.KindOf(err))
	}
	_, err := newEngine().Prepare(t.Context(), []byte(manifest), options(run.Parameter{Name: "lines", Value: "x"}, run.Parameter{Name: "dry", Value: "y"}))
	require.ErrorContains(t, err, "parameter lines is")
	require.ErrorContains(t, err, "; parameter dry is", "all of them at once")
}

// TestParameterRulesOfKFP: a package of KFP's SDK takes any value, as with KFP.
func TestParameterRulesOfKFP(t *testing.T) {
	t.Parallel()
	manifest := `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: sdk-
  annotations:
    pipelines.kubeflow.org/kfp_sdk_version: 1.8.22
    pipelines.kubeflow.org/pipeline_spec: '{"name": "sdk", "inputs": [{"name": "lines", "type": "Integer"}, {"name": "path", "type": {"GCSPath": {}}}]}'
spec:
  entrypoint: main
  arguments: {parameters: [{name: lines, value: "1"}, {name: path, value: ""}]}
  templates: [{name: main, container: {image: alpine, command: ["true"]}}]
`
	_, err := newEngine().Prepare(t.Context(), []byte(manifest), options(run.Parameter{Name: "lines", Value: "many"}, run.Parameter{Name: "path", Value: "here"}))
	require.NoError(t, err)
}
