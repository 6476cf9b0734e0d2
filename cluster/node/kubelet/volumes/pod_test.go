package volumes

import (
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/objects"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

func TestMain(m *testing.M) {
	// klog keeps one goroutine for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

func testObject() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "u-1"},
		Spec:       corev1.PodSpec{ServiceAccountName: "sa", NodeName: "local"},
	}
}

// testPod returns the volumes of a pod in a cluster with the given objects.
func testPod(t *testing.T, obj *corev1.Pod, known ...any) *Pod {
	t.Helper()
	client, dir := fake.NewClientset(), t.TempDir()
	for _, o := range known {
		switch o := o.(type) {
		case *corev1.ConfigMap:
			require.NoError(t, client.Tracker().Add(o))
		case *corev1.Secret:
			require.NoError(t, client.Tracker().Add(o))
		}
	}
	return &Pod{
		Node: &Node{Client: client, Tokens: NewTokens(client), Claims: filepath.Join(dir, "claims")},
		Obj:  obj, Objects: objects.Reader{Client: client, Namespace: obj.Namespace, CA: []byte("the CA")},
		Fields: environment.Fields{Pod: obj, Latest: func() *corev1.Pod { return obj }, Addr: netip.MustParseAddr("10.88.0.9")},
		Held:   &HeldTokens{}, Disk: filepath.Join(dir, "disk"), Memory: filepath.Join(dir, "memory"), Shm: filepath.Join(dir, "shm"),
		Played: func(*corev1.Container) bool { return false },
	}
}

// Volumes of all other kinds are refused, those that Kubernetes adds too.
func TestVolumesOfOtherKindsAreRefused(t *testing.T) {
	t.Parallel()
	supported := []string{"EmptyDir", "ConfigMap", "Secret", "Projected", "DownwardAPI", "HostPath", "PersistentVolumeClaim", "Ephemeral"}
	kinds := reflect.TypeFor[corev1.VolumeSource]()
	for i := range kinds.NumField() {
		kind := kinds.Field(i)
		if slices.Contains(supported, kind.Name) {
			continue
		}
		v := corev1.Volume{Name: "v"}
		reflect.ValueOf(&v.VolumeSource).Elem().Field(i).Set(reflect.New(kind.Type.Elem()))
		var unsupported *podspec.UnsupportedError
		_, err := testPod(t, testObject()).Mount(t.Context(), v)
		require.ErrorAs(t, err, &unsupported, kind.Name)
	}
}
