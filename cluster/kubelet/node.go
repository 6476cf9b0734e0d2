package kubelet

import (
	"context"
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/podnet"
)

const heartbeatEvery = time.Minute

// capacity is more than any machine has: what pods ask for is not weighed yet
// against what there is, and a sample's requests must fit on a small laptop.
var capacity = corev1.ResourceList{
	corev1.ResourceCPU:              resource.MustParse("256"),
	corev1.ResourceMemory:           resource.MustParse("4Ti"),
	corev1.ResourceEphemeralStorage: resource.MustParse("4Ti"),
	corev1.ResourcePods:             resource.MustParse("2000"),
}

// registerNode waits for the apiserver and makes the Node object.
func (k *Kubelet) registerNode(ctx context.Context) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: NodeName, Labels: map[string]string{
		corev1.LabelHostname: NodeName, corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH,
	}}}
	for attempt := 0; ; attempt++ {
		_, err := k.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			if err = k.reportNode(ctx); err == nil {
				return nil
			}
		}
		if attempt%50 == 0 {
			k.log.Info("node not registered yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("register the node: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (k *Kubelet) reportNode(ctx context.Context) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, NodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now := metav1.Now()
	ready := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "pods can be run",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}
	for _, c := range node.Status.Conditions {
		if c.Type == ready.Type && c.Status == ready.Status {
			ready.LastTransitionTime = c.LastTransitionTime
		}
	}
	node.Status = corev1.NodeStatus{
		Capacity: capacity, Allocatable: capacity,
		Conditions:      []corev1.NodeCondition{ready},
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}, {Type: corev1.NodeHostName, Address: NodeName}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(k.cfg.Port)}},
		NodeInfo: corev1.NodeSystemInfo{
			OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH, ContainerRuntimeVersion: "process://1", KubeletVersion: "v1.34.4-argosy",
			OSImage: "this machine",
		},
	}
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func (k *Kubelet) heartbeat(ctx context.Context) {
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := k.reportNode(ctx); err != nil && ctx.Err() == nil {
				k.log.Warn("no heartbeat", "err", err)
			}
		}
	}
}

// hostIP is the node's address as pods see it. It is also the address of pods
// with hostNetwork: they share the sandbox's network, in which the gateway
// lives, never the machine's own.
var hostIP = podnet.Gateway.String()
