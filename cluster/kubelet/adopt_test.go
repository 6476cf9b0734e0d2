package kubelet

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/cluster/podlog"
	"github.com/argosy-ml/argosy/cluster/podnet"
)

// What a kubelet began, the next one must not begin once more, whatever the data folder is called.
func TestUnbegun(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	require.False(t, p.k.unbegun(p.obj.UID), "nothing is known of it")
	require.NoError(t, makeFolder(p.path("logs"), 0o755))
	require.True(t, p.k.unbegun(p.obj.UID))
	log, err := podlog.Create(p.life("c", 0))
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

// A pod whose object went while nobody watched leaves nothing behind, and what it had is free.
func TestPodsThatWereNotSeenAreEnded(t *testing.T) {
	t.Parallel()
	obj := asking("gone", cpus("3"))
	k := testPod(t, obj).k
	k.addresses = podnet.NewAddresses()
	addr := netip.MustParseAddr("10.88.0.2")
	k.addresses.Hold(addr)
	k.rooms = map[string]*room{"local": newRoom(Nodes(laptop, 1, 0)[0])}
	k.left = map[types.UID]podRecord{obj.UID: {Addr: addr}}
	require.NoError(t, makeFolder(k.podDir(obj.UID)+"/logs", 0o755))
	require.NoError(t, k.holdShare(obj))

	require.NoError(t, k.endUnseen())
	require.NoDirExists(t, k.podDir(obj.UID))
	require.Empty(t, k.left)
	_, err := k.rooms["local"].enter(t.Context(), asking("next", cpus("4")), nil)
	require.NoError(t, err)
}

// What cannot be read or removed of one pod does not keep all others waiting.
func TestCleanUpGoesOn(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod())
	p.k.left, p.k.over, p.k.addresses = map[types.UID]podRecord{}, map[types.UID]bool{}, podnet.NewAddresses()
	require.NoError(t, p.k.client.(*fake.Clientset).Tracker().Add(p.obj))
	require.NoError(t, p.k.makeHalls())
	require.NoError(t, makeFolder(p.dir, 0o755))
	require.NoError(t, p.remember(func(r *podRecord) { r.Addr = p.addr }))
	require.NoError(t, os.WriteFile(p.path(gpuFile), []byte("?"), 0o600))
	require.NoError(t, p.k.cleanUp(t.Context()))
	require.Contains(t, p.k.left, p.obj.UID)
}
