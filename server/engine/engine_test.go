package engine_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	argofake "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/fake"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
)

func newEngine() *engine.Engine {
	return engine.New(argofake.NewSimpleClientset(), fake.NewClientset(), enginetest.NewDynamic(), "kubeflow", slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// hello is a valid manifest with a parameter that has a default and one that has none.
const hello = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: Hello World-
  labels: {pipeline/persistedFinalState: "true"}
  annotations:
    pipelines.kubeflow.org/pipeline_spec: '{"name": "Hello, World", "description": "greets"}'
spec:
  entrypoint: main
  arguments:
    parameters:
      - {name: greeting, value: hello}
      - {name: times, value: 3}
  templates:
    - name: main
      dag:
        tasks:
          - {name: a, template: say}
          - {name: b, template: say, dependencies: [a]}
    - name: say
      parallelism: 0
      container:
        image: alpine
        command: [echo, "{{workflow.parameters.greeting}} {{workflow.uid}}"]
      outputs:
        artifacts:
          - {name: mlpipeline-metrics, path: /mlpipeline-metrics.json}
          - {name: model, path: /model}
`

func options(parameters ...run.Parameter) run.Options {
	return run.Options{RunID: "run-1", RunName: "first run", Namespace: "kubeflow", Parameters: parameters}
}

func prepare(t *testing.T, manifest string, o run.Options) (run.Prepared, *wfv1.Workflow) {
	t.Helper()
	p, err := newEngine().Prepare(t.Context(), []byte(manifest), o)
	require.NoError(t, err)
	wf := &wfv1.Workflow{}
	require.NoError(t, json.Unmarshal(p.Workflow, wf))
	return p, wf
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	p, wf := prepare(t, hello, options(run.Parameter{Name: "greeting", Value: "hi [[RunUUID]]"}))

	require.Regexp(t, `^hello-world-[a-z0-9]{5}$`, wf.Name)
	require.Equal(t, wf.Name, p.Name)
	require.Empty(t, wf.GenerateName, "the name is fixed, so that creating twice cannot make two")
	require.Equal(t, "kubeflow", wf.Namespace)
	require.Equal(t, map[string]string{"pipeline/runid": "run-1"}, wf.Labels)
	require.Equal(t, "first run", wf.Annotations["pipelines.kubeflow.org/run_name"])
	require.Contains(t, wf.Annotations, "pipelines.kubeflow.org/pipeline_spec")
	require.Equal(t, "run-1", wf.Spec.PodMetadata.Labels["pipeline/runid"])
	require.Equal(t, "pipeline-runner", p.ServiceAccount)
	require.Equal(t, "pipeline-runner", wf.Spec.ServiceAccountName)
	require.Equal(t, "hi run-1", wf.Spec.Arguments.Parameters[0].Value.String(), "macros are expanded in values that were given too")
	require.Equal(t, "3", wf.Spec.Arguments.Parameters[1].Value.String())
	require.Equal(t, []run.Parameter{{Name: "greeting", Value: "hi run-1"}}, p.Parameters)
	require.Equal(t, []run.Parameter{{Name: "times", Value: "3"}}, p.Defaults)

	say := wf.GetTemplateByName("say")
	require.Equal(t, "false", say.Metadata.Annotations["sidecar.istio.io/inject"])
	require.Contains(t, say.Metadata.Labels, "pipelines.kubeflow.org/cache_enabled")
	require.Nil(t, say.Parallelism, "0 means no limit")
	require.Equal(t, "{{workflow.parameters.greeting}} run-1", say.Container.Command[1])
	require.True(t, say.Outputs.Artifacts[0].Optional)
	require.False(t, say.Outputs.Artifacts[1].Optional)
}

func TestPrepareTwiceGivesTwoNames(t *testing.T) {
	t.Parallel()
	a, _ := prepare(t, hello, options())
	b, _ := prepare(t, hello, options())
	require.NotEqual(t, a.Name, b.Name)
}

func TestPrepareNames(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"generateName: " + strings.Repeat("x", 100): `^x{57}-[a-z0-9]{5}$`,
		"name: fixed":                 `^fixed-[a-z0-9]{5}$`,
		"generateName: '***'":         `^run-[a-z0-9]{5}$`,
		"generateName: -Ünder_score.": `^nder-score-[a-z0-9]{5}$`,
	} {
		_, wf := prepare(t, strings.Replace(hello, "generateName: Hello World-", given, 1), options())
		require.Regexp(t, want, wf.Name)
		require.LessOrEqual(t, len(wf.Name), 63)
	}
}

func TestPrepareServiceAccount(t *testing.T) {
	t.Parallel()
	withOwn := strings.Replace(hello, "entrypoint: main", "entrypoint: main\n  serviceAccountName: mine", 1)
	_, wf := prepare(t, withOwn, options())
	require.Equal(t, "mine", wf.Spec.ServiceAccountName)
	o := options()
	o.ServiceAccount = "theirs"
	p, _ := prepare(t, withOwn, o)
	require.Equal(t, "theirs", p.ServiceAccount)
}

func TestPrepareKeepsPodsForTheirLogs(t *testing.T) {
	t.Parallel()
	_, wf := prepare(t, strings.Replace(hello, "entrypoint: main", "entrypoint: main\n  podGC: {strategy: OnPodCompletion}", 1), options())
	require.Equal(t, "1m0s", wf.Spec.PodGC.DeleteDelayDuration)
	_, wf = prepare(t, strings.Replace(hello, "entrypoint: main", "entrypoint: main\n  podGC: {strategy: OnPodCompletion, deleteDelayDuration: 1h}", 1), options())
	require.Equal(t, "1h", wf.Spec.PodGC.DeleteDelayDuration)
}

func TestPrepareTimeToLive(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": `{"secondsAfterCompletion":604800}`,
		"ttlStrategy: {secondsAfterCompletion: 60}": `{"secondsAfterCompletion":60}`,
		"ttlStrategy: {secondsAfterSuccess: 0}":     `{"secondsAfterCompletion":604800,"secondsAfterSuccess":0}`,
	} {
		_, wf := prepare(t, strings.Replace(hello, "entrypoint: main", "entrypoint: main\n  "+given, 1), options())
		got, err := json.Marshal(wf.Spec.TTLStrategy)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got), given)
	}
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	noDefault := strings.Replace(hello, "{name: times, value: 3}", "{name: times}", 1)
	for name, c := range map[string]struct {
		manifest string
		given    []run.Parameter
		want     string
	}{
		"unknown parameter": {hello, []run.Parameter{{Name: "speed"}}, "Unrecognized input parameter: speed. The pipeline's parameters are: greeting, times."},
		"missing parameter": {noDefault, nil, "parameter times has no default; give it a value"},
		"given twice":       {hello, []run.Parameter{{Name: "times", Value: "1"}, {Name: "times", Value: "2"}}, "parameter times is given twice"},
		"unknown template":  {strings.Replace(hello, "{name: a, template: say}", "{name: a, template: none}", 1), nil, "template name 'none' undefined"},
	} {
		_, err := newEngine().Prepare(t.Context(), []byte(c.manifest), options(c.given...))
		require.ErrorContains(t, err, c.want, name)
		require.Equal(t, apierr.Invalid, apierr.KindOf(err), name)
	}
	_, wf := prepare(t, noDefault, options(run.Parameter{Name: "times"}))
	require.Empty(t, wf.Spec.Arguments.Parameters[1].Value.String(), "an empty value is a value")
}

func TestInspect(t *testing.T) {
	t.Parallel()
	s, err := newEngine().Inspect(t.Context(), []byte(strings.Replace(hello, "{name: times, value: 3}", "{name: times}", 1)))
	require.NoError(t, err)
	parameters := []pipeline.Parameter{{Name: "greeting", Value: "hello", HasDefault: true}, {Name: "times"}}
	require.Empty(t, cmp.Diff(pipeline.Spec{
		Name: "Hello, World", Description: "greets", Parameters: parameters,
		Graph: pipeline.Graph{
			Nodes: []pipeline.GraphNode{
				{ID: "a", Name: "a", Type: "Container", Template: "say"}, {ID: "b", Name: "b", Type: "Container", Template: "say"},
			},
			Edges:      []pipeline.GraphEdge{{From: "a", To: "b"}},
			Parameters: parameters,
		},
	}, s))
}

// entry takes parameters that have no default into the templates of its entry point and its exit handler, as the SDKs' packages do.
const entry = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: entry-}
spec:
  entrypoint: main
  onExit: bye
  arguments: {parameters: [{name: text}, {name: size, enum: [small, large]}]}
  templates:
    - name: main
      inputs: {parameters: [{name: text}, {name: size}]}
      dag:
        tasks:
          - {name: say, template: say, when: "{{inputs.parameters.size}} == small", arguments: {parameters: [{name: text, value: "{{inputs.parameters.text}}"}]}}
    - name: say
      inputs: {parameters: [{name: text}]}
      container: {image: alpine, command: [echo, "{{inputs.parameters.text}}"]}
    - name: bye
      inputs: {parameters: [{name: text}]}
      container: {image: alpine, command: [echo, "{{inputs.parameters.text}}"]}
`

func TestRequiredParameters(t *testing.T) {
	t.Parallel()
	s, err := newEngine().Inspect(t.Context(), []byte(entry))
	require.NoError(t, err)
	require.Equal(t, []pipeline.Parameter{{Name: "text"}, {Name: "size"}}, s.Parameters)

	_, err = newEngine().Prepare(t.Context(), []byte(entry), options(run.Parameter{Name: "size", Value: "small"}))
	require.ErrorContains(t, err, "parameter text has no default; give it a value")
	require.Equal(t, apierr.Invalid, apierr.KindOf(err))
	given := []run.Parameter{{Name: "size", Value: "small"}, {Name: "text", Value: "hello"}}
	p, wf := prepare(t, entry, options(given...))
	require.Equal(t, given, p.Parameters)
	require.Equal(t, "hello", wf.Spec.Arguments.Parameters[0].Value.String())

	_, err = newEngine().Inspect(t.Context(), []byte(strings.Replace(entry, "{name: text}, {name: size, enum", "{name: size, enum", 1)))
	require.ErrorContains(t, err, "inputs.parameters.text was not supplied", "no run could give it")
}

func TestInspectRefuses(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [" + strings.Repeat("x,", 100) + "]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 20) + "]\n"
	}
	for name, c := range map[string]struct{ manifest, want string }{
		"empty":                   {" \n", "it is empty"},
		"text":                    {"just some text", "it is not a Workflow"},
		"list":                    {"- a\n- b", "it is not a Workflow"},
		"not YAML":                {"a: [b\nc: d", "it is not valid YAML: line "},
		"tab":                     {"a:\n\t- b", "it is not valid YAML: line 2"},
		"no kind":                 {"a: 1", "apiVersion and kind are missing"},
		"another kind":            {"apiVersion: v1\nkind: Pod", `it is of kind "Pod"; it must be of kind Workflow`},
		"another kind's fields":   {"spec: {templates: 5}\napiVersion: v1\nkind: PodTemplate", `it is of kind "PodTemplate"`},
		"another version":         {"apiVersion: argoproj.io/v2\nkind: Workflow", `its apiVersion is "argoproj.io/v2"; it must be argoproj.io/v1alpha1`},
		"KFP v2":                  {`{"pipelineInfo": {"name": "x"}, "root": {}}`, "compiled for KFP v2, as a pipeline spec or in the v2-compatible mode"},
		"KFP v2, with a platform": {"pipelineInfo: {name: x}\nroot: {}\n---\nplatforms: {}", "compiled for KFP v2"},
		"v2-compatible":           {strings.Replace(hello, "annotations:", "annotations:\n    pipelines.kubeflow.org/v2_pipeline: 'true'", 1), "compiled for KFP v2"},
		"wrong type":              {"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {templates: 5}", "spec.templates cannot be a number"},
		"no entry point":          {"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {}", "entrypoint is required"},
		"twice":                   {"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nkind: Workflow", `"kind" already`},
		"two documents":           {hello + "---\n" + hello, "more than one YAML document (the second is at line "},
		"alias bomb":              {bomb, "aliases expand to more than"},
		"alias of itself":         {"a: &a [*a]", "the manifest cannot be used"},
		"unknown argument":        {strings.ReplaceAll(hello, "workflow.parameters.greeting", "workflow.parameters.nothing"), "workflow.parameters.nothing"},
	} {
		_, err := newEngine().Inspect(t.Context(), []byte(c.manifest))
		require.ErrorContains(t, err, c.want, name)
		require.Equal(t, apierr.Invalid, apierr.KindOf(err), name)
	}
}

func TestInspectReadsWhatOthersWrite(t *testing.T) {
	t.Parallel()
	var tree any
	_, wf := prepare(t, hello, options())
	text, err := json.MarshalIndent(wf, "", "\t")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &tree))
	for name, manifest := range map[string]string{
		"leading and trailing empty documents": "---\n# nothing\n---\n" + hello + "\n---\n",
		"JSON with tabs":                       string(text),
		"JSON with surrogate pairs":            strings.Replace(string(text), "first run", `\ud83d\ude00`, 1),
		"CRLF":                                 strings.ReplaceAll(hello, "\n", "\r\n"),
	} {
		_, err := newEngine().Inspect(t.Context(), []byte(manifest))
		require.NoError(t, err, name)
	}
}

func TestGraphOfGroupsLoopsAndLaunchers(t *testing.T) {
	t.Parallel()
	s, err := newEngine().Inspect(t.Context(), []byte(`
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: g-}
spec:
  entrypoint: main
  onExit: bye
  templates:
    - name: main
      dag:
        tasks:
          - {name: train, template: train}
          - {name: again, template: again, depends: "train && (train.Succeeded || train.Failed)", when: "{{tasks.train.status}} == Failed"}
          - {name: counted, template: script, withSequence: {count: "3"}}
          - {name: listed, template: script, withParam: "[1, 2]", when: "true"}
    - name: again
      steps:
        - - {name: one, template: train}
          - {name: two, template: script}
        - - {name: three, template: again, when: "1 == 2"}
          - {name: four, template: train, withItems: [a, b]}
    - name: train
      container: {image: "registry:5000/argosyml/argosy-launcher:dev", command: [argosy-launcher], args: [mpijob, --name=train, --, "true"]}
    - name: script
      script: {image: alpine, command: [sh], source: "true"}
    - name: bye
      suspend: {}
`))
	require.NoError(t, err)
	require.Equal(t, "g", s.Name)
	require.Empty(t, cmp.Diff([]pipeline.GraphNode{
		{ID: "train", Name: "train", Type: "MPIJob", Template: "train"},
		{ID: "again", Name: "again", Type: "Steps", Template: "again", When: "{{tasks.train.status}} == Failed"},
		{ID: "again/one", Name: "one", Type: "MPIJob", Template: "train", Parent: "again"},
		{ID: "again/two", Name: "two", Type: "Script", Template: "script", Parent: "again"},
		{ID: "again/three", Name: "three", Type: "Steps", Template: "again", Parent: "again", When: "1 == 2"}, // a recursion stays closed
		{ID: "again/four", Name: "four", Type: "MPIJob", Template: "train", Parent: "again", Loop: true},
		{ID: "counted", Name: "counted", Type: "Script", Template: "script", Loop: true},
		{ID: "listed", Name: "listed", Type: "Script", Template: "script", Loop: true, When: "true"},
		{ID: "onExit", Name: "onExit", Type: "Suspend", Template: "bye"},
	}, s.Graph.Nodes))
	require.Equal(t, []pipeline.GraphEdge{
		{From: "train", To: "again"},
		{From: "again/one", To: "again/three"},
		{From: "again/two", To: "again/three"},
		{From: "again/one", To: "again/four"},
		{From: "again/two", To: "again/four"},
	}, s.Graph.Edges)
}

func TestMacros(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for given, want := range map[string]string{
		"[[RunUUID]]":                                "run-1",
		"x-[[RunUUID]]-[[RunUUID]]":                  "x-run-1-run-1",
		"[[CurrentTime]]":                            "20260102030405",
		"[[CurrentTime.2006-01-02]]":                 "2026-01-02",
		"{{$.currentTime.strftime('%Y-%m-%d')}}":     "2026-01-02",
		"{{$.currentTime.strftime('%H%%%q %j %s')}}": "03%%q 002 1767323045",
		"[[ScheduledTime]] [[Index]]":                "[[ScheduledTime]] [[Index]]",
		"[[RunUUID.x]] [[Other]]":                    "[[RunUUID.x]] [[Other]]",
	} {
		require.Equal(t, want, engine.Expand(given, run.Options{RunID: "run-1"}, now), given)
	}
	scheduled := run.Options{RunID: "run-1", Tick: &run.Tick{Index: 7, At: now.Add(-time.Hour).In(time.FixedZone("x", 3600))}}
	for given, want := range map[string]string{
		"[[ScheduledTime]] [[Index]] [[RunUUID]]":   "20260102020405 7 run-1",
		"[[ScheduledTime.2006-01-02T15]]":           "2026-01-02T02",
		"{{$.scheduledTime.strftime('%H:%M')}}":     "02:04",
		"{{$.currentTime.strftime('%H:%M')}}":       "03:04",
		"[[CurrentTime]] [[Index.x]] [[Indexes]]":   "20260102030405 [[Index.x]] [[Indexes]]",
		"{{$.index.strftime('%H')}} {{workflow.x}}": "{{$.index.strftime('%H')}} {{workflow.x}}",
	} {
		require.Equal(t, want, engine.Expand(given, scheduled, now), given)
	}
}

func TestDefaultBucket(t *testing.T) {
	t.Parallel()
	manifest := strings.Replace(hello, "{name: greeting, value: hello}", `{name: greeting, value: "s3://{{kfp-default-bucket}}/{{kfp-project-id}}"}`, 1)
	_, err := newEngine().Inspect(t.Context(), []byte(manifest))
	require.NoError(t, err, "it can be uploaded")
	o := options(run.Parameter{Name: "times", Value: "{{kfp-default-bucket}}, {{kfp-default-bucket}}"})
	o.Bucket = "mine"
	p, wf := prepare(t, manifest, o)
	require.Equal(t, "s3://mine/{{kfp-project-id}}", wf.Spec.Arguments.Parameters[0].Value.String(), "in a default")
	require.Equal(t, "mine, mine", wf.Spec.Arguments.Parameters[1].Value.String(), "in a value that was given")
	require.Equal(t, []run.Parameter{{Name: "times", Value: "mine, mine"}}, p.Parameters)
	_, wf = prepare(t, manifest, options())
	require.Equal(t, "s3://{{kfp-default-bucket}}/{{kfp-project-id}}", wf.Spec.Arguments.Parameters[0].Value.String(), "where there is no bucket")
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","spec":{"entrypoint":"a","templates":[{"name":"a","dag":{"tasks":[{"name":"a","template":"a"}]}}]}}`))
	e := newEngine()
	f.Fuzz(func(t *testing.T, manifest []byte) {
		if _, err := e.Inspect(t.Context(), manifest); err != nil {
			require.Equal(t, apierr.Invalid, apierr.KindOf(err), "%v", err)
		}
	})
}
