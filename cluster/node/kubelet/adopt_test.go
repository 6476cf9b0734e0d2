package kubelet

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podrecord"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/volumes"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// What a kubelet began, the next one must not begin once more, whatever the data folder is called.
func TestUnbegun(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	require.False(t, p.k.unbegun(p.obj.UID), "nothing is known of it")
	require.NoError(t, volumes.MakeFolder(p.path("logs"), 0o755))
	require.True(t, p.k.unbegun(p.obj.UID))
	log, err := podlog.Create(podlog.Life{Folder: p.path(shim.LogFolder, "c")})
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.False(t, p.k.unbegun(p.obj.UID))
}

// An order to stop is heard while the apiserver cannot be reached.
func TestWatchIsGivenUp(t *testing.T) {
	t.Parallel()
	k := testPod(t, samplePod()).k
	ctx, cancel := context.WithCancel(t.Context())
	k.client.(*fake.Clientset).PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel()
		return true, nil, errors.New("no apiserver")
	})
	var services sync.WaitGroup
	require.ErrorContains(t, k.watch(ctx, t.Context(), &services), "no apiserver")
	services.Wait()
}

// A pod whose object was deleted while no kubelet ran leaves nothing behind, and its resources are free.
func TestPodsThatWereNotSeenAreEnded(t *testing.T) {
	t.Parallel()
	asking := func(name, cpus string) *corev1.Pod {
		list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus)}
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(name), Name: name},
			Spec:       corev1.PodSpec{NodeName: "local", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list}}}},
		}
	}
	obj := asking("gone", "3")
	k := testPod(t, obj).k
	k.addresses = podnet.NewAddresses()
	addr := netip.MustParseAddr("10.88.0.2")
	k.addresses.Hold(addr)
	k.rooms = map[string]*admission.Room{"local": admission.NewRoom(admission.Nodes(machine.Machine{MilliCPU: 4000, Memory: 8 << 30, Disk: 100 << 30}, 1, 0)[0])}
	k.left = map[types.UID]podrecord.Record{obj.UID: {Addr: addr}}
	require.NoError(t, volumes.MakeFolder(k.podDir(obj.UID)+"/logs", 0o755))
	require.NoError(t, k.holdShare(obj))

	require.NoError(t, k.endUnseen())
	require.NoDirExists(t, k.podDir(obj.UID))
	require.Empty(t, k.left)
	_, err := k.rooms["local"].Enter(t.Context(), asking("next", "4"), nil)
	require.NoError(t, err)
}

// What cannot be read or removed of one pod does not keep all others waiting.
func TestCleanUpGoesOn(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	p.k.left, p.k.over, p.k.addresses = map[types.UID]podrecord.Record{}, map[types.UID]bool{}, podnet.NewAddresses()
	require.NoError(t, p.k.client.(*fake.Clientset).Tracker().Add(p.obj))
	require.NoError(t, p.k.makeFolders())
	require.NoError(t, volumes.MakeFolder(p.dir, 0o755))
	require.NoError(t, p.remember(func(r *podrecord.Record) { r.Addr = p.addr }))
	require.NoError(t, os.WriteFile(p.path("gpus.json"), []byte("?"), 0o600))
	require.NoError(t, p.k.cleanUp(t.Context()))
	require.Contains(t, p.k.left, p.obj.UID)
}
