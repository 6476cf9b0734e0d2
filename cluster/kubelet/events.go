package kubelet

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// eventPatience is how long the events of a step are kept back. Of one that has succeeded by then its status says all that they
// would, and a workflow of a thousand steps has something better to do than to write a thousand of them.
const eventPatience = time.Second

// heldEvents are the events of a pod that may turn out to be of no interest. The zero value holds none.
type heldEvents struct {
	mu    sync.Mutex
	sends []func()
	timer *time.Timer
	over  bool // nothing is kept back any more
}

// keep holds an event back, or says that it is too late for that.
func (h *heldEvents) keep(send func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return false
	}
	h.sends = append(h.sends, send)
	if h.timer == nil {
		h.timer = time.AfterFunc(eventPatience, h.release)
	}
	return true
}

// release sends what was held, in its order, and has later events sent at once.
func (h *heldEvents) release() { h.end(true) }

// end is the end of holding back; what was held is sent or forgotten.
func (h *heldEvents) end(send bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	if h.timer != nil {
		h.timer.Stop()
	}
	if send {
		for _, s := range h.sends {
			s()
		}
	}
	h.sends = nil
}

// containerEvent is an event of one container.
func (p *pod) containerEvent(c *corev1.Container, kind, reason, format string, args ...any) {
	list := "ephemeralContainers"
	if findContainer(p.obj.Spec.Containers, c.Name) != nil {
		list = "containers"
	} else if findContainer(p.obj.Spec.InitContainers, c.Name) != nil {
		list = "initContainers"
	}
	p.tellOf(&corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: p.obj.Namespace, Name: p.obj.Name, UID: p.obj.UID, ResourceVersion: p.obj.ResourceVersion, FieldPath: "spec." + list + "{" + c.Name + "}",
	}, kind, reason, fmt.Sprintf(format, args...))
}

func (p *pod) event(kind, reason, format string, args ...any) {
	p.tellOf(p.obj, kind, reason, fmt.Sprintf(format, args...))
}

func (p *pod) tellOf(object runtime.Object, kind, reason, text string) {
	send := func() { p.k.events[p.obj.Spec.NodeName].Event(object, kind, reason, text) }
	if p.argo == nil || kind != corev1.EventTypeNormal {
		p.held.release() // what led to it
	} else if p.held.keep(send) {
		return
	}
	send()
}
