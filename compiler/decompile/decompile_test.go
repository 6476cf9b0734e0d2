package decompile_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/server/engine/manifest"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

var keep = flag.Bool("keep", false, "keep the sources that were made")

// roundTrip writes workflows as Go, compiles all of them in one program, and compares what comes out.
func roundTrip(t *testing.T, workflows map[string][]byte) {
	t.Helper()
	var names, functions, files []string
	for file, text := range workflows {
		name, source, err := decompile.Function(text)
		require.NoError(t, err, file)
		// Several of them may have the same name.
		unique := fmt.Sprintf("%s%d", name, len(names))
		names = append(names, unique)
		functions = append(functions, strings.Replace(source, "func "+name+"()", "func "+unique+"()", 1))
		files = append(files, file)
	}
	source, err := decompile.Program(names, functions...)
	require.NoError(t, err)
	// Within the module, so that the program finds the SDK.
	dir, err := os.MkdirTemp(".", ".program-*")
	require.NoError(t, err)
	if !*keep {
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), source, 0o644))
	for _, file := range files {
		_, first, err := decompile.Function(workflows[file])
		require.NoError(t, err)
		_, again, err := decompile.Function(workflows[file])
		require.NoError(t, err)
		require.Equal(t, first, again, "the same workflow gives the same source")
	}
	out := t.TempDir()
	require.NoError(t, compiler.RunDir(t.Context(), dir, []string{"-o", out}, io.Discard))
	packages, err := filepath.Glob(filepath.Join(out, "*.tar.gz"))
	require.NoError(t, err)
	require.Len(t, packages, len(files))
	compiled := map[string][]byte{} // by the names that the runs would have
	for _, file := range packages {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		text, err := pkgfile.Read(file, data)
		require.NoError(t, err)
		compiled[generateName(t, text)] = text
	}
	for i, file := range files {
		changes, err := manifest.Diff(workflows[file], compiled[generateName(t, workflows[file])])
		require.NoError(t, err, file)
		require.Empty(t, changes, "%s, by way of\n%s", file, functions[i])
	}
}

func generateName(t *testing.T, workflow []byte) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^  generateName: (.*)$`).FindSubmatch(workflow)
	require.NotNil(t, m)
	return string(m[1])
}

// Parameters of every type, with defaults and without.
const parameters = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: parameters-
  annotations:
    pipelines.kubeflow.org/pipeline_spec: '{"name":"parameters","inputs":[{"name":"mode","type":"String","optional":false},{"name":"size","type":"Integer","default":"2","optional":true},{"name":"rate","type":"Float","default":"0.10","optional":true},{"name":"map","type":"JsonObject","default":"{\"b\":1,\"a\":2}","optional":true},{"name":"object","type":"JsonObject","optional":false}]}'
spec:
  entrypoint: parameters
  serviceAccountName: pipeline-runner
  arguments:
    parameters:
    - {name: mode, enum: [fast, slow], description: how}
    - {name: size, value: "2", enum: ["1", "2"]}
    - {name: rate, value: "0.10"}
    - {name: map, value: '{"b":1,"a":2}'}
    - {name: object}
  templates:
  - name: parameters
    inputs: {parameters: [{name: map}]}
    dag:
      tasks:
      - name: step
        template: step
        arguments: {parameters: [{name: map, value: "{{inputs.parameters.map}}"}]}
  - name: step
    inputs: {parameters: [{name: map}]}
    container: {image: alpine, args: ["{{workflow.parameters.mode}}", "{{inputs.parameters.map}}", "{{workflow.parameters.object}}"]}
`

func TestSourceOfParameters(t *testing.T) {
	t.Parallel()
	source, err := decompile.Source([]byte(parameters))
	require.NoError(t, err)
	for _, want := range []string{
		`mode := dsl.Required[string](p, "mode", dsl.Help("how"), dsl.Choices("fast", "slow"))`,
		`dsl.Param(p, "size", 2, dsl.Choices(1, 2))`,
		`dsl.Param(p, "rate", "0.10")`,
		"object{json.RawMessage(`{\"b\":1,\"a\":2}`)}",
		`dsl.Required[object](p, "object")`,
	} {
		require.Contains(t, string(source), want)
	}
	described := strings.Replace(parameters, `"String","optional":false`, `"String","description":"how","optional":false`, 1)
	roundTrip(t, map[string][]byte{"parameters": []byte(strings.ReplaceAll(described, "0.10", "0.1"))})
}

// refused are the goldens that this package cannot read yet, with what it says to them.
var refused = map[string]string{
	"branches.yaml":  "a DAG inside of a DAG",
	"collected.yaml": "arguments.artifacts: this cannot be expressed in the DSL",
	"files.yaml":     "arguments.artifacts: this cannot be expressed in the DSL",
	"functions.yaml": "arguments.artifacts: this cannot be expressed in the DSL",
	"scripts.yaml":   "it runs no container",
	"subs.yaml":      "a DAG inside of a DAG",
}

func TestRoundTripOfGoldens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	workflows := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if want := refused[filepath.Base(file)]; want != "" {
			_, err := decompile.Source(text)
			require.ErrorContains(t, err, want, file)
			continue
		}
		workflows[file] = text
	}
	roundTrip(t, workflows)
}

// foreign is a package as the Python SDK of Kubeflow Pipelines 1.8 writes it: a condition in the old way, names of its own.
const foreign = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: conditional-pipeline-
  annotations: {pipelines.kubeflow.org/kfp_sdk_version: 1.8.22, pipelines.kubeflow.org/pipeline_compilation_time: '2026-01-01T00:00:00',
    pipelines.kubeflow.org/pipeline_spec: '{"description": "Shows how to use dsl.Condition().", "inputs": [{"default": "5", "name": "sides", "optional": true, "type": "Integer"}], "name": "conditional-pipeline"}'}
  labels: {pipelines.kubeflow.org/kfp_sdk_version: 1.8.22}
spec:
  entrypoint: conditional-pipeline
  templates:
  - name: condition-1
    inputs:
      parameters:
      - {name: flip-coin-output}
    dag:
      tasks:
      - name: print-flip
        template: print-flip
        arguments:
          parameters:
          - {name: flip-coin-output, value: '{{inputs.parameters.flip-coin-output}}'}
  - name: conditional-pipeline
    inputs:
      parameters:
      - {name: sides}
    dag:
      tasks:
      - name: condition-1
        template: condition-1
        when: '"{{tasks.flip-coin.outputs.parameters.flip-coin-output}}" == "heads"'
        dependencies: [flip-coin]
        arguments:
          parameters:
          - {name: flip-coin-output, value: '{{tasks.flip-coin.outputs.parameters.flip-coin-output}}'}
      - name: flip-coin
        template: flip-coin
        arguments:
          parameters:
          - {name: sides, value: '{{inputs.parameters.sides}}'}
  - name: flip-coin
    container:
      args: ['--sides', '{{inputs.parameters.sides}}', '----output-paths', /tmp/outputs/output/data]
      command: [sh, -c, 'echo "$0"']
      image: python:3.7
    inputs:
      parameters:
      - {name: sides}
    outputs:
      parameters:
      - name: flip-coin-output
        valueFrom: {path: /tmp/outputs/output/data}
    metadata:
      labels: {pipelines.kubeflow.org/enable_caching: "true"}
      annotations: {pipelines.kubeflow.org/component_spec: '{"name": "Flip coin"}'}
  - name: print-flip
    container: {args: ['{{inputs.parameters.flip-coin-output}} on {{inputs.parameters.flip-coin-output}}'], command: [echo], image: alpine}
    inputs:
      parameters:
      - {name: flip-coin-output}
  arguments:
    parameters:
    - {name: sides, value: '5'}
  serviceAccountName: pipeline-runner
`

func TestSourceOfAForeignPackage(t *testing.T) {
	t.Parallel()
	source, err := decompile.Source([]byte(foreign))
	require.NoError(t, err)
	require.Equal(t, `package main

import (
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// ConditionalPipelinePipeline is the pipeline conditional-pipeline.
func ConditionalPipelinePipeline() *dsl.Pipeline {
	p := dsl.New("conditional-pipeline",
		dsl.Description("Shows how to use dsl.Condition()."))
	sides := dsl.Param(p, "sides", 5)

	flipCoin := dsl.Run(p, "flip-coin", dsl.Container{
		Image:   dsl.Lit("python:3.7"),
		Command: dsl.Args("sh", "-c", `+"`echo \"$0\"`"+`),
		Args:    dsl.Args("--sides", sides, "----output-paths", "/tmp/outputs/output/data"),
	},
		dsl.Labels(map[string]dsl.Value[string]{"pipelines.kubeflow.org/enable_caching": dsl.Lit("true")}),
		dsl.Annotations(map[string]dsl.Value[string]{"pipelines.kubeflow.org/component_spec": dsl.Lit(`+"`{\"name\": \"Flip coin\"}`"+`)}))
	flipCoinFlipCoinOutput := dsl.Output[string](flipCoin, "flip-coin-output", "/tmp/outputs/output/data")
	p.If(dsl.Eq(flipCoinFlipCoinOutput, "heads"), func() {
		dsl.Run(p, "print-flip", dsl.Container{
			Image:   dsl.Lit("alpine"),
			Command: dsl.Args("echo"),
			Args:    dsl.Args(dsl.Sprintf("%v on %v", flipCoinFlipCoinOutput, flipCoinFlipCoinOutput)),
		})
	})
	return p
}

func main() { compiler.Main(ConditionalPipelinePipeline) }
`, string(source))
}

// Lists of steps, defaults of inputs and a loop over steps of a list: what Argo's own users write.
const argo = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: by-hand}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - {name: first, template: say}
      - {name: second, template: say, arguments: {parameters: [{name: word, value: hi}]}}
    - - name: third
        template: say
        withItems: [a, b]
        arguments: {parameters: [{name: word, value: "{{item}}"}]}
  - name: say
    inputs: {parameters: [{name: word, value: hello}]}
    container: {image: alpine, command: [echo, "{{inputs.parameters.word}}"]}
`

func TestSourceOfSteps(t *testing.T) {
	t.Parallel()
	source, err := decompile.Source([]byte(argo))
	require.NoError(t, err)
	text := string(source)
	require.Contains(t, text, `dsl.Args("echo", dsl.Lit("hello"))`)
	require.Contains(t, text, `dsl.Each(p, dsl.Lit([]json.RawMessage{json.RawMessage(`+"`\"a\"`"+`), json.RawMessage(`+"`\"b\"`"+`)}), func(item dsl.Value[json.RawMessage]) any {`)
	require.Contains(t, text, "dsl.After(first, second)")
}

func TestWhatCannotBeExpressed(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"image: alpine, |image: alpine, stdin: true, ":                              "line 17: spec.templates[say].container.stdin: this cannot be expressed in the DSL",
		"withItems: [a, b]|withSequence: {count: 3}":                                "withSequence: this cannot be expressed in the DSL",
		"withItems: [a, b]|continueOn: {failed: true}":                              "continueOn: this cannot be expressed in the DSL",
		"container: {image: alpine, |script: {image: alpine, source: x, ":           "it runs no container",
		"template: say, arguments|template: main, arguments":                        "a DAG inside of a DAG",
		"template: say}|template: nowhere}":                                         `its template "nowhere" is not in the workflow`,
		`"{{item}}"|"{{item.name}}"`:                                                "{{item.name}} cannot be expressed",
		"withItems: [a, b]|when: '{{workflow.status}} =~ x'":                        "the condition {{workflow.status}} =~ x cannot be expressed",
		"spec:|spec:\n  hostNetwork: true":                                          "line 5: spec.hostNetwork: this cannot be expressed in the DSL",
		"kind: Workflow|kind: CronWorkflow":                                         `it is of kind "CronWorkflow"`,
		"{name: word, value: hello}|{name: word}":                                   "the task first gives no value for it",
		"inputs: {parameters|inputs: {artifacts: [{name: a, path: /a}], parameters": "spec.templates[say].inputs.artifacts: this cannot be expressed",
	} {
		old, changed, _ := strings.Cut(change, "|")
		require.Contains(t, argo, old)
		_, err := decompile.Source([]byte(strings.Replace(argo, old, changed, 1)))
		var faults decompile.Faults
		require.ErrorAs(t, err, &faults, change)
		require.ErrorContains(t, err, want)
	}
	hostile := strings.Replace(argo, "spec:", "spec:\n  parallelism: '1); panic(1'\n  ttlStrategy: {secondsAfterSuccess: 'x()'}", 1)
	_, err := decompile.Source([]byte(hostile))
	require.ErrorContains(t, err, `parallelism is "1); panic(1": it must be a whole number`)
	require.ErrorContains(t, err, `secondsAfterSuccess is "x()"`)
	for _, text := range []string{"", "- a", "a: ["} {
		_, err := decompile.Source([]byte(text))
		require.Error(t, err)
	}
}

func FuzzSource(f *testing.F) {
	f.Add(foreign)
	f.Add(argo)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := decompile.Source([]byte(text))
		if err != nil {
			require.NotContains(t, err.Error(), "is no Go", "what is not refused is Go")
		}
	})
}
