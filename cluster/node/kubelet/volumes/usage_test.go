package volumes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

func TestWhatPodsHaveOnTheDisk(t *testing.T) {
	t.Parallel()
	limit := func(size string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse(size)}}
	}
	size := resource.MustParse("1Mi")
	obj := testObject()
	obj.Spec.Volumes = []corev1.Volume{
		{Name: "small", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}}},
		{Name: "any", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	obj.Spec.Containers = []corev1.Container{{Name: "a", Resources: limit("2Mi")}, {Name: "b", Resources: limit("2Mi")}}
	p, dir := testPod(t, obj), t.TempDir()
	p.Disk = filepath.Join(dir, "volumes")
	path := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	over := func() string { return p.OverLimit(dir, func() []shim.Nameless { return nil }) }
	write := func(size int, elem ...string) {
		file := path(elem...)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, make([]byte, size), 0o644))
	}
	require.Empty(t, over())

	write(1<<20+1<<19, "containers", "a", "upper", "f")
	require.Empty(t, over())
	require.NoError(t, os.Link(path("containers", "a", "upper", "f"), path("containers", "a", "upper", "g")))
	require.Empty(t, over(), "another name is no other file")
	write(1<<20, "logs", "a", "0.log")
	require.Equal(t, `Container a exceeded its local ephemeral storage limit "2Mi". `, over())
	write(0, "logs", "a", "0.log")

	write(3<<20, "volumes", "any", "f")
	require.Equal(t, "Pod ephemeral local storage usage exceeds the total limit of containers 4Mi. ", over())
	write(0, "volumes", "any", "f")

	write(2<<20, "volumes", "small", "f")
	require.Equal(t, `Usage of EmptyDir volume "small" exceeds the limit "1Mi". `, over())
	require.NoError(t, os.Truncate(path("volumes", "small", "f"), 0))
	require.Empty(t, over())
}
