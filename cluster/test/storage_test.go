package test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Pods that write more than they may are ended, and told why.
func TestPodsThatFillTheDiskAreEvicted(t *testing.T) {
	t.Parallel()
	c := shared(t)
	for name, w := range map[string]struct {
		change  func(*corev1.PodSpec)
		message string
	}{
		"removed": { // the file has no name any more, and takes up its room until it is closed
			func(s *corev1.PodSpec) {
				mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr(resource.MustParse("1Mi"))}})(s)
				s.Containers[0].Command = []string{"sh", "-c", "exec 3> /v/f; rm /v/f; head -c 3M /dev/zero >&3; sleep 1000"}
			},
			`Usage of EmptyDir volume "v" exceeds the limit "1Mi". `,
		},
		"volume": {
			mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr(resource.MustParse("1Mi"))}}),
			`Usage of EmptyDir volume "v" exceeds the limit "1Mi". `,
		},
		"own-files": {
			limited(corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse("1Mi")}),
			`Container main exceeded its local ephemeral storage limit "1Mi". `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.runPod(t, podOf("fills-"+name, "mkdir -p /v; head -c 3M /dev/zero > /v/f; sleep 1000", w.change))
			require.Equal(t, corev1.PodFailed, p.Status.Phase)
			require.Equal(t, "Evicted", p.Status.Reason)
			require.Equal(t, w.message, p.Status.Message)
			c.awaitEvent(t, p.Name, "Evicted", w.message)
		})
	}
}
