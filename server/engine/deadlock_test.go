package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/run"
)

func TestDeadlock(t *testing.T) {
	t.Parallel()
	const (
		field = "can never be complete: spec.runPolicy.schedulingPolicy.minAvailable is "
		late  = "the gang of its MPIJob " + field + "3 and so counts the launcher, which launcherCreationPolicy WaitForWorkersReady creates only when the 2 workers run: " +
			"set minAvailable to 2, or leave launcherCreationPolicy out"
	)
	mpi := func(policy, least, workers string) string {
		return fmt.Sprintf("{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {generateName: j-}, spec: {%s runPolicy: {schedulingPolicy: {minAvailable: %s}}, "+
			"mpiReplicaSpecs: {Launcher: {replicas: 1}, Worker: {%s}}}}", policy, least, workers)
	}
	training := func(kind, field, least, more string) string {
		return fmt.Sprintf("{apiVersion: kubeflow.org/v1, kind: %s, spec: {%s runPolicy: {schedulingPolicy: {minAvailable: %s}}, %s: {Master: {}, Worker: {replicas: 2}}}}", kind, more, least, field)
	}
	volcano := func(least string) string {
		return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {minAvailable: " + least + ", tasks: [{name: ps}, {name: worker, replicas: 2}]}}"
	}
	const late2, atStart = "launcherCreationPolicy: WaitForWorkersReady,", "launcherCreationPolicy: AtStartup,"
	for manifest, want := range map[string]string{
		mpi(late2, "3", "replicas: 2"):                         late,
		mpi(atStart, "4", "replicas: 2"):                       "the gang of its MPIJob " + field + "4 and the job has 3 pods: set minAvailable to 3 at most",
		training("PyTorchJob", "pytorchReplicaSpecs", "4", ""): "the gang of its PyTorchJob " + field + "4 and the job has 3 pods: set minAvailable to 3 at most",
		volcano("4"):                                           "the gang of its Job can never be complete: spec.minAvailable is 4 and the job has 3 pods: set minAvailable to 3 at most",
		mpi(late2, "2", "replicas: 2"):                         "",
		mpi(atStart, "3", "replicas: 2"):                       "",
		mpi(late2, "null", "replicas: 2"):                      "",
		mpi(late2, "3", `replicas: "{{inputs.parameters.n}}"`): "",
		mpi(late2, `"{{inputs.parameters.n}}"`, "replicas: 2"): "",
		mpi(late2, "3", "{{inputs.parameters.worker}}"):        "",
		mpi(late2, "3", ""):                                    "",
		training("TFJob", "tfReplicaSpecs", "3", ""):           "",
		training("PyTorchJob", "pytorchReplicaSpecs", "4", "elasticPolicy: {maxReplicas: 8},"): "",
		volcano("3"):                        "",
		"{apiVersion: v1, kind: ConfigMap}": "",
		"":                                  "",
	} {
		require.Equal(t, want, engine.Deadlock(manifest), manifest)
	}

	e, _, _ := laptop()
	asked := options(run.Parameter{Name: "workers", Value: "2"})
	asked.Concerns = true
	p, err := e.Prepare(t.Context(), []byte(`
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: by-hand-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: workers}]}
  templates:
  - name: main
    dag: {tasks: [{name: all-reduce, template: job}]}
  - name: job
    resource:
      action: create
      manifest: |
        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {generateName: j-}
        spec:
          launcherCreationPolicy: WaitForWorkersReady
          runPolicy: {schedulingPolicy: {minAvailable: 3}}
          mpiReplicaSpecs:
            Launcher: {replicas: 1}
            Worker: {replicas: {{workflow.parameters.workers}}}
`), asked)
	require.NoError(t, err)
	require.Equal(t, []run.Concern{{Step: "all-reduce", Why: late}}, p.Concerns)
	require.Empty(t, p.Warnings(), "it may run where gangs are not scheduled")
}
