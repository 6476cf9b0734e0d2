package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/manifest"
)

// wrong are manifests with mistakes. Each fault stands behind "# want" on the line it is found on, with | between them.
var wrong = map[string]string{
	"fields": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  entryPoint: main # want 3: spec.entryPoint: there is no field entryPoint; did you mean entrypoint?
  parallelism: many # want 16: spec.parallelism: it must be a whole number, and is "many"
  arguments:
    parameters: {a: 1} # want 17: spec.arguments.parameters: it must be a list, and is a mapping
  templates:
  - name: main
    container:
      image: alpine
      comand: [echo] # want 7: spec.templates[main].container.comand: there is no field comand; did you mean command?
      args: [1, "2"] # want 14: spec.templates[main].container.args[0]: it must be a text, and is "1", which YAML takes for something else: put it in quotes
      image: alpine # want 7: spec.templates[main].container.image: image is given twice
`,
	"references": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  templates:
  - name: main
    dag:
      tasks:
      - name: a
        template: nowhere # want 19: spec.templates[main].dag.tasks[a]: templates.main.tasks.a template name 'nowhere' undefined
  - name: variables
    container:
      image: "{{inputs.parameters.one}}" # want 14: spec.templates[variables]: templates.variables: failed to resolve {{inputs.parameters.one}}
      args:
      - fine
      - "--two={{inputs.parameters.two}}" # want 9: spec.templates[variables]: templates.variables: failed to resolve {{inputs.parameters.two}}
  - name: circle # want 5: spec.templates[circle]: templates.circle sorting failed: graph with cycle
    dag:
      tasks:
      - {name: b, template: fine, dependencies: [c]}
      - {name: c, template: fine, dependencies: [b]}
  - name: fine
    container: {image: alpine}
  - name: nothing # want 11: spec.templates[nothing]: templates.nothing template 'nothing' type is unknown
  - name: imageless
    container: {command: [x]} # want 16: spec.templates[imageless].container: templates.imageless.container.image may not be empty
  - name: outputs
    outputs:
      parameters:
      - name: here # want 9: spec.templates[outputs].outputs.parameters[here]: templates.outputs.outputs.parameters.here.path must be specified for Container templates
        valueFrom: {parameter: "{{tasks.x.outputs.parameters.y}}"} # want 32: spec.templates[outputs]: templates.outputs: failed to resolve {{tasks.x.outputs.parameters.y}}
    container: {image: alpine}
`,
	"tasks": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  templates:
  - name: main
    dag:
      tasks:
      - name: one # want 9: spec.templates[main].dag.tasks[one]: templates.main.tasks.one templates.say inputs.parameters.w was not supplied
        template: say
  - name: other
    dag:
      tasks:
      - {name: two, template: fine, dependencies: [three]} # want 52: spec.templates[other]: templates.other sorting failed: invalid dependency three
  - name: fine
    container: {image: alpine}
  - name: say
    inputs: {parameters: [{name: w}]}
    container: {image: alpine}
`,
	"quantities": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  templates:
  - name: main
    container:
      image: alpine
      resources:
        limits: {cpu: 1, memory: 1Gib} # want 34: spec.templates[main].container.resources.limits.memory: it must be a quantity such as 500m, 2 or 10Gi, and is "1Gib"
`,
	"pods": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  volumes: [{name: here, emptyDir: {}}]
  volumeClaimTemplates:
  - metadata: {name: made}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  templates:
  - name: main
    volumes: [{name: own, emptyDir: {}}]
    container:
      image: alpine
      imagePullPolicy: Sometimes # want 24: spec.templates[main].container.imagePullPolicy: it must be Always, IfNotPresent or Never, and is "Sometimes"
      volumeMounts:
      - {name: here, mountPath: /a}
      - {name: own, mountPath: /b}
      - {name: made, mountPath: /c}
      - {name: gone, mountPath: /d} # want 16: spec.templates[main].container.volumeMounts[gone]: there is no volume "gone" in the template or the workflow
`,
	"expressions": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: num, value: "1"}]}
  templates:
  - name: main
    dag:
      tasks:
      - {name: fine, template: say, when: "{{workflow.parameters.num}} > 0 && '{{workflow.name}}' =~ '^x'"}
      - {name: wanting, template: say, when: "{{workflow.parameters.num}} >"} # want 46: spec.templates[main].dag.tasks[wanting].when: the condition {{workflow.parameters.num}} >: Unexpected end of expression
      - {name: one, template: say, when: "({{workflow.parameters.num}} == 1"} # want 42: spec.templates[main].dag.tasks[one].when: the condition ({{workflow.parameters.num}} == 1: Unbalanced parenthesis
      - name: computed
        template: say
        when: "{{=asFloat(workflow.parameters.num) < }}" # want 15: spec.templates[main].dag.tasks[computed].when: the expression asFloat(workflow.parameters.num) < : unexpected token EOF, at character
      - name: items
        template: say
        withParam: '["a", b]' # want 20: spec.templates[main].dag.tasks[items].withParam: it must be a JSON list
      - name: object
        template: say
        withParam: '{"a": 1}' # want 20: spec.templates[main].dag.tasks[object].withParam: it must be a JSON list
  - name: say
    retryStrategy: {limit: 2, expression: "asInt(lastRetry.exitCode) = 1"} # want 43: spec.templates[say].retryStrategy.expression: the expression asInt(lastRetry.exitCode) = 1: unexpected token Operator("=")
    container:
      image: alpine
      args:
      - "{{=toJson(workflow.parameters)}} {{=sprig.trunc(3, workflow.name)}}"
      - "{{=asFlot(workflow.parameters.num)}}" # want 9: spec.templates[say].container.args[1]: the expression asFlot(workflow.parameters.num): there is no function asFlot
      - "{{=sprig.replce('a', 'b', workflow.name)}}" # want 9: spec.templates[say].container.args[2]: the expression sprig.replce('a', 'b', workflow.name): there is no function sprig.replce
`,
	"open variable": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  templates:
  - name: main
    container:
      image: alpine
      args: [a, "b {{workflow.name"] # want 17: spec.templates[main].container.args[1]: {{workflow.name: the variable is not closed by }}
      env: [{name: X, value: "{{=1 +}}"}] # want 30: spec.templates[main].container.env[X].value: the expression 1 +: unexpected token EOF
`,
	"no entry": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  templates: # want 3: spec: spec.entrypoint is required
  - name: main
    container: {image: alpine}
`,
}

func TestLintFindsEachFaultInItsPlace(t *testing.T) {
	t.Parallel()
	for name, text := range wrong {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := manifest.Lint([]byte(text))
			for i, line := range strings.Split(text, "\n") {
				_, comment, _ := strings.Cut(line, "# want ")
				for _, want := range strings.Split(comment, " | ") {
					if want == "" {
						continue
					}
					place, message, _ := strings.Cut(want, ": ")
					found := -1
					for j, f := range faults {
						if fmt.Sprint(f.Line, ":", f.Column) == fmt.Sprint(i+1, ":", place) && strings.Contains(f.Path+": "+f.Message, message) {
							found = j
						}
					}
					require.GreaterOrEqual(t, found, 0, "line %d: %s\nfound %+v", i+1, want, faults)
					faults = append(faults[:found:found], faults[found+1:]...)
				}
			}
			require.Empty(t, faults, "more than what is wanted")
		})
	}
}

const forV2 = "it is compiled for KFP v2, as a pipeline spec or in the v2-compatible mode, and its steps need drivers and launchers that Argosy does not have; " +
	"compile it for v1, to a plain Argo Workflow: SDK 1.8 does so in the mode V1_LEGACY, which is its default"

func TestLintOfWhatIsNoWorkflow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]manifest.Fault{
		"":                        {Message: "the manifest is empty"},
		"# nothing":               {Message: "the manifest is empty"},
		"- a":                     {Line: 1, Column: 1, Message: "not a Workflow, which is a mapping with apiVersion, kind, metadata and spec"},
		"a: 1\nb: [":              {Line: 2, Column: 1, Message: "not valid YAML: did not find expected node content"},
		"\n\nkind: Job\nspec: {}": {Line: 3, Column: 7, Path: "kind", Message: `it is of kind "Job"; it must be of kind Workflow`},
		"apiVersion: v1\nkind: Pod\nspec: {restartPolicy: Never, containers: [{name: a}]}": {Line: 2, Column: 7, Path: "kind", Message: `it is of kind "Pod"; it must be of kind Workflow`},
		"apiVersion: argoproj.io/v2\nkind: Workflow\nspec: {more: 1}":                      {Line: 1, Column: 13, Path: "apiVersion", Message: `its apiVersion is "argoproj.io/v2"; it must be argoproj.io/v1alpha1`},
		"pipelineInfo: {name: x}": {Line: 1, Column: 1, Message: forV2},
	} {
		require.Equal(t, []manifest.Fault{want}, manifest.Lint([]byte(text)), text)
	}
}

// A value that each run gives is missing in no manifest: the entry point and the exit handler may take one.
func TestLintOfRequiredParameters(t *testing.T) {
	t.Parallel()
	require.Empty(t, manifest.Lint([]byte(`apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  onExit: bye
  arguments: {parameters: [{name: text}, {name: size, enum: [small, large]}]}
  templates:
  - name: main
    inputs: {parameters: [{name: text}, {name: size}]}
    container: {image: alpine, command: [echo, "{{inputs.parameters.text}} {{inputs.parameters.size}}"]}
  - name: bye
    inputs: {parameters: [{name: text}]}
    container: {image: alpine, command: [echo, "{{inputs.parameters.text}}"]}
`)))
}

// Templates that lie in the cluster are warned of, and what else is wrong is found all the same.
func TestLintPassesOverTheCluster(t *testing.T) {
	t.Parallel()
	faults := manifest.Lint([]byte(`apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  templates:
  - name: main
    steps:
    - - name: a
        templateRef: {name: shared, template: fit}
    - - name: b
        template: gone
`))
	require.Len(t, faults, 2)
	require.True(t, faults[0].Warning)
	require.Equal(t, 10, faults[0].Line)
	require.Contains(t, faults[0].Message, "template fit of WorkflowTemplate shared lies in the cluster")
	require.False(t, faults[1].Warning)
	require.Equal(t, 12, faults[1].Line)
	require.Contains(t, faults[1].Message, "'gone' undefined")
}

// A gang that waits for ever where gangs are scheduled is a warning: elsewhere the job runs.
func TestLintWarnsOfGangs(t *testing.T) {
	t.Parallel()
	faults := manifest.Lint([]byte(`apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  templates:
  - name: main
    resource:
      action: create
      manifest: |
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        metadata: {generateName: j-}
        spec: {minAvailable: 3, tasks: [{name: worker, replicas: 2}]}
`))
	require.Len(t, faults, 1)
	require.True(t, faults[0].Warning)
	require.Equal(t, 10, faults[0].Line)
	require.Equal(t, "spec.templates[main].resource.manifest", faults[0].Path)
	require.Contains(t, faults[0].Message, "the gang of its Job can never be complete: spec.minAvailable is 3 and the job has 2 pods")
}

// What the compiler writes has nothing wrong in it.
func TestLintOfGoldens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../compiler/testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, manifest.Lint(text), file)
	}
}

// Packages in the shapes that KFP's SDKs write have nothing wrong in them, but that those of v2 are not for here.
func TestLintOfPackagesForKFP(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../test/e2e/testdata/kfp/*/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		faults := manifest.Lint(text)
		if strings.HasPrefix(filepath.Base(file), "v2") {
			require.Len(t, faults, 1, file)
			require.Equal(t, forV2, faults[0].Message, file)
			continue
		}
		require.Empty(t, faults, file)
	}
}

// With -fuzzminimizetime, as make fuzz has it: else Go makes inputs smaller for a minute, and tries a few hundred.
func FuzzLint(f *testing.F) {
	for _, text := range wrong {
		f.Add(text)
	}
	f.Add("a: &a [*a]")
	f.Add("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {templates: [{steps: [[{}]], name: ''}]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 2
		for _, fault := range manifest.Lint([]byte(text)) {
			require.NotEmpty(t, fault.Message)
			require.LessOrEqual(t, fault.Line, lines)
		}
	})
}
