// Package events records the events of one pod.
package events

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// patience is how long the normal events of a workflow's step are held back. If the step has succeeded by then, its status says as much,
// and the apiserver is spared a thousand writes for a workflow of a thousand steps.
const patience = time.Second

// Recorder records the events of one pod.
type Recorder struct {
	pod  *corev1.Pod
	to   record.EventRecorder
	hold bool

	mu    sync.Mutex
	held  []func() // sends an event each
	timer *time.Timer
	over  bool            // events are sent at once from now on
	told  map[string]bool // warnings of WarnOnce
}

// New returns a recorder for a pod. With hold it keeps normal events back for a moment; see End.
func New(pod *corev1.Pod, to record.EventRecorder, hold bool) *Recorder {
	return &Recorder{pod: pod, to: to, hold: hold, told: map[string]bool{}}
}

// Event records an event of the pod.
func (r *Recorder) Event(kind, reason, format string, args ...any) {
	r.record(r.pod, kind, reason, fmt.Sprintf(format, args...))
}

// Container records an event of one of the pod's containers.
func (r *Recorder) Container(c *corev1.Container, kind, reason, format string, args ...any) {
	list := "ephemeralContainers"
	if podspec.FindContainer(r.pod.Spec.Containers, c.Name) != nil {
		list = "containers"
	} else if podspec.FindContainer(r.pod.Spec.InitContainers, c.Name) != nil {
		list = "initContainers"
	}
	r.record(&corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: r.pod.Namespace, Name: r.pod.Name, UID: r.pod.UID, ResourceVersion: r.pod.ResourceVersion,
		FieldPath: "spec." + list + "{" + c.Name + "}",
	}, kind, reason, fmt.Sprintf(format, args...))
}

// WarnOnce records a warning that holds for the whole life of the pod, the first time it is given.
func (r *Recorder) WarnOnce(reason, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	told := r.told[text]
	r.told[text] = true
	r.mu.Unlock()
	if !told {
		r.Event(corev1.EventTypeWarning, reason, "%s", text)
	}
}

// record sends an event, or holds it back. A warning first sends what was held, because that led to it.
func (r *Recorder) record(object runtime.Object, kind, reason, text string) {
	send := func() { r.to.Event(object, kind, reason, text) }
	if !r.hold || kind != corev1.EventTypeNormal {
		r.release()
	} else if r.keep(send) {
		return
	}
	send()
}

// keep holds an event back. It returns false when no more events are held back.
func (r *Recorder) keep(send func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	r.held = append(r.held, send)
	if r.timer == nil {
		r.timer = time.AfterFunc(patience, r.release)
	}
	return true
}

func (r *Recorder) release() { r.End(true) }

// End sends or forgets the events that were held back. Later events are sent at once.
func (r *Recorder) End(send bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.timer != nil {
		r.timer.Stop()
	}
	if send {
		for _, s := range r.held {
			s()
		}
	}
	r.held = nil
}
