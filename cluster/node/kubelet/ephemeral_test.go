package kubelet

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// What is added may come in any place of the list, and be seen more than once.
func TestEphemeralContainersAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	see := func(names ...string) {
		o := samplePod()
		for _, n := range names {
			o.Spec.EphemeralContainers = append(o.Spec.EphemeralContainers, corev1.EphemeralContainer{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: n, Image: "host"},
			})
		}
		p.ephemerals.see(o)
	}
	see("first")
	see("second", "first")
	see("first")
	see("third", "second", "first")
	var names []string
	for i, c := range p.ephemerals.containers() {
		names = append(names, c.Name)
		require.Equal(t, c.Name, p.status.Now().EphemeralContainerStatuses[i].Name)
		require.Equal(t, c.Name, member{p: p, c: &c, kind: ephemeralContainer}.get().Name)
	}
	require.Equal(t, []string{"first", "second", "third"}, names)
	require.Len(t, p.status.Now().EphemeralContainerStatuses, 3)
}
