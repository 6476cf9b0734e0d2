package test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods that wait for their claims are placed once the claims exist, and no earlier: the scheduler looks at a pod again when it
// receives its claim, and its cache must have the claim by then.
func TestClaimsAfterTheirPods(t *testing.T) {
	t.Parallel()
	c := shared(t)
	const pods = 30
	name := func(i int) string { return fmt.Sprintf("early-%d", i) }
	for i := range pods {
		c.createPod(t, podOf(name(i), "true", withClaim(name(i))))
	}
	for i := range pods {
		c.awaitUnschedulable(t, name(i), "not found")
	}
	for i := range pods {
		c.createClaim(t, claimOf(name(i), corev1.ReadWriteOnce))
	}
	for i := range pods {
		require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, name(i), "ends", ended).Status.Phase)
	}
	events, err := c.kube.CoreV1().Events(c.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, e := range events.Items {
		require.NotContains(t, e.Message, "could not find v1.PersistentVolumeClaim", e.InvolvedObject.Name)
	}
}
