package kubelet

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/machine"
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
	require.Equal(t, int64(2), one[0].Capacity.Name(gpuResource, resource.DecimalSI).Value())

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
	r := newRoom(Nodes(laptop, 1, 0)[0])
	no := func(reason, message string) { t.Errorf("%s: %s", reason, message) }
	_, err := r.enter(t.Context(), asking("a", cpus("3")), no)
	require.NoError(t, err)

	type word struct{ pod, reason, message string }
	waits, entered := make(chan word, 10), make(chan string)
	enter := func(name, n string) {
		go func() {
			_, err := r.enter(t.Context(), asking(name, cpus(n)), func(reason, message string) { waits <- word{name, reason, message} })
			require.NoError(t, err)
			entered <- name
		}()
		require.Equal(t, name, (<-waits).pod)
	}
	enter("big", "4")
	enter("small", "2")
	r.leave("a")
	require.Equal(t, "big", <-entered, "who came first goes first")
	w := <-waits
	require.Equal(t, word{"small", "OutOfcpu", "Node local has not enough cpu left; waiting for 2"}, w)
	r.leave("big")
	require.Equal(t, "small", <-entered)
	r.leave("small")
	r.leave("small") // twice changes nothing
	require.Empty(t, r.taken)
}

func TestRoomRefusesWhatNeverFits(t *testing.T) {
	t.Parallel()
	r := newRoom(Nodes(laptop, 1, 0)[0])
	for _, c := range []struct {
		list   corev1.ResourceList
		reason string
	}{
		{cpus("4001m"), "OutOfcpu"},
		{corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi")}, "OutOfmemory"},
		{corev1.ResourceList{gpuResource: resource.MustParse("1")}, "OutOfnvidia.com/gpu"},
		{corev1.ResourceList{"example.com/thing": resource.MustParse("1")}, "OutOfexample.com/thing"},
	} {
		_, err := r.enter(t.Context(), asking("x", c.list), func(string, string) { t.Error("it waits") })
		var refused *refusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, c.reason, refused.reason)
	}
	require.Empty(t, r.waiting)
}

// A pod that is stopped while it waits does not hold up those behind it.
func TestWaitingForRoomCanBeGivenUp(t *testing.T) {
	t.Parallel()
	r := newRoom(Nodes(laptop, 1, 0)[0])
	_, err := r.enter(t.Context(), asking("a", cpus("3")), nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	waits, over := make(chan struct{}, 10), make(chan error)
	go func() {
		_, err := r.enter(ctx, asking("impatient", cpus("4")), func(string, string) { waits <- struct{}{} })
		over <- err
	}()
	<-waits
	behind := make(chan error)
	go func() {
		_, err := r.enter(t.Context(), asking("behind", cpus("1")), nil)
		behind <- err
	}()
	cancel()
	require.ErrorIs(t, <-over, context.Canceled)
	require.NoError(t, <-behind)
}

func TestGPUsAreHandedOutOnce(t *testing.T) {
	t.Parallel()
	one := corev1.ResourceList{gpuResource: resource.MustParse("1")}
	two := corev1.ResourceList{gpuResource: resource.MustParse("2")}
	r := newRoom(Nodes(laptop, 1, 3)[0])
	a, err := r.enter(t.Context(), asking("a", one), nil)
	require.NoError(t, err)
	b, err := r.enter(t.Context(), asking("b", two), nil)
	require.NoError(t, err)
	require.Equal(t, []machine.GPU{{Index: 0}}, a)
	require.Equal(t, []machine.GPU{{Index: 1}, {Index: 2}}, b)
	r.leave("a")
	c, err := r.enter(t.Context(), asking("c", one), nil)
	require.NoError(t, err)
	require.Equal(t, a, c)

	// A new kubelet gives running pods what they have, and others the rest.
	next := newRoom(Nodes(laptop, 1, 3)[0])
	require.NoError(t, next.resume(asking("b", two), b))
	d, err := next.enter(t.Context(), asking("d", one), nil)
	require.NoError(t, err)
	require.Equal(t, []machine.GPU{{Index: 0}}, d)
}

func TestContainersSeeTheirGPUs(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	with := func(name string, n string) corev1.Container {
		list := corev1.ResourceList{gpuResource: resource.MustParse(n)}
		return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Limits: list, Requests: list}}
	}
	obj := samplePod()
	sidecar := with("sidecar", "1")
	sidecar.RestartPolicy = &always
	obj.Spec.InitContainers = []corev1.Container{with("first", "2"), sidecar}
	obj.Spec.Containers = []corev1.Container{with("a", "1"), with("none", "0"), with("b", "2")}
	p := testPod(t, obj)
	gpus := machine.Pretend(4)
	gpus[3].UUID, gpus[3].Devices = "GPU-3", []string{"nvidia7", "nvidiactl"}
	p.k.rooms = map[string]*room{"local": newRoom(Node{Name: "local", GPUs: gpus, Allocatable: corev1.ResourceList{
		corev1.ResourcePods: resource.MustParse("10"), gpuResource: resource.MustParse("4"),
	}})}
	require.NoError(t, p.enter())
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
		env, err := p.environmentOf(c.container)
		require.NoError(t, err)
		require.Equal(t, c.cuda, env["CUDA_VISIBLE_DEVICES"], c.container.Name)
		require.Equal(t, c.visible, env["NVIDIA_VISIBLE_DEVICES"], c.container.Name)
		require.Equal(t, c.devices, p.devicesOf(c.container))
	}
	// A kubelet that comes later knows them from the pod's folder, before it takes on others.
	left, err := readGPUs(p.dir)
	require.NoError(t, err)
	require.Equal(t, p.gpus, left)
	p.leave()
	require.NoError(t, p.k.holdShare(obj))
	require.Equal(t, left, p.k.rooms["local"].taken[obj.UID].gpus)
}
