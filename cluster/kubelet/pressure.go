package kubelet

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/machine"
)

// With less than this free, nodes say so, and Kubernetes places no more pods on them until there is a quarter more again. Pods that
// run go on: it is the machine's shortage, and others than they may have caused it. etcd ends where its disk is full.
const (
	leastFreeDisk   = 500 << 20
	leastFreeMemory = 100 << 20
)

// conditions say how the node is; since when, they may have said before.
func (k *Kubelet) conditions(before []corev1.NodeCondition) []corev1.NodeCondition {
	now := metav1.Now()
	all := []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "pods can be run"}}
	all = append(all, k.pressures(before)...)
	for i := range all {
		c := &all[i]
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		if old := conditionOf(before, c.Type); old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	return all
}

// pressures are the conditions of what the machine may run short of. Of what cannot be found out nothing is said.
func (k *Kubelet) pressures(before []corev1.NodeCondition) (all []corev1.NodeCondition) {
	if free, err := machine.FreeMemory(); err == nil {
		all = append(all, pressure(before, corev1.NodeMemoryPressure, "KubeletHasInsufficientMemory", "KubeletHasSufficientMemory", free, leastFreeMemory, "of memory"))
	}
	if free, err := machine.FreeDisk(k.clusterDir()); err == nil {
		all = append(all, pressure(before, corev1.NodeDiskPressure, "KubeletHasDiskPressure", "KubeletHasNoDiskPressure", free, leastFreeDisk, "on the disk of "+k.cfg.Home))
	}
	return all
}

func pressure(before []corev1.NodeCondition, kind corev1.NodeConditionType, has, hasNot string, free, least int64, what string) corev1.NodeCondition {
	if conditionOf(before, kind).Status == corev1.ConditionTrue {
		least += least / 4
	}
	says := fmt.Sprintf("%d MiB %s are free", free>>20, what)
	if free < least {
		return corev1.NodeCondition{Type: kind, Status: corev1.ConditionTrue, Reason: has, Message: "only " + says + ": no more pods are placed here"}
	}
	return corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse, Reason: hasNot, Message: says}
}

func conditionOf(list []corev1.NodeCondition, kind corev1.NodeConditionType) corev1.NodeCondition {
	i := slices.IndexFunc(list, func(c corev1.NodeCondition) bool { return c.Type == kind })
	if i < 0 {
		return corev1.NodeCondition{}
	}
	return list[i]
}
