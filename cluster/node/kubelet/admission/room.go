// Package admission decides whether a pod may run on a node, and assigns its processors, memory and GPUs. It also lists the unsupported
// fields of a pod spec.
package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

// room hands out the resources of a node to pods.
//
// The scheduler did so before, but there may be two schedulers, and a pod can name its node itself. A pod that would fit an empty node
// waits for its turn. Kubernetes would fail it, and with it the workflow whose step it is. A pod that never fits fails as in Kubernetes.
type Room struct {
	Node Node

	mu      sync.Mutex
	taken   map[types.UID]share
	waiting []types.UID   // in the order of their arrival
	changed chan struct{} // closed and replaced when resources are freed
}

// share is the part of a node's resources that a pod has.
type share struct {
	resources corev1.ResourceList
	gpus      []machine.GPU
}

func NewRoom(n Node) *Room {
	return &Room{Node: n, taken: map[types.UID]share{}, changed: make(chan struct{})}
}

// demand returns the most that a pod asks for at any time.
func demand(obj *corev1.Pod) corev1.ResourceList {
	d := resourcehelper.PodRequests(obj, resourcehelper.PodResourcesOptions{})
	d[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return d
}

// enter waits until the pod's share is free, and takes it. Before it waits it calls wait with the resource that is short.
func (r *Room) Enter(ctx context.Context, obj *corev1.Pod, wait func(reason, message string)) ([]machine.GPU, error) {
	wanted := demand(obj)
	if name, ok := lacking(wanted, r.Node.Allocatable, nil); ok {
		q, all := wanted[name], r.Node.Allocatable[name]
		return nil, &podspec.RefusedError{Reason: "OutOf" + string(name), Message: fmt.Sprintf(
			"Node %s never has enough %s: the pod asks for %s, and all of the node is %s", r.Node.Name, name, q.String(), all.String())}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, obj.UID)
	defer func() {
		r.waiting = slices.DeleteFunc(r.waiting, func(uid types.UID) bool { return uid == obj.UID })
		r.wake()
	}()
	for {
		name, full := lacking(wanted, r.Node.Allocatable, r.taken)
		if !full && r.waiting[0] == obj.UID {
			return r.take(obj.UID, wanted, nil)
		}
		changed := r.changed
		r.mu.Unlock()
		if full {
			q := wanted[name]
			wait("OutOf"+string(name), fmt.Sprintf("Node %s has not enough %s left; waiting for %s", r.Node.Name, name, q.String()))
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
		r.mu.Lock()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// resume takes the share of a pod that an earlier kubelet started.
func (r *Room) Resume(obj *corev1.Pod, gpus []machine.GPU) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.take(obj.UID, demand(obj), gpus)
	return err
}

// take hands out free GPUs, or those given. The lock is held.
func (r *Room) take(uid types.UID, wanted corev1.ResourceList, gpus []machine.GPU) ([]machine.GPU, error) {
	busy := map[int]bool{}
	for _, s := range r.taken {
		for _, g := range s.gpus {
			busy[g.Index] = true
		}
	}
	count := wanted[GPU]
	for _, g := range r.Node.GPUs {
		if int64(len(gpus)) < count.Value() && !busy[g.Index] {
			gpus = append(gpus, g)
		}
	}
	if int64(len(gpus)) < count.Value() {
		return nil, fmt.Errorf("node %s has %d GPUs free, and the pod was promised %s", r.Node.Name, len(gpus), count.String())
	}
	r.taken[uid] = share{wanted, gpus}
	return gpus, nil
}

// leave gives a pod's share back.
func (r *Room) Leave(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.taken[uid]; ok {
		delete(r.taken, uid)
		r.wake()
	}
}

// wake makes waiting pods look again. The lock is held.
func (r *Room) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// lacking returns a resource that has less left than is wanted.
func lacking(wanted, all corev1.ResourceList, taken map[types.UID]share) (corev1.ResourceName, bool) {
	for _, name := range slices.Sorted(maps.Keys(wanted)) { // in one order, so that a waiting pod gets the same message each time
		q := wanted[name]
		if q.IsZero() {
			continue
		}
		left := all[name].DeepCopy()
		for _, s := range taken {
			left.Sub(s.resources[name])
		}
		if q.Cmp(left) > 0 {
			return name, true
		}
	}
	return "", false
}
