package kubelet

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/podlog"
)

// A container may write as much as it likes: what is told is the end of it, and no more than that is read.
func TestTerminationMessage(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	require.NoError(t, os.MkdirAll(p.path(messageFolder), 0o755))
	c := &corev1.Container{Name: "c", TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError}
	file := p.path(messageFolder, "c")
	require.NoError(t, os.WriteFile(file, []byte("the cause\n"), 0o600))
	require.Equal(t, "the cause\n", p.terminationMessage(c, 0, 1))

	const huge = 1 << 40
	require.NoError(t, os.Truncate(file, huge))
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("the end"), huge-7)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	message := p.terminationMessage(c, 0, 1)
	require.Len(t, message, maxMessage)
	require.True(t, strings.HasSuffix(message, "the end"))

	require.NoError(t, os.Truncate(file, 0))
	log, err := podlog.Create(p.life("c", 0))
	require.NoError(t, err)
	require.NoError(t, log.Pump(podlog.Stdout, strings.NewReader(strings.Repeat("x", 1<<20)+" last words\n")))
	require.NoError(t, log.Close())
	message = p.terminationMessage(c, 0, 1)
	require.Len(t, message, maxFallback)
	require.True(t, strings.HasSuffix(message, "last words\n"))
	require.Empty(t, p.terminationMessage(c, 0, 0), "a container that did its work has nothing to explain")
}

// Whatever way a pod comes to a folder of the machine, nothing of the cluster's own is seen in it.
func TestFoldersOfTheMachineAreMarked(t *testing.T) {
	t.Parallel()
	obj := samplePod()
	claim := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}
	obj.Spec.Volumes = []corev1.Volume{
		{Name: "hostPath", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv"}}},
		{Name: "claim of a hostPath", VolumeSource: claim},
		{Name: "claim", VolumeSource: claim},
		{Name: "emptyDir", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	p := testPod(t, obj)
	p.volumes = map[string]string{
		"hostPath": "/srv", "claim of a hostPath": "/srv", "claim": p.k.claimsDir() + "/ns/c", "emptyDir": p.path("volumes", "emptyDir"),
	}
	for name, host := range map[string]bool{"hostPath": true, "claim of a hostPath": true, "claim": false, "emptyDir": false} {
		mount, err := p.volumeMount(corev1.VolumeMount{Name: name, MountPath: "/v"}, nil)
		require.NoError(t, err)
		require.Equal(t, host, mount.Host, name)
	}
}
