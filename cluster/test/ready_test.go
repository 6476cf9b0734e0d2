package test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What has the API answer early must not have it answer too early.
func TestReadyIsReady(t *testing.T) {
	t.Parallel()
	c := up(t, t.TempDir())
	roles, err := c.kube.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/bootstrapping=rbac-defaults"})
	require.NoError(t, err)
	for range 3 {
		before := c.pids(t)["apiserver"]
		c.kill(t, before)
		eventually(t, "the apiserver is back", func(ctx context.Context) bool {
			return c.pids(t)["apiserver"] != before && c.kube.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
		})
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "at-once-"},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}
		service, err := c.kube.CoreV1().Services(c.namespace).Create(t.Context(), service, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, service.Spec.ClusterIP)
		again, err := c.kube.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/bootstrapping=rbac-defaults"})
		require.NoError(t, err)
		require.Len(t, again.Items, len(roles.Items))
		for i, r := range again.Items {
			if r.AggregationRule != nil { // a controller fills it when it comes to it
				continue
			}
			require.Equal(t, roles.Items[i].ResourceVersion, r.ResourceVersion, "%s was written again", r.Name)
		}
	}
}
