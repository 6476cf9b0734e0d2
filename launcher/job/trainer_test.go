package job

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// ofTrainer reads what Trainer's and JobSet's controllers wrote in the test in cluster/test/trainer.
func ofTrainer(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/trainer/" + name + ".yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}

// The status of a TrainJob tells that it has ended or is suspended. That Trainer took it up shows in the Jobs that it counts.
func TestTrainJobStatus(t *testing.T) {
	t.Parallel()
	require.Equal(t, status{}, readTrainJob(&unstructured.Unstructured{Object: map[string]any{}}))
	end := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]status{
		"created": {seen: true}, "running": {seen: true}, "suspended": {seen: true, suspended: true}, "complete": {seen: true, succeeded: true, ended: end},
		"failed": {seen: true, failed: true, ended: end, reason: "FailedJobs", message: "jobset failed due to one or more job failures (first failed job: train-b19401361b-node-0)"},
	} {
		var job unstructured.Unstructured
		ofTrainer(t, name, &job.Object)
		got := readTrainJob(&job)
		got.ended = got.ended.UTC()
		require.Equal(t, want, got, name)
	}
}

// The launcher finds the pods of its TrainJob by JobSet's labels, and their rank by the index that Kubernetes gives the pods of a Job.
func TestTrainJobPods(t *testing.T) {
	t.Parallel()
	var pod corev1.Pod
	ofTrainer(t, "pod", &pod)
	require.True(t, trainJob.PodsOf("train-b19401361b").Matches(labels.Set(pod.Labels)))
	require.False(t, trainJob.PodsOf("train").Matches(labels.Set(pod.Labels)))
	pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "2"}
	o := Options{"name": {"x"}, "image": {"i"}, "workers": {"3"}, "gpus": {"4"}}
	spec, err := o.Spec(&trainJob, "c")
	require.NoError(t, err)
	require.Equal(t, 12, spec.World(), "a process for each GPU")
	place, rank := spec.rank(&pod)
	require.Equal(t, "node-2", place)
	require.Equal(t, 2, rank)
	first, last, trains := spec.Ranks(trainJob.place(&pod))
	require.True(t, trains)
	require.Equal(t, []int{8, 11}, []int{first, last})
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
	require.Equal(t, runtimeRef{"trainer.kubeflow.org", "ClusterTrainingRuntime", "torch-distributed"}, runtimeOf("torch-distributed"))
}
