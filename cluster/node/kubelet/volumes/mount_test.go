package volumes

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// Whatever way a pod comes to a folder of the machine, nothing of the cluster's own is seen in it.
func TestFoldersOfTheMachineAreMarked(t *testing.T) {
	t.Parallel()
	obj := testObject()
	claim := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}
	obj.Spec.Volumes = []corev1.Volume{
		{Name: "hostPath", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}}},
		{Name: "claim of a hostPath", VolumeSource: claim},
		{Name: "claim", VolumeSource: claim},
		{Name: "emptyDir", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	p := testPod(t, obj)
	folders := map[string]string{
		"hostPath": "/srv", "claim of a hostPath": "/srv", "claim": p.Claims + "/ns/c", "emptyDir": filepath.Join(p.Disk, "emptyDir"),
	}
	p.Host = []HostFolder{{named: "/srv", Path: "/srv"}}
	for name, host := range map[string]bool{"hostPath": true, "claim of a hostPath": true, "claim": false, "emptyDir": false} {
		mount, err := p.MountOf(corev1.VolumeMount{Name: name, MountPath: "/v"}, folders, nil)
		require.NoError(t, err)
		require.Equal(t, host, mount.Host, name)
	}
}
