package test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Two TFJobs of four workers on four GPUs, with the program of samples/gang: no worker begins before all of its job are there.
// Pod by pod each job gets two GPUs and waits for those of the other, until one of the two is deleted. A scheduling gate holds the workers
// back, and the test lets them through in the order in which this happens.
func (c *cluster) testDeadlock(t *testing.T) {
	workers := meeting(t)
	spec := podSpecOf(workers)
	spec["schedulerName"] = "default-scheduler"
	spec["schedulingGates"] = []any{map[string]any{"name": "test.argosy.dev/hold"}}
	policy := map[string]any{"schedulingPolicy": map[string]any{"minAvailable": 1}}
	for _, job := range []string{"apart-1", "apart-2"} {
		c.createTraining(t, "TFJob", job, "tfReplicaSpecs", map[string]any{"Worker": workers}, policy)
		eventually(t, "four workers of "+job+" are there", func(context.Context) bool { return len(c.podsOf(t, job)) == 4 })
		c.letThrough(t, job, 0, 1)
		c.awaitRunning(t, job, 2)
	}
	for _, job := range []string{"apart-1", "apart-2"} {
		c.letThrough(t, job, 2, 3)
		c.awaitUnschedulable(t, job+"-worker-2", "Insufficient nvidia.com/gpu")
		c.awaitUnschedulable(t, job+"-worker-3", "Insufficient nvidia.com/gpu")
	}
	c.awaitRunning(t, "apart-1", 2)
	c.awaitRunning(t, "apart-2", 2)
	c.removeTFJob(t, "apart-1")
	c.awaitCondition(t, trainingResource("TFJob"), "apart-2", "Succeeded")
	c.removeTFJob(t, "apart-2")
}

// The same two jobs as gangs take turns: no worker of one runs before all of the other have ended.
func (c *cluster) testNoDeadlock(t *testing.T) {
	for _, job := range []string{"gang-1", "gang-2"} {
		c.createTraining(t, "TFJob", job, "tfReplicaSpecs", map[string]any{"Worker": meeting(t)}, map[string]any{"cleanPodPolicy": "None"})
	}
	c.awaitCondition(t, trainingResource("TFJob"), "gang-1", "Succeeded")
	c.awaitCondition(t, trainingResource("TFJob"), "gang-2", "Succeeded")
	oneBegan, oneEnded := c.span(t, "gang-1")
	twoBegan, twoEnded := c.span(t, "gang-2")
	require.True(t, !twoBegan.Before(oneEnded) || !oneBegan.Before(twoEnded), "gang-1 ran from %s to %s, gang-2 from %s to %s", oneBegan, oneEnded, twoBegan, twoEnded)
	c.removeTFJob(t, "gang-1")
	c.removeTFJob(t, "gang-2")
}

// meeting are four workers of a TFJob with a GPU each.
func meeting(t *testing.T) map[string]any {
	t.Helper()
	workers := replica(4, "tensorflow", python(t, "../../../samples/gang/worker.py"), "Never")
	spec := podSpecOf(workers)
	spec["terminationGracePeriodSeconds"] = 1
	spec["containers"].([]any)[0].(map[string]any)["resources"] = map[string]any{"limits": map[string]any{string(gpu): 1}}
	return workers
}

func podSpecOf(replica map[string]any) map[string]any {
	return replica["template"].(map[string]any)["spec"].(map[string]any)
}

// letThrough removes the gates of workers.
func (c *cluster) letThrough(t *testing.T, job string, workers ...int) {
	t.Helper()
	for _, i := range workers {
		pod := fmt.Sprintf("%s-worker-%d", job, i)
		_, err := c.kube.CoreV1().Pods(c.namespace).Patch(t.Context(), pod, types.MergePatchType, []byte(`{"spec":{"schedulingGates":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

// awaitRunning waits until so many workers of a job run.
func (c *cluster) awaitRunning(t *testing.T, job string, workers int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d workers of %s run", workers, job), func(context.Context) bool {
		running := 0
		for _, p := range c.podsOf(t, job) {
			if p.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		return running == workers
	})
}

// span is from when the first worker of a job began to when the last ended; all of them end by themselves.
func (c *cluster) span(t *testing.T, job string) (began, ended time.Time) {
	t.Helper()
	eventually(t, "all workers of "+job+" have ended", func(context.Context) bool {
		began, ended = time.Time{}, time.Time{}
		pods := c.podsOf(t, job)
		for _, p := range pods {
			if p.Status.Phase != corev1.PodSucceeded || len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].State.Terminated == nil {
				return false
			}
			ran := p.Status.ContainerStatuses[0].State.Terminated
			if began.IsZero() || ran.StartedAt.Time.Before(began) {
				began = ran.StartedAt.Time
			}
			if ran.FinishedAt.After(ended) {
				ended = ran.FinishedAt.Time
			}
		}
		return len(pods) == 4
	})
	return began, ended
}

// removeTFJob deletes a TFJob and waits until its pods are gone.
func (c *cluster) removeTFJob(t *testing.T, name string) {
	t.Helper()
	jobs := trainingResource("TFJob")
	c.remove(t, jobs, name)
	eventually(t, "TFJob "+name+" and its pods are gone", func(ctx context.Context) bool {
		_, err := c.any.Resource(jobs).Namespace(c.namespace).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) && len(c.podsOf(t, name)) == 0
	})
}
