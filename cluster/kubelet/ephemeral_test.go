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
		p.seeEphemeral(o)
	}
	see("first")
	see("second", "first")
	see("first")
	see("third", "second", "first")
	var names []string
	for i, c := range p.ephemeralContainers() {
		names = append(names, c.Name)
		require.Equal(t, c.Name, p.status.EphemeralContainerStatuses[i].Name)
		require.Equal(t, c.Name, slot{p: p, kind: ephemeralContainer, name: c.Name}.get().Name)
	}
	require.Equal(t, []string{"first", "second", "third"}, names)
	require.Len(t, p.status.EphemeralContainerStatuses, 3)
}
