package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/manifest"
)

// grouped is what an SDK of Kubeflow Pipelines might write.
const grouped = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: x-}
spec:
  entrypoint: main
  serviceAccountName: pipeline-runner
  arguments: {parameters: [{name: num, value: 5}]}
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
  nodeSelector: {pool: a}
  templates:
  - name: main
    parallelism: 0
    inputs: {parameters: [{name: num}]}
    dag:
      tasks:
      - {name: make, template: make}
      - name: condition-1
        template: condition-1
        dependencies: [make]
        when: '"{{tasks.make.outputs.parameters.make-out}}" == "yes"'
        arguments: {parameters: [{name: num, value: '{{inputs.parameters.num}}'}]}
  - name: condition-1
    inputs: {parameters: [{name: num}]}
    dag:
      tasks:
      - name: use
        template: use
        withItems: [{a: 1}, {a: 2}]
        arguments: {parameters: [{name: num, value: '{{inputs.parameters.num}}'}, {name: a, value: '{{item.a}}'}]}
  - name: make
    container: {image: alpine, command: [sh, -c, 'echo $(date) > /tmp/out'], volumeMounts: [{name: data, mountPath: /data}]}
    outputs: {parameters: [{name: make-out, valueFrom: {path: /tmp/out}}]}
    metadata: {labels: {pipelines.kubeflow.org/enable_caching: "true", pipelines.kubeflow.org/pipeline-sdk-type: kfp}}
    retryStrategy: {limit: 5}
  - name: use
    inputs: {parameters: [{name: num}, {name: a}]}
    container: {image: alpine, command: [echo, '{{inputs.parameters.num}}', '{{inputs.parameters.a}}']}
    tolerations: [{key: spot, value: "yes"}]
    sidecars: [{name: beside, image: db, mirrorVolumeMounts: false}]
`

// flat does the same with other names, without the groups, and with defaults that are written out.
const flat = `kind: Workflow
apiVersion: argoproj.io/v1alpha1
metadata: {generateName: x-}
spec:
  entrypoint: start
  arguments: {parameters: [{name: num, value: "5"}]}
  templates:
  - name: start
    dag:
      tasks:
      - name: each
        template: each
        dependencies: [produce]
        when: '{{=tasks.produce.outputs.parameters.answer == "yes"}}'
      - {name: produce, template: produce}
  - name: each
    steps:
    - - name: consume
        template: consume
        withParam: '[{"a":1},{"a":2}]'
        arguments: {parameters: [{name: b, value: '{{item.a}}'}]}
  - name: consume
    inputs: {parameters: [{name: b}]}
    nodeSelector: {pool: a}
    container: {name: "", image: alpine, command: [echo, '{{workflow.parameters.num}}', '{{inputs.parameters.b}}']}
    tolerations: [{key: spot, operator: Equal, value: "yes"}]
    sidecars: [{name: beside, image: db}]
  - name: produce
    nodeSelector: {pool: a}
    volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
    container: {image: alpine, command: [sh, -c, 'echo $$(date) > /tmp/out'], volumeMounts: [{name: v, mountPath: /data}]}
    outputs: {parameters: [{name: answer, valueFrom: {path: /tmp/out}}]}
    retryStrategy: {limit: "5"}
`

func TestDiffOfMeaningSeesNoForm(t *testing.T) {
	t.Parallel()
	changes, err := manifest.DiffMeaning([]byte(grouped), []byte(flat))
	require.NoError(t, err)
	require.Empty(t, changes)
	changes, err = manifest.Diff([]byte(grouped), []byte(flat))
	require.NoError(t, err)
	require.NotEmpty(t, changes)
}

func TestDiffOfMeaning(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]manifest.Change{
		"value: \"5\"}|value: \"6\"}":                   {Path: "arguments.parameters[num].value", From: "5", To: "6"},
		"$$(date)|$(date) x":                            {Step: "make", Path: "container.command[2]", From: "echo $(date) > /tmp/out", To: "echo $(date) x > /tmp/out"},
		"$$(date)|$$(HOME)":                             {Step: "make", Path: "container.command[2]", From: "echo $(date) > /tmp/out", To: "echo $(HOME) > /tmp/out"},
		"claimName: data|claimName: other":              {Step: "make", Path: "mounts.main[0]"},
		`== "yes"|!= "yes"`:                             {Step: "condition-1/use", Path: "around[0]", From: `if text <make value /tmp/out> == "yes"`, To: `if text <make value /tmp/out> != "yes"`},
		"image: db|image: db, mirrorVolumeMounts: true": {Step: "condition-1/use", Path: "sidecars[0].mirrorVolumeMounts", To: true},
		"'{{workflow.parameters.num}}', |":              {Step: "condition-1/use", Path: "container.command[1]", From: "<param num>"},
		"'{{workflow.parameters.num}}', '|'{{=sprig.replace(\"$\", \"$$\", workflow.parameters.num)}}', '": {Step: "condition-1/use", Path: "container.command[1]", From: "<param num>", To: "<as it is param num>"},
	} {
		old, changed, _ := strings.Cut(change, "|")
		require.Contains(t, flat, old)
		changes, err := manifest.DiffMeaning([]byte(grouped), []byte(strings.Replace(flat, old, changed, 1)))
		require.NoError(t, err, change)
		require.Len(t, changes, 1, "%s: %v", change, changes)
		if want.Path == "mounts.main[0]" {
			changes[0].From, changes[0].To = nil, nil
		}
		require.Equal(t, want, changes[0], change)
	}
	gone := strings.Replace(flat, "      - {name: produce, template: produce}\n", "      - {name: produce, template: produce}\n      - {name: more, template: produce}\n", 1)
	changes, err := manifest.DiffMeaning([]byte(grouped), []byte(gone))
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, "more", changes[0].Step)
	require.Nil(t, changes[0].From)
}

func TestDiffOfMeaningRefusesWhatItCannotFollow(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"template: each\n|template: nowhere\n":         `task each runs the template "nowhere", which is not in the workflow`,
		"dependencies: [produce]|dependencies: [each]": "tasks of template start wait for each other, or for what is not there",
		"entrypoint: start|entrypoint: other":          `there is no template "other"`,
	} {
		old, changed, _ := strings.Cut(change, "|")
		require.Contains(t, flat, old)
		_, err := manifest.DiffMeaning([]byte(grouped), []byte(strings.Replace(flat, old, changed, 1)))
		require.EqualError(t, err, "the second workflow: "+want)
	}
}
