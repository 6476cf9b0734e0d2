package kubelet

import (
	"context"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/retry"
)

// watch follows the pods of the kubelet's nodes. It returns when all there are were seen.
func (k *Kubelet) watch(ctx, life context.Context, services *sync.WaitGroup) error {
	// This also waits until the apiserver answers, which an informer would ask less often.
	if err := k.cleanUp(ctx); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(k.client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = bound.String() }),
		informers.WithTransform(slim))
	pods := factory.Core().V1().Pods()
	k.pods = pods.Lister()
	all, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.see(o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { k.see(o.(*corev1.Pod)) },
		DeleteFunc: func(o any) { k.forget(o) },
	})
	if err != nil {
		return err
	}
	k.services = environment.WatchServices(life, k.client, services)
	k.volumes.Tokens.Watch(life, services)
	services.Go(func() { pods.Informer().RunWithContext(life) })
	if !cache.WaitForCacheSync(ctx.Done(), all.HasSynced) {
		return ctx.Err()
	}
	return k.endUnseen()
}

// bound selects pods that have a node.
var bound = fields.OneTermNotEqualSelector("spec.nodeName", "")

// slim drops what the kubelet never reads; of a finished pod that is nearly everything.
func slim(o any) (any, error) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	p.ManagedFields = nil
	if podspec.Finished(p) {
		p.Annotations, p.Labels = nil, nil
		p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName, TerminationGracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds}
	}
	return p, nil
}

// see reacts to a pod as it is now. News may be stale and come twice: a pod is
// started once only, and remembered until its object is gone.
func (k *Kubelet) see(obj *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended || k.rooms[obj.Spec.NodeName] == nil { // what is left to do, the next kubelet does, or that of a node that is not ours
		return
	}
	p := k.known[obj.UID]
	if r, left := k.left[obj.UID]; left {
		delete(k.left, obj.UID)
		p = adoptPod(k, obj, r)
		k.known[obj.UID] = p
	}
	if obj.DeletionTimestamp != nil {
		if p != nil {
			p.terminate(p.graceLeft(obj), "", "")
		}
		if p == nil || !p.deleting {
			if p != nil {
				p.deleting = true
			}
			if g := obj.DeletionGracePeriodSeconds; g == nil || *g > 0 { // else the apiserver does not wait, or waits for others
				k.confirmDeletion(obj, p)
			}
		}
		return
	}
	if p != nil {
		p.seeChanges(obj)
	}
	if p != nil || podspec.Finished(obj) || k.over[obj.UID] {
		return
	}
	if obj.Status.StartTime != nil && !k.unbegun(obj.UID) {
		// It was started by a kubelet that left nothing.
		k.known[obj.UID] = lostPod(k, obj)
		return
	}
	k.known[obj.UID] = startPod(k, obj)
}

// graceLeft is how long the pod of a deleted object has to end.
func (p *pod) graceLeft(obj *corev1.Pod) time.Duration {
	if p.adopted { // an earlier kubelet may have sent the signal
		return max(0, time.Until(obj.DeletionTimestamp.Time))
	}
	if s := obj.DeletionGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 30 * time.Second
}

// confirmDeletion removes the object of a pod once nothing of it runs any more.
func (k *Kubelet) confirmDeletion(obj *corev1.Pod, p *pod) {
	k.work.Go(func() {
		if p != nil {
			<-p.done
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &obj.UID}}
		err := retry.Do(ctx, func() error { return k.client.CoreV1().Pods(obj.Namespace).Delete(ctx, obj.Name, now) })
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			k.log.Warn("pod not deleted", "pod", obj.Namespace+"/"+obj.Name, "err", err)
		}
	})
}

// forget removes what is left of a pod whose object is gone.
func (k *Kubelet) forget(o any) {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	obj, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return
	}
	p := k.known[obj.UID]
	if p != nil {
		p.terminate(0, "", "")
	}
	k.work.Go(func() {
		if p != nil {
			<-p.done
		}
		if err := os.RemoveAll(k.podDir(obj.UID)); err != nil {
			k.log.Warn("folder of a pod not removed", "err", err)
		}
		k.mu.Lock()
		delete(k.known, obj.UID)
		delete(k.over, obj.UID)
		k.mu.Unlock()
	})
}
