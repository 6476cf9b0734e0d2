package admission

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

func asking(uid string, list corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Name: uid},
		Spec: corev1.PodSpec{NodeName: "local", Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: list, Limits: list},
		}}},
	}
}

func cpus(n string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(n)}
}

var laptop = machine.Machine{MilliCPU: 4000, Memory: 8 << 30, Disk: 100 << 30}

func TestNodes(t *testing.T) {
	t.Parallel()
	one := Nodes(laptop, 1, 2)
	require.Len(t, one, 1)
	require.Equal(t, "local", one[0].Name)
	require.Equal(t, int64(4), one[0].Allocatable.Cpu().Value())
	require.Equal(t, int64(8<<30-512<<20), one[0].Allocatable.Memory().Value())
	require.Equal(t, int64(2), one[0].Capacity.Name(GPU, resource.DecimalSI).Value())

	m := laptop
	m.GPUs = machine.Pretend(3)
	three := Nodes(m, 3, -1)
	require.Len(t, three, 3)
	found := map[int]string{}
	for _, n := range three {
		require.Equal(t, int64(1333), n.Allocatable.Cpu().MilliValue())
		for _, g := range n.GPUs {
			require.Empty(t, found[g.Index], "a GPU belongs to one node")
			found[g.Index] = n.Name
		}
	}
	require.Equal(t, map[int]string{0: "local-1", 1: "local-2", 2: "local-3"}, found)
	require.Len(t, Nodes(m, 3, 2)[2].GPUs, 2, "each node pretends")
	require.Empty(t, Nodes(m, 1, 0)[0].GPUs, "none are wanted")
}

// A pod waits for what others have and gets it in the order of arrival.
func TestRoomIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := NewRoom(Nodes(laptop, 1, 0)[0])
	no := func(reason, message string) { t.Errorf("%s: %s", reason, message) }
	_, err := r.Enter(t.Context(), asking("a", cpus("3")), no)
	require.NoError(t, err)

	type word struct{ pod, reason, message string }
	waits, entered := make(chan word, 10), make(chan string)
	enter := func(name, n string) {
		go func() {
			_, err := r.Enter(t.Context(), asking(name, cpus(n)), func(reason, message string) { waits <- word{name, reason, message} })
			require.NoError(t, err)
			entered <- name
		}()
		require.Equal(t, name, (<-waits).pod)
	}
	enter("big", "4")
	enter("small", "2")
	r.Leave("a")
	require.Equal(t, "big", <-entered, "who came first goes first")
	w := <-waits
	require.Equal(t, word{"small", "OutOfcpu", "Node local has not enough cpu left; waiting for 2"}, w)
	r.Leave("big")
	require.Equal(t, "small", <-entered)
	r.Leave("small")
	r.Leave("small") // twice changes nothing
	require.Empty(t, r.taken)
}

func TestRoomRefusesWhatNeverFits(t *testing.T) {
	t.Parallel()
	r := NewRoom(Nodes(laptop, 1, 0)[0])
	for _, c := range []struct {
		list   corev1.ResourceList
		reason string
	}{
		{cpus("4001m"), "OutOfcpu"},
		{corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi")}, "OutOfmemory"},
		{corev1.ResourceList{GPU: resource.MustParse("1")}, "OutOfnvidia.com/gpu"},
		{corev1.ResourceList{"example.com/thing": resource.MustParse("1")}, "OutOfexample.com/thing"},
	} {
		_, err := r.Enter(t.Context(), asking("x", c.list), func(string, string) { t.Error("it waits") })
		var refused *podspec.RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, c.reason, refused.Reason)
	}
	require.Empty(t, r.waiting)
}

// A pod that is stopped while it waits does not hold up those behind it.
func TestWaitingForRoomCanBeGivenUp(t *testing.T) {
	t.Parallel()
	r := NewRoom(Nodes(laptop, 1, 0)[0])
	_, err := r.Enter(t.Context(), asking("a", cpus("3")), nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	waits, over := make(chan struct{}, 10), make(chan error)
	go func() {
		_, err := r.Enter(ctx, asking("impatient", cpus("4")), func(string, string) { waits <- struct{}{} })
		over <- err
	}()
	<-waits
	behind := make(chan error)
	go func() {
		_, err := r.Enter(t.Context(), asking("behind", cpus("1")), nil)
		behind <- err
	}()
	cancel()
	require.ErrorIs(t, <-over, context.Canceled)
	require.NoError(t, <-behind)
}

func TestGPUsAreHandedOutOnce(t *testing.T) {
	t.Parallel()
	one := corev1.ResourceList{GPU: resource.MustParse("1")}
	two := corev1.ResourceList{GPU: resource.MustParse("2")}
	r := NewRoom(Nodes(laptop, 1, 3)[0])
	a, err := r.Enter(t.Context(), asking("a", one), nil)
	require.NoError(t, err)
	b, err := r.Enter(t.Context(), asking("b", two), nil)
	require.NoError(t, err)
	require.Equal(t, []machine.GPU{{Index: 0}}, a)
	require.Equal(t, []machine.GPU{{Index: 1}, {Index: 2}}, b)
	r.Leave("a")
	c, err := r.Enter(t.Context(), asking("c", one), nil)
	require.NoError(t, err)
	require.Equal(t, a, c)

	// A new kubelet gives running pods what they have, and others the rest.
	next := NewRoom(Nodes(laptop, 1, 3)[0])
	require.NoError(t, next.Resume(asking("b", two), b))
	d, err := next.Enter(t.Context(), asking("d", one), nil)
	require.NoError(t, err)
	require.Equal(t, []machine.GPU{{Index: 0}}, d)
}

func TestContainersSeeTheirGPUs(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	with := func(name string, n string) corev1.Container {
		list := corev1.ResourceList{GPU: resource.MustParse(n)}
		return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Limits: list, Requests: list}}
	}
	obj := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u-1"}}
	sidecar := with("sidecar", "1")
	sidecar.RestartPolicy = &always
	obj.Spec.InitContainers = []corev1.Container{with("first", "2"), sidecar}
	obj.Spec.Containers = []corev1.Container{with("a", "1"), with("none", "0"), with("b", "2")}
	gpus := machine.Pretend(4)
	gpus[3].UUID, gpus[3].Devices = "GPU-3", []string{"nvidia7", "nvidiactl"}
	r := NewRoom(Node{Name: "local", GPUs: gpus, Allocatable: corev1.ResourceList{
		corev1.ResourcePods: resource.MustParse("10"), GPU: resource.MustParse("4"),
	}})
	given, err := r.Enter(t.Context(), obj, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		container     *corev1.Container
		cuda, visible string
		devices       []string
	}{
		{&obj.Spec.InitContainers[0], "0,1", "0,1", nil},
		{&obj.Spec.InitContainers[1], "0", "0", nil},
		{&obj.Spec.Containers[0], "1", "1", nil},
		{&obj.Spec.Containers[1], "", "void", nil},
		{&obj.Spec.Containers[2], "2,GPU-3", "2,3", []string{"nvidia7", "nvidiactl"}},
	} {
		env, own := map[string]string{}, GPUsOf(obj, given, c.container)
		ShowGPUs(own, env)
		require.Equal(t, c.cuda, env["CUDA_VISIBLE_DEVICES"], c.container.Name)
		require.Equal(t, c.visible, env["NVIDIA_VISIBLE_DEVICES"], c.container.Name)
		require.Equal(t, c.devices, Devices(own))
	}
	// A later kubelet reads them from the pod's folder, and gives them to no other pod.
	dir := filepath.Join(t.TempDir(), "pod")
	require.NoError(t, WriteGPUs(dir, given))
	left, err := ReadGPUs(dir)
	require.NoError(t, err)
	require.Equal(t, given, left)
	r.Leave(obj.UID)
	require.NoError(t, r.Resume(obj, left))
	require.Equal(t, left, r.taken[obj.UID].gpus)
}
