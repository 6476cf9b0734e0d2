package decompile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler/decompile"
)

// plain is a workflow into which what cannot be expressed is put.
const plain = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: by-hand}
spec:
  entrypoint: main
  arguments: {parameters: [{name: n, value: "3"}, {name: list, value: "[1]"}]}
  templates:
  - name: main
    dag:
      tasks:
      - {name: first, template: say}
      - {name: second, template: say, dependencies: [first], arguments: {parameters: [{name: word, value: hi}]}}
      - name: third
        template: say
        withItems: [a, b]
        arguments: {parameters: [{name: word, value: "{{item}}"}]}
  - name: say
    inputs: {parameters: [{name: word, value: hello}]}
    outputs: {parameters: [{name: out, valueFrom: {path: /tmp/out}}], artifacts: [{name: file, path: /tmp/file}]}
    container: {image: alpine, command: [echo, "{{inputs.parameters.word}}"]}
`

// refusals are changes of plain, and what is said of each: its line, its place and why.
var refusals = map[string]string{
	"image: alpine, |image: alpine, stdin: true, ":                                                                    "line 20: spec.templates[say].container.stdin: this cannot be expressed in the DSL",
	"image: alpine, |image: alpine, securityContext: {runAsUser: 1}, ":                                                "line 20: spec.templates[say].container.securityContext: this cannot be expressed in the DSL",
	"withItems: [a, b]|withSequence: {count: '{{workflow.parameters.n}}'}":                                            `line 15: spec.templates[main].dag.tasks[third].withSequence: count is "{{workflow.parameters.n}}": sequences whose length is known only when the workflow runs`,
	"withItems: [a, b]|withItems: [{a: 1}]":                                                                           "",
	"withItems: [a, b]|withItems: ['{{workflow.name}}']":                                                              "",
	"dependencies: [first]|depends: first.Failed":                                                                     `line 12: spec.templates[main].dag.tasks[second]: depends: "first.Failed" cannot be expressed`,
	"dependencies: [first]|depends: first || second":                                                                  `depends: "first || second" cannot be expressed`,
	"dependencies: [first]|dependencies: [nobody]":                                                                    `it waits for "nobody", which is not a task beside it`,
	"dependencies: [first]|dependencies: [third], continueOn: {failed: true}":                                         "line 12: spec.templates[main].dag.tasks[second].continueOn: this cannot be expressed",
	"dependencies: [first]|hooks: {exit: {template: say}}":                                                            "hooks: this cannot be expressed",
	"template: say}|templateRef: {name: a, template: b}}":                                                             "line 11: spec.templates[main].dag.tasks[first]: template b of WorkflowTemplate a lies in the cluster",
	"template: say}|template: nowhere}":                                                                               `line 11: spec.templates[main].dag.tasks[first]: its template "nowhere" is not in the workflow`,
	`"{{item}}"|"{{item.name}}"`:                                                                                      "line 16: spec.templates[main].dag.tasks[third].arguments.parameters[word]: {{item.name}}: the items have no such field",
	"value: hi|value: '{{tasks.first.outputs.result}}'":                                                               "{{tasks.first.outputs.result}}: the DSL has no output for what a program prints",
	"value: hi|value: '{{tasks.first.status}}'":                                                                       "what Argo knows of another step cannot be used",
	"value: hi|value: '{{tasks.first.outputs.parameters.no}}'":                                                        "it cannot be expressed in the DSL, or is not there",
	"value: hi|value: '{{=sprig.upper(workflow.name)}}'":                                                              "{{=sprig.upper(workflow.name)}}: it cannot be expressed",
	"template: say, dep|when: '{{workflow.name}} =~ x', template: say, dep":                                           "line 12: spec.templates[main].dag.tasks[second]: the condition {{workflow.name}} =~ x cannot be expressed",
	"template: say, dep|when: '{{workflow.parameters.n}} == 3 || {{workflow.parameters.n}} == 4', template: say, dep": "which compares a value with a constant",
	"container: {image|container: {resources: {limits: {cpu: 1}}, volumeMounts: [{name: x, mountPath: /x}], image":    "volumeMounts[x]: its volume is not one of the template's",
	"    container: {|    daemon: true\n    container: {":                                                             "daemon: this cannot be expressed",
	"    container: {|    synchronization: {}\n    container: {":                                                      "synchronization: this cannot be expressed",
	"container: {image: alpine, command: [echo, \"{{inputs.parameters.word}}\"]}|suspend: {}":                         "line 20: spec.templates[say].suspend: a step that waits for somebody cannot be expressed",
	"container: {image: alpine, command: [echo, \"{{inputs.parameters.word}}\"]}|resource: {action: create}":          "line 20: spec.templates[say].resource: without a manifest it cannot be expressed",
	"container: {image: alpine, command: [echo, \"{{inputs.parameters.word}}\"]}|http: {url: x}":                      "a step that asks a web server",
	"container: {image|script: {source: x, image":                                                                     "",
	"path: /tmp/file}|path: /tmp/file, s3: {bucket: b, key: k}}":                                                      "line 19: spec.templates[say].outputs.artifacts[file].s3: a place of its own for an artifact",
	"path: /tmp/file}|path: /tmp/file, archive: {none: {}}}":                                                          "archive: none cannot be expressed in the DSL for what a step leaves",
	"path: /tmp/file}|path: /tmp/file, globalName: g}":                                                                "globalName: this cannot be expressed",
	"valueFrom: {path: /tmp/out}|valueFrom: {jsonPath: x}":                                                            "an output that is not a file cannot be expressed",
	"spec:|spec:\n  hostNetwork: true":                                                                                "line 5: spec.hostNetwork: this cannot be expressed",
	"spec:|spec:\n  podGC: {strategy: OnPodSuccess}":                                                                  "line 5: spec.podGC: this cannot be expressed",
	"kind: Workflow|kind: CronWorkflow":                                                                               `it is of kind "CronWorkflow"`,
	"{name: word, value: hello}|{name: word}":                                                                         "line 18: spec.templates[say].inputs.parameters[word]: the task first gives no value for it",
	"entrypoint: main|entrypoint: other":                                                                              `there is no template "other"`,
	"inputs: {parameters|inputs: {artifacts: [{name: a, path: /a}], parameters":                                       "the task first gives no artifact for it",
	"inputs: {parameters|inputs: {artifacts: [{name: a, path: /a, http: {url: x}}], parameters":                       "the file would be unpacked if it is an archive",
	"spec:|spec:\n  parallelism: '1); panic(1'":                                                                       `parallelism is "1); panic(1": it must be a whole number`,
}

func TestWhatCannotBeExpressed(t *testing.T) {
	t.Parallel()
	_, err := decompile.Source([]byte(plain))
	require.NoError(t, err)
	for change, want := range refusals {
		old, changed, _ := strings.Cut(change, "|")
		require.Contains(t, plain, old)
		_, err := decompile.Source([]byte(strings.Replace(plain, old, changed, 1)))
		if want == "" {
			require.NoError(t, err, change)
			continue
		}
		var faults decompile.Faults
		require.ErrorAs(t, err, &faults, change)
		require.ErrorContains(t, err, want)
		for _, f := range faults {
			require.Positive(t, f.Line, f)
		}
	}
	for _, text := range []string{"", "- a", "a: [", "a: &a [*a]", "a: &a [1,2]\n" + bomb()} {
		_, err := decompile.Source([]byte(text))
		require.Error(t, err, text)
	}
}

// bomb is small to write and endless to read.
func bomb() string {
	text := ""
	for i := range 30 {
		before := "a"
		if i > 0 {
			before = fmt.Sprintf("b%d", i-1)
		}
		text += fmt.Sprintf("b%d: &b%d [*%s, *%s, *%s]\n", i, i, before, before, before)
	}
	return text
}

func FuzzSource(f *testing.F) {
	f.Add(plain)
	for _, pattern := range []string{"testdata/*.yaml", "../testdata/*.yaml", "../../test/e2e/testdata/kfp/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(string(text))
		}
	}
	for change := range refusals {
		old, changed, _ := strings.Cut(change, "|")
		f.Add(strings.Replace(plain, old, changed, 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := decompile.Source([]byte(text))
		if err != nil {
			require.NotContains(t, err.Error(), "is not valid Go", "what is not refused is Go")
		}
	})
}
