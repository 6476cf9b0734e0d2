package test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A pod that no node can take waits and says why, and runs as soon as a node can take it.
func TestPodWaitsForANode(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("picky", "true", func(s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{"test.argosy.dev/" + c.namespace: "yes"}
	}))
	c.awaitUnschedulable(t, "picky", "didn't match Pod's node affinity/selector")
	c.labelNode(t, "local", "test.argosy.dev/"+c.namespace, "yes")
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "picky", "ends", ended).Status.Phase)
}

func (c *cluster) labelNode(t *testing.T, node, key, value string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, key, value)
	_, err := c.kube.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
}

// awaitUnschedulable waits until the pod's condition and an event say why no node takes it.
func (c *cluster) awaitUnschedulable(t *testing.T, name, why string) {
	t.Helper()
	p := c.awaitPod(t, name, "waits for a node", func(p *corev1.Pod) bool {
		for _, cond := range p.Status.Conditions {
			if cond.Type == corev1.PodScheduled && cond.Reason == corev1.PodReasonUnschedulable {
				return strings.Contains(cond.Message, why)
			}
		}
		return false
	})
	require.Equal(t, corev1.PodPending, p.Status.Phase)
	require.Empty(t, p.Spec.NodeName)
	eventually(t, "an event says why", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedScheduling,involvedObject.name=" + name})
		require.NoError(t, err)
		for _, e := range events.Items {
			if strings.Contains(e.Message, why) {
				return true
			}
		}
		return false
	})
}
