package quick

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
)

// scheduledPatience is how long the event that a step's pod has got a node is kept back. When the pod is over by then nothing needs it any
// more, and a workflow of a thousand steps has something better to do than to write a thousand of them.
const scheduledPatience = 5 * time.Second

// Recorder is the scheduler's recorder of events. The lister is of the pods that are not over.
func Recorder(to events.EventRecorder, pods corelisters.PodLister) events.EventRecorder {
	return patientRecorder{to, pods}
}

type patientRecorder struct {
	events.EventRecorder
	pods corelisters.PodLister // those that are not over
}

// Eventf records an event, that of a step's pod getting a node only if the pod is not over soon after.
func (r patientRecorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	send := func() { r.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...) }
	pod, ok := regarding.(*corev1.Pod)
	if !ok || reason != "Scheduled" || kind != corev1.EventTypeNormal || pod.Labels[common.LabelKeyWorkflow] == "" {
		send()
		return
	}
	time.AfterFunc(scheduledPatience, func() {
		now, err := r.pods.Pods(pod.Namespace).Get(pod.Name)
		if err == nil && now.UID == pod.UID {
			send()
		}
	})
}
