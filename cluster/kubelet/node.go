package kubelet

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/version"

	"github.com/argosy-ml/argosy/cluster/machine"
	"github.com/argosy-ml/argosy/cluster/podnet"
)

const (
	// leaseEvery is how often each node says that it lives. Kubernetes counts it as lost after a minute of silence.
	leaseEvery  = 15 * time.Second
	leaseLength = time.Minute
	// statusEvery is how often each node reports in full.
	statusEvery = 5 * time.Minute

	// maxPods of the machine, all its nodes together.
	maxPods = 1000
	// ownMemory is what the cluster's own processes get of the machine's memory.
	ownMemory = 512 << 20

	gpuResource = corev1.ResourceName("nvidia.com/gpu")

	// LimitsAnnotation says on a Node how the limits of its containers are enforced.
	LimitsAnnotation = "argosy.dev/limits"

	// managedBy marks the Node objects of this kubelet.
	managedBy = "app.kubernetes.io/managed-by"
	manager   = "argosy"
)

// Node is one of the kubelet's nodes.
type Node struct {
	Name        string
	Capacity    corev1.ResourceList
	Allocatable corev1.ResourceList
	GPUs        []machine.GPU
}

// Nodes divides the machine among n nodes: they rehearse how pods are placed, and must not promise more than there is. Each has
// as many pretended GPUs as are asked for, or, where that is below 0, its part of those found.
func Nodes(m machine.Machine, n, gpus int) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		node := &nodes[i]
		node.Name = "local"
		if n > 1 {
			node.Name += "-" + strconv.Itoa(i+1)
		}
		if gpus >= 0 {
			node.GPUs = machine.Pretend(gpus)
		} else {
			node.GPUs = m.GPUs[i*len(m.GPUs)/n : (i+1)*len(m.GPUs)/n]
		}
		list := func(memory int64) corev1.ResourceList {
			return corev1.ResourceList{
				corev1.ResourceCPU:              *resource.NewMilliQuantity(m.MilliCPU/int64(n), resource.DecimalSI),
				corev1.ResourceMemory:           *resource.NewQuantity(memory/int64(n), resource.BinarySI),
				corev1.ResourceEphemeralStorage: *resource.NewQuantity(m.Disk/int64(n), resource.BinarySI),
				corev1.ResourcePods:             *resource.NewQuantity(int64(maxPods/n), resource.DecimalSI),
				gpuResource:                     *resource.NewQuantity(int64(len(node.GPUs)), resource.DecimalSI),
			}
		}
		node.Capacity, node.Allocatable = list(m.Memory), list(max(m.Memory-ownMemory, m.Memory/2))
	}
	return nodes
}

// registerNodes waits for the apiserver and makes the Node objects.
func (k *Kubelet) registerNodes(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		err := k.removeStrays(ctx)
		for i := 0; err == nil && i < len(k.cfg.Nodes); i++ {
			err = k.registerNode(ctx, k.cfg.Nodes[i])
		}
		if err == nil {
			return nil
		}
		if attempt%50 == 0 {
			k.log.Info("nodes not registered yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("register the nodes: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// removeStrays deletes the nodes of an earlier start with another number of them.
func (k *Kubelet) removeStrays(ctx context.Context) error {
	nodes, err := k.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: managedBy + "=" + manager})
	if err != nil {
		return err
	}
	for _, n := range nodes.Items {
		if k.rooms[n.Name] != nil {
			continue
		}
		if err := k.client.CoreV1().Nodes().Delete(ctx, n.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (k *Kubelet) registerNode(ctx context.Context, n Node) error {
	labels := map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH,
		corev1.LabelTopologyZone: n.Name, corev1.LabelTopologyRegion: "local", managedBy: manager,
	}
	_, err := k.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, Labels: labels, Annotations: map[string]string{LimitsAnnotation: k.cfg.Limits},
	}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := k.renewLease(ctx, n.Name); err != nil {
		return err
	}
	return k.reportNode(ctx, n, labels)
}

func (k *Kubelet) reportNode(ctx context.Context, n Node, labels map[string]string) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	had := node.ObjectMeta.DeepCopy()
	for name, value := range labels { // those that others gave it stay
		metav1.SetMetaDataLabel(&node.ObjectMeta, name, value)
	}
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, LimitsAnnotation, k.cfg.Limits)
	if !maps.Equal(had.Labels, node.Labels) || !maps.Equal(had.Annotations, node.Annotations) {
		if node, err = k.client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	node.Status = corev1.NodeStatus{
		Capacity: n.Capacity, Allocatable: n.Allocatable,
		Conditions:      k.conditions(node.Status.Conditions),
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}, {Type: corev1.NodeHostName, Address: n.Name}},
		Images:          k.nodeImages(),
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(k.cfg.Port)}},
		NodeInfo: corev1.NodeSystemInfo{
			OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH, ContainerRuntimeVersion: "process://1", KubeletVersion: version.Get().GitVersion + "-argosy",
			OSImage: "this machine", KernelVersion: kernelRelease(),
		},
	}
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// kernelRelease is what `uname -r` says; nothing where the kernel does not tell.
func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// renewLease says that a node lives, at a fraction of the cost of its whole status.
func (k *Kubelet) renewLease(ctx context.Context, node string) error {
	leases := k.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now, length := metav1.NowMicro(), int32(leaseLength.Seconds())
	patch := fmt.Appendf(nil, `{"spec":{"holderIdentity":%q,"leaseDurationSeconds":%d,"renewTime":%q}}`,
		node, length, now.UTC().Format(metav1.RFC3339Micro))
	_, err := leases.Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = leases.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &node, LeaseDurationSeconds: &length, RenewTime: &now},
	}, metav1.CreateOptions{})
	return err
}

// heartbeat reports the nodes until the context ends.
func (k *Kubelet) heartbeat(ctx context.Context) {
	lease, status := time.NewTicker(leaseEvery), time.NewTicker(statusEvery)
	defer lease.Stop()
	defer status.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-lease.C:
			k.forAll(ctx, func(n Node) error { return k.renewLease(ctx, n.Name) })
		case <-status.C:
			k.registerAll(ctx)
		}
	}
}

// registerAll reports the nodes in full, which somebody may have deleted.
func (k *Kubelet) registerAll(ctx context.Context) {
	k.forAll(ctx, func(n Node) error { return k.registerNode(ctx, n) })
}

func (k *Kubelet) forAll(ctx context.Context, report func(Node) error) {
	for _, n := range k.cfg.Nodes {
		if err := report(n); err != nil && ctx.Err() == nil {
			k.log.Warn("no heartbeat", "node", n.Name, "err", err)
		}
	}
}

// hostIP is the nodes' address as pods see it. It is also the address of pods
// with hostNetwork: they share the sandbox's network, in which the gateway
// lives, never the machine's own.
var hostIP = podnet.Gateway.String()
