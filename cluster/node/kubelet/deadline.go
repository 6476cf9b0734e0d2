package kubelet

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// deadline ends a pod when its time is over, which may be shortened while it runs.
type deadline struct {
	end func() // the pod

	mu      sync.Mutex
	since   time.Time // when it began to run; zero: not yet
	seconds int64
	timer   *time.Timer
}

// begin has the deadline run since a time.
func (d *deadline) begin(since time.Time, obj *corev1.Pod) {
	d.mu.Lock()
	d.since = since
	d.mu.Unlock()
	d.see(obj)
}

// see takes note of the deadline as it is in the pod's object now.
func (d *deadline) see(obj *corev1.Pod) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seconds := obj.Spec.ActiveDeadlineSeconds
	if seconds == nil || d.since.IsZero() || d.timer != nil && *seconds >= d.seconds {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.seconds = *seconds
	d.timer = time.AfterFunc(time.Until(d.since.Add(time.Duration(*seconds)*time.Second)), d.end)
}

// forget is for a pod that is over.
func (d *deadline) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
}
