package test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
)

// The apiserver records field owners only for pods that a client applies, and server-side apply works with both kinds
// of pods.
func TestFieldOwners(t *testing.T) {
	t.Parallel()
	c := shared(t)
	pods := c.kube.CoreV1().Pods(c.namespace)
	operations := func(p *corev1.Pod) (all []string) {
		for _, entry := range p.ManagedFields {
			all = append(all, string(entry.Operation)+" by "+entry.Manager)
		}
		return all
	}

	require.Empty(t, c.runPod(t, podOf("created", "true")).ManagedFields, "neither its creation nor its status is noted")
	applied := func(name, color string) *applycorev1.PodApplyConfiguration {
		return applycorev1.Pod(name, c.namespace).WithLabels(map[string]string{"color": color})
	}
	ours := metav1.ApplyOptions{FieldManager: "painter"}
	p, err := pods.Apply(t.Context(), applied("created", "red"), ours)
	require.NoError(t, err)
	require.Equal(t, "red", p.Labels["color"])
	require.Equal(t, []string{"Apply by painter", "Update by before-first-apply"}, operations(p))

	whole := applied("applied", "blue").WithSpec(applycorev1.PodSpec().WithRestartPolicy(corev1.RestartPolicyNever).
		WithContainers(applycorev1.Container().WithName("main").WithImage("host").WithCommand("true")))
	_, err = pods.Apply(t.Context(), whole, ours)
	require.NoError(t, err)
	p = c.awaitPod(t, "applied", "it ends", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	require.Contains(t, operations(p), "Apply by painter")
	_, err = pods.Apply(t.Context(), applied("applied", "green"), metav1.ApplyOptions{FieldManager: "another"})
	require.ErrorContains(t, err, `conflict with "painter"`)

	cm, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "created"}, Data: map[string]string{"a": "b"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, cm.ManagedFields, "owners of what people apply are noted as ever")
}
