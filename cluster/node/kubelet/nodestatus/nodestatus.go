// Package nodestatus keeps the Node objects and leases of the kubelet's nodes up to date.
package nodestatus

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/version"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
)

const (
	// leaseEvery is how often each node renews its lease. Kubernetes counts a node as lost after a minute.
	leaseEvery  = 15 * time.Second
	leaseLength = time.Minute
	// statusEvery is how often each node reports in full.
	statusEvery = 5 * time.Minute

	// LimitsAnnotation says on a Node how the limits of its containers are enforced.
	LimitsAnnotation = "argosy.dev/limits"

	// managedBy marks the Node objects of this kubelet.
	managedBy = "app.kubernetes.io/managed-by"
	manager   = "argosy"
)

// Reporter reports the kubelet's nodes to the apiserver.
type Reporter struct {
	Client kubernetes.Interface
	Nodes  []admission.Node
	Home   string // data folder, as messages name it
	Disk   string // a folder on the disk that must not run full
	Limits string // how limits of containers are enforced, for the reader
	Port   int    // of the kubelet's server
	Images func() []corev1.ContainerImage
	Log    *slog.Logger
}

// Register waits for the apiserver and makes the Node objects.
func (r *Reporter) Register(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		err := r.removeStrays(ctx)
		for i := 0; err == nil && i < len(r.Nodes); i++ {
			err = r.registerNode(ctx, r.Nodes[i])
		}
		if err == nil {
			return nil
		}
		if attempt%50 == 0 {
			r.Log.Info("nodes not registered yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("register the nodes: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// removeStrays deletes the nodes of an earlier start that had more of them.
func (r *Reporter) removeStrays(ctx context.Context) error {
	nodes, err := r.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: managedBy + "=" + manager})
	if err != nil {
		return err
	}
	for _, n := range nodes.Items {
		if slices.ContainsFunc(r.Nodes, func(own admission.Node) bool { return own.Name == n.Name }) {
			continue
		}
		if err := r.Client.CoreV1().Nodes().Delete(ctx, n.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (r *Reporter) registerNode(ctx context.Context, n admission.Node) error {
	labels := map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH,
		corev1.LabelTopologyZone: n.Name, corev1.LabelTopologyRegion: "local", managedBy: manager,
	}
	_, err := r.Client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, Labels: labels, Annotations: map[string]string{LimitsAnnotation: r.Limits},
	}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := r.renewLease(ctx, n.Name); err != nil {
		return err
	}
	return r.reportNode(ctx, n, labels)
}

func (r *Reporter) reportNode(ctx context.Context, n admission.Node, labels map[string]string) error {
	node, err := r.Client.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	had := node.ObjectMeta.DeepCopy()
	for name, value := range labels { // those that others gave it stay
		metav1.SetMetaDataLabel(&node.ObjectMeta, name, value)
	}
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, LimitsAnnotation, r.Limits)
	if !maps.Equal(had.Labels, node.Labels) || !maps.Equal(had.Annotations, node.Annotations) {
		if node, err = r.Client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	node.Status = corev1.NodeStatus{
		Capacity: n.Capacity, Allocatable: n.Allocatable,
		Conditions:      r.conditions(node.Status.Conditions),
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}, {Type: corev1.NodeHostName, Address: n.Name}},
		Images:          r.Images(),
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(r.Port)}},
		NodeInfo: corev1.NodeSystemInfo{
			OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH, ContainerRuntimeVersion: "process://1", KubeletVersion: version.Get().GitVersion + "-argosy",
			OSImage: "this machine", KernelVersion: kernelRelease(),
		},
	}
	_, err = r.Client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
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

// renewLease reports that a node lives. It costs a fraction of a whole status.
func (r *Reporter) renewLease(ctx context.Context, node string) error {
	leases := r.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
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

// Keep reports the nodes until the context ends.
func (r *Reporter) Keep(ctx context.Context) {
	lease, status := time.NewTicker(leaseEvery), time.NewTicker(statusEvery)
	defer lease.Stop()
	defer status.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-lease.C:
			r.forAll(ctx, func(n admission.Node) error { return r.renewLease(ctx, n.Name) })
		case <-status.C:
			r.ReportAll(ctx)
		}
	}
}

// ReportAll reports the nodes in full, and makes those that were deleted.
func (r *Reporter) ReportAll(ctx context.Context) {
	r.forAll(ctx, func(n admission.Node) error { return r.registerNode(ctx, n) })
}

func (r *Reporter) forAll(ctx context.Context, report func(admission.Node) error) {
	for _, n := range r.Nodes {
		if err := report(n); err != nil && ctx.Err() == nil {
			r.Log.Warn("no heartbeat", "node", n.Name, "err", err)
		}
	}
}
