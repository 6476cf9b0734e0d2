package job

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A TrainJob says that it has ended or is suspended. That it was taken up shows in the Jobs it counts.
func TestTrainJobStatus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]status{
		`{}`: {},
		`{jobsStatus: [{name: node, ready: 0, succeeded: 0, failed: 0, active: 1, suspended: 0}]}`:   {seen: true},
		`{conditions: [{type: Suspended, status: "True", reason: Suspended}]}`:                       {seen: true, suspended: true},
		`{conditions: [{type: Suspended, status: "False", reason: Resumed}]}`:                        {seen: true},
		`{conditions: [{type: Complete, status: "True", reason: AllJobsCompleted}]}`:                 {seen: true, succeeded: true},
		`{conditions: [{type: Failed, status: "True", reason: FailedJobs, message: jobset failed}]}`: {seen: true, failed: true, reason: "FailedJobs", message: "jobset failed"},
	} {
		job := &unstructured.Unstructured{Object: map[string]any{}}
		var status map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &status))
		job.Object["status"] = status
		require.Equal(t, want, readTrainJob(job), text)
	}
}

// A TrainJob refuses what only its runtime can set.
func TestTrainJobLeavesItToTheRuntime(t *testing.T) {
	t.Parallel()
	o := Options{"name": {"x"}, "image": {"i"}, "network": {"Host"}, "gang": {"true"}, "sync-source": {"https://h/r.git"}, "ttl-after-finished": {"1h"}, "runtime": {"Torch"}}
	_, err := o.Spec(&trainJob, "c")
	require.EqualError(t, err, `--runtime: "Torch" is not the name of an object: use lower-case letters, digits, . and -`+"\n"+
		"--sync-source: a TrainJob does not have it: no pod of its can fetch code first; put the code in the image or on a volume, or fetch it in the command\n"+
		"--network: a TrainJob does not have it: set it in its runtime\n--gang: a TrainJob does not have it: set it in its runtime\n"+
		"--ttl-after-finished: a TrainJob does not have it: it stays as long as its run")
	o = Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "gpus": {"4"}}
	spec, err := o.Spec(&trainJob, "c")
	require.NoError(t, err)
	require.Equal(t, 8, spec.World(), "a process for each GPU")
	require.Equal(t, runtimeRef{"trainer.kubeflow.org", "ClusterTrainingRuntime", "torch-distributed"}, runtimeOf(spec.Runtime))
}
