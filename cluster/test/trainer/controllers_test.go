package trainer

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"github.com/kubeflow/trainer/v2/pkg/controller"
	"github.com/kubeflow/trainer/v2/pkg/runtime/core"
	trainertest "github.com/kubeflow/trainer/v2/pkg/util/testing"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	jobsetcontroller "sigs.k8s.io/jobset/pkg/controllers"
	jobsetwebhook "sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write what the controllers say into the launcher's test data")

// What Trainer's and JobSet's controllers make of the launcher's TrainJob, and what Trainer says of it, is what the launcher's tests
// read: how the pods are labelled, and the status of a job that runs, is suspended, and has ended.
func TestControllers(t *testing.T) {
	t.Parallel()
	for state, of := range map[string]struct {
		suspend bool
		status  batchv1.JobStatus // of the Job with the pods
	}{
		"created":   {},
		"suspended": {suspend: true},
		"running":   {status: batchv1.JobStatus{Active: 3, Ready: ptr.To[int32](3)}},
		"complete":  {status: ended(batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "")},
		"failed":    {status: ended(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			train := trainJob(t)
			train.Spec.RuntimeRef.Kind = ptr.To(v1alpha1.ClusterTrainingRuntimeKind)
			train.Spec.Suspend = ptr.To(of.suspend)
			c := newControllers(t, train)
			c.reconcile()
			pods := c.job()
			require.Equal(t, batchv1.IndexedCompletion, *pods.Spec.CompletionMode, "each pod has its rank")
			require.Equal(t, train.Name, pods.Spec.Template.Spec.Subdomain, "and a name for the others")
			require.Equal(t, corev1.RestartPolicyOnFailure, pods.Spec.Template.Spec.RestartPolicy)
			pods.Status = of.status
			require.NoError(t, c.Status().Update(t.Context(), pods))
			c.reconcile()
			told(t, "pod", map[string]any{"metadata": map[string]any{"labels": pods.Spec.Template.Labels}})
			told(t, state, map[string]any{"status": c.status(train)})
		})
	}
}

func ended(how batchv1.JobConditionType, reason, message string) batchv1.JobStatus {
	return batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, Reason: reason, Message: message}}}
}

// controllers are Trainer's and JobSet's, on an API server's fake, with JobSet's webhook for what an API server would have it set.
type controllers struct {
	client.Client
	t     *testing.T
	name  client.ObjectKey
	train *controller.TrainJobReconciler
	sets  *jobsetcontroller.JobSetReconciler
}

func newControllers(t *testing.T, train *v1alpha1.TrainJob) *controllers {
	t.Helper()
	objects := trainertest.NewClientBuilder()
	index := trainertest.AsIndex(objects)
	require.NoError(t, jobsetcontroller.SetupJobSetIndexes(t.Context(), index))
	c := objects.WithObjects(train, torch(t)).WithStatusSubresource(&v1alpha1.TrainJob{}, &jobset.JobSet{}, &batchv1.Job{}).Build()
	runtimes, err := core.New(t.Context(), c, index)
	require.NoError(t, err)
	events := record.NewFakeRecorder(100)
	return &controllers{
		c, t, client.ObjectKeyFromObject(train),
		controller.NewTrainJobReconciler(c, events, runtimes), jobsetcontroller.NewJobSetReconciler(c, c.Scheme(), events),
	}
}

// reconcile has each controller see what the other did.
func (c *controllers) reconcile() {
	c.t.Helper()
	ctx, request := c.t.Context(), ctrl.Request{NamespacedName: c.name}
	_, err := c.train.Reconcile(ctx, request)
	require.NoError(c.t, err)
	var set jobset.JobSet
	require.NoError(c.t, c.Get(ctx, c.name, &set))
	hook, err := jobsetwebhook.NewJobSetWebhook(c)
	require.NoError(c.t, err)
	set.Spec.ReplicatedJobs[0].GroupName = "default" // as JobSet's definition says
	require.NoError(c.t, hook.Default(ctx, &set))
	require.NoError(c.t, c.Update(ctx, &set))
	_, err = hook.ValidateCreate(ctx, &set)
	require.NoError(c.t, err)
	_, err = c.sets.Reconcile(ctx, request)
	require.NoError(c.t, err)
	_, err = c.train.Reconcile(ctx, request)
	require.NoError(c.t, err)
}

// job is the only one.
func (c *controllers) job() *batchv1.Job {
	c.t.Helper()
	var jobs batchv1.JobList
	require.NoError(c.t, c.List(c.t.Context(), &jobs))
	require.Len(c.t, jobs.Items, 1)
	return &jobs.Items[0]
}

func (c *controllers) status(of *v1alpha1.TrainJob) v1alpha1.TrainJobStatus {
	c.t.Helper()
	var job v1alpha1.TrainJob
	require.NoError(c.t, c.Get(c.t.Context(), client.ObjectKeyFromObject(of), &job))
	for i := range job.Status.Conditions {
		job.Status.Conditions[i].LastTransitionTime = metav1.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	}
	return job.Status
}

// told compares what the controllers say with a file of the launcher's tests.
func told(t *testing.T, name string, says any) {
	t.Helper()
	got, err := yaml.Marshal(says)
	require.NoError(t, err)
	file := "../../../launcher/job/testdata/trainer/" + name + ".yaml"
	if *update {
		require.NoError(t, os.MkdirAll("../../../launcher/job/testdata/trainer", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s: go test -update writes it", file)
}
