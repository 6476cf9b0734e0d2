package nodestatus

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

// Below these limits the nodes report pressure, and Kubernetes places no more pods on them until a quarter more is free. Running pods go
// on: others may have caused the shortage. etcd ends when its disk is full.
const (
	leastFreeDisk   = 500 << 20
	leastFreeMemory = 100 << 20
)

// conditions returns the conditions of a node. Those that have not changed keep their time.
func (r *Reporter) conditions(before []corev1.NodeCondition) []corev1.NodeCondition {
	now := metav1.Now()
	all := []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "pods can be run"}}
	all = append(all, r.Pressures(before)...)
	for i := range all {
		c := &all[i]
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		if old := conditionOf(before, c.Type); old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	return all
}

// Pressures returns the conditions of memory and disk. It omits what it cannot find out.
func (r *Reporter) Pressures(before []corev1.NodeCondition) (all []corev1.NodeCondition) {
	if free, err := machine.FreeMemory(); err == nil {
		all = append(all, pressure(before, corev1.NodeMemoryPressure, "KubeletHasInsufficientMemory", "KubeletHasSufficientMemory", free, leastFreeMemory, "of memory"))
	}
	if free, err := machine.FreeDisk(r.Disk); err == nil {
		all = append(all, pressure(before, corev1.NodeDiskPressure, "KubeletHasDiskPressure", "KubeletHasNoDiskPressure", free, leastFreeDisk, "on the disk of "+r.Home))
	}
	return all
}

// pressure returns a condition that is true with less than least bytes free.
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
