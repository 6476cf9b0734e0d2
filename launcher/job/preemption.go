package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
)

// annotationPreemption is on a job that started again after a preemption.
const annotationPreemption = "argosy.dev/preemption"

// Preemption says for whom a scheduler took room from a job.
type Preemption struct {
	At time.Time `json:"at"`
	// Kind and Name are those of the job, workflow or pod that got the room, Run its run. They are empty when it cannot be found.
	Kind     string `json:"kind,omitempty"`
	Name     string `json:"name,omitempty"`
	Run      string `json:"run,omitempty"`
	Priority int32  `json:"priority,omitempty"`
}

func (p Preemption) String() string {
	if p.Name == "" {
		return "pods of higher priority"
	}
	return fmt.Sprintf("%s %s (priority %d)", p.Kind, p.Name, p.Priority)
}

// isPreempted tells whether a scheduler removed the pod to make room for another.
func isPreempted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
	})
}

// victimOf is the first of the pods that was preempted, nil when none was.
func victimOf(pods []*corev1.Pod) *corev1.Pod {
	if i := slices.IndexFunc(pods, isPreempted); i >= 0 {
		return pods[i]
	}
	return nil
}

// yield stops a job that lost a pod to a preemption: the others would hold their room without getting on.
func (l *Launcher) yield(ctx context.Context, s state) *FailedError {
	what := l.Spec.Kind.Title + " " + s.job.GetName()
	l.out.say("pod %s was preempted: stopping %s, which starts again when there is room", s.victim.Name, what)
	if err := l.remove(ctx, s.job); err != nil {
		return &FailedError{Code: 1, Cause: err.Error()}
	}
	return &FailedError{Code: 1, Cause: what + " was preempted", victim: s.victim}
}

// requeue creates a job again that was preempted. That is the same attempt: the job has not failed.
func (l *Launcher) requeue(ctx context.Context, old *unstructured.Unstructured, victim *corev1.Pod) (*unstructured.Unstructured, error) {
	l.preemption = l.preemptor(ctx, victim)
	l.out.say("%s %s was preempted by %s", l.Spec.Kind.Title, old.GetName(), l.preemption)
	return l.replace(ctx, old, attempt(old))
}

// preemptor finds for whom a pod was preempted: schedulers nominate the pods that are to have its room for its node.
func (l *Launcher) preemptor(ctx context.Context, victim *corev1.Pod) *Preemption {
	p := &Preemption{At: time.Now().UTC().Truncate(time.Second)}
	list, err := l.Pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		l.out.say("for whom it was preempted is not known: %v", err)
		return p
	}
	pod := nominated(list.Items, victim)
	if pod == nil {
		return p
	}
	p.Kind, p.Name = "Pod", pod.Name
	if o := metav1.GetControllerOf(pod); o != nil {
		p.Kind, p.Name = o.Kind, o.Name
	}
	p.Run, p.Priority = pod.Labels[labelRun], ptr.Deref(pod.Spec.Priority, 0)
	return p
}

// nominated is the newest pod of higher priority that was nominated for a node, for that of the victim if there is one; nil when there is none.
func nominated(pods []corev1.Pod, victim *corev1.Pod) *corev1.Pod {
	var found []*corev1.Pod
	for i := range pods {
		if pods[i].Status.NominatedNodeName != "" && ptr.Deref(pods[i].Spec.Priority, 0) > ptr.Deref(victim.Spec.Priority, 0) {
			found = append(found, &pods[i])
		}
	}
	if len(found) == 0 {
		return nil
	}
	there := func(pod *corev1.Pod) int { return boolOrder(pod.Status.NominatedNodeName == victim.Spec.NodeName) }
	return slices.MaxFunc(found, func(a, b *corev1.Pod) int {
		return cmp.Or(there(a)-there(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
}

// preemptionOf reads what a job says of its last preemption, nil when there was none.
func preemptionOf(job *unstructured.Unstructured) *Preemption {
	text := job.GetAnnotations()[annotationPreemption]
	if text == "" {
		return nil
	}
	var p Preemption
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil // another wrote it
	}
	return &p
}
