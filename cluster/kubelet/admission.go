package kubelet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/argosy-ml/argosy/cluster/machine"
)

// room weighs what pods ask for against what a node has.
//
// The scheduler has weighed it before, but there may be two of them, and a pod can name its node itself. A pod that would fit an
// empty node waits for its turn here; Kubernetes would fail it, and with it the workflow that it is a step of. One that
// never can is failed as in Kubernetes.
type room struct {
	node Node

	mu      sync.Mutex
	taken   map[types.UID]share
	waiting []types.UID   // in the order of their arrival
	changed chan struct{} // closed, and made anew, when something was given back
}

// share is what a pod has of a node.
type share struct {
	resources corev1.ResourceList
	gpus      []machine.GPU
}

func newRoom(n Node) *room {
	return &room{node: n, taken: map[types.UID]share{}, changed: make(chan struct{})}
}

// refusedError says that a pod can never run on its node.
type refusedError struct{ reason, message string }

func (e *refusedError) Error() string { return e.message }

// demand is what a pod asks for, the most of it at any time.
func demand(obj *corev1.Pod) corev1.ResourceList {
	d := resourcehelper.PodRequests(obj, resourcehelper.PodResourcesOptions{})
	d[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return d
}

// enter takes a pod's share, when there is one. wait is called with what is missing before it is waited for.
func (r *room) enter(ctx context.Context, obj *corev1.Pod, wait func(reason, message string)) ([]machine.GPU, error) {
	wanted := demand(obj)
	if name, ok := lacking(wanted, r.node.Allocatable, nil); ok {
		q, all := wanted[name], r.node.Allocatable[name]
		return nil, &refusedError{"OutOf" + string(name), fmt.Sprintf(
			"Node %s never has enough %s: the pod asks for %s, and all of the node is %s", r.node.Name, name, q.String(), all.String())}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, obj.UID)
	defer func() {
		r.waiting = slices.DeleteFunc(r.waiting, func(uid types.UID) bool { return uid == obj.UID })
		r.wake()
	}()
	for {
		name, full := lacking(wanted, r.node.Allocatable, r.taken)
		if !full && r.waiting[0] == obj.UID {
			return r.take(obj.UID, wanted, nil)
		}
		changed := r.changed
		r.mu.Unlock()
		if full {
			q := wanted[name]
			wait("OutOf"+string(name), fmt.Sprintf("Node %s has not enough %s left; waiting for %s", r.node.Name, name, q.String()))
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

// resume takes the share of a pod that runs already, from an earlier kubelet's time.
func (r *room) resume(obj *corev1.Pod, gpus []machine.GPU) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.take(obj.UID, demand(obj), gpus)
	return err
}

// take hands out free GPUs, or those given. The lock is held.
func (r *room) take(uid types.UID, wanted corev1.ResourceList, gpus []machine.GPU) ([]machine.GPU, error) {
	busy := map[int]bool{}
	for _, s := range r.taken {
		for _, g := range s.gpus {
			busy[g.Index] = true
		}
	}
	count := wanted[gpuResource]
	for _, g := range r.node.GPUs {
		if int64(len(gpus)) < count.Value() && !busy[g.Index] {
			gpus = append(gpus, g)
		}
	}
	if int64(len(gpus)) < count.Value() {
		return nil, fmt.Errorf("node %s has %d GPUs free, and the pod was promised %s", r.node.Name, len(gpus), count.String())
	}
	r.taken[uid] = share{wanted, gpus}
	return gpus, nil
}

// leave gives a pod's share back.
func (r *room) leave(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.taken[uid]; ok {
		delete(r.taken, uid)
		r.wake()
	}
}

// wake has those who wait look again. The lock is held.
func (r *room) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// lacking finds something of which less is left than is wanted.
func lacking(wanted, all corev1.ResourceList, taken map[types.UID]share) (corev1.ResourceName, bool) {
	for _, name := range slices.Sorted(maps.Keys(wanted)) { // so that whoever waits is told the same each time
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

// enter waits for the pod's share of its node and keeps it in mind for a kubelet that comes after this one.
func (p *pod) enter() error {
	told := ""
	gpus, err := p.room().enter(p.starting, p.obj, func(reason, message string) {
		if message == told { // others came or went, and it still waits for the same
			return
		}
		if told == "" {
			p.event(corev1.EventTypeWarning, reason, "%s", message)
		}
		told = message
		p.update(func(s *corev1.PodStatus) { setWaiting(s, reason, message) })
	})
	var refused *refusedError
	if errors.As(err, &refused) {
		p.event(corev1.EventTypeWarning, refused.reason, "%s", refused.message)
		p.mu.Lock()
		p.reason, p.message = refused.reason, refused.message
		p.mu.Unlock()
	}
	if err != nil {
		return err
	}
	if told != "" {
		p.update(func(s *corev1.PodStatus) { setWaiting(s, "ContainerCreating", "") })
	}
	p.gpus = gpus
	return p.rememberGPUs()
}

// holdShare is enter for a pod that runs already. It is done for all of them before any other pod can enter.
func (k *Kubelet) holdShare(obj *corev1.Pod) error {
	r := k.rooms[obj.Spec.NodeName]
	if r == nil {
		return nil
	}
	gpus, err := readGPUs(k.podDir(obj.UID))
	if err != nil {
		return err
	}
	if err := r.resume(obj, gpus); err != nil { // there were more of them when it was started
		k.log.Warn("pod runs without its share of the node", "pod", obj.Namespace+"/"+obj.Name, "err", err)
	}
	return nil
}

// leave gives back what the pod had, before its end is reported: the scheduler counts on it from then on.
func (p *pod) leave() {
	p.room().leave(p.obj.UID)
}

// room is that of the pod's node.
func (p *pod) room() *room { return p.k.rooms[p.obj.Spec.NodeName] }

// setWaiting says of every container that is not started yet why.
func setWaiting(s *corev1.PodStatus, reason, message string) {
	eachWaiting(s, func(w *corev1.ContainerStateWaiting) { w.Reason, w.Message = reason, message })
}

// explainWaiting adds to the reason that containers wait for.
func explainWaiting(s *corev1.PodStatus, message string) {
	eachWaiting(s, func(w *corev1.ContainerStateWaiting) { w.Message = message })
}

func eachWaiting(s *corev1.PodStatus, change func(*corev1.ContainerStateWaiting)) {
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range list {
			if w := list[i].State.Waiting; w != nil {
				change(w)
			}
		}
	}
}
