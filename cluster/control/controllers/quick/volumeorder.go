package quick

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// VolumesInOrder delivers claims and volumes to the parts of the scheduler one after the other. Its volume plugin keeps them in a cache,
// and its queue wakes the pods that wait for them. If both got them at once, a pod might be tried against the old cache: it would then be
// delayed by seconds, or by five minutes if that was the last change of its claim.
func VolumesInOrder(factory informers.SharedInformerFactory) {
	factory.InformerFor(&corev1.PersistentVolumeClaim{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return &inOrder{SharedIndexInformer: coreinformers.NewPersistentVolumeClaimInformer(c, corev1.NamespaceAll, resync, byNamespace())}
	})
	factory.InformerFor(&corev1.PersistentVolume{}, func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return &inOrder{SharedIndexInformer: coreinformers.NewPersistentVolumeInformer(c, resync, byNamespace())}
	})
}

// byNamespace is what factories give their informers.
func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// inOrder is an informer that calls its handlers one after the other, in the order in which they were added. All must be there
// before it runs.
type inOrder struct {
	cache.SharedIndexInformer
	handlers inTurn
	together cache.ResourceEventHandlerRegistration
}

// AddEventHandler adds a handler behind the others.
func (i *inOrder) AddEventHandler(h cache.ResourceEventHandler) (_ cache.ResourceEventHandlerRegistration, err error) {
	if i.HasSynced() {
		return nil, errors.New("the informer has already delivered its objects, and a new handler would miss them")
	}
	if i.together == nil {
		if i.together, err = i.SharedIndexInformer.AddEventHandler(&i.handlers); err != nil {
			return nil, err
		}
	}
	i.handlers = append(i.handlers, h)
	return i.together, nil
}

type inTurn []cache.ResourceEventHandler

func (t *inTurn) OnAdd(o any, initial bool) {
	for _, h := range *t {
		h.OnAdd(o, initial)
	}
}

func (t *inTurn) OnUpdate(before, now any) {
	for _, h := range *t {
		h.OnUpdate(before, now)
	}
}

func (t *inTurn) OnDelete(o any) {
	for _, h := range *t {
		h.OnDelete(o)
	}
}
