package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// statusEvery is the least time between two lines about what is waited for.
	statusEvery = 3 * time.Second
	// statusAgain is when an unchanged one is repeated, to show that there is life.
	statusAgain = time.Minute
	// unnoticed is when a job that no operator takes up gets a hint.
	unnoticed = 15 * time.Second
)

// waiting tells people what the job waits for, not too often, and knows since when it runs.
type waiting struct {
	l     *Launcher
	since time.Time
	runs  time.Time // zero while it does not
	last  string
	said  time.Time
	deaf  bool // events may not be read
	asked time.Time
	event string
}

// saw notes since when the job runs: as it says itself where all its pods must run for that, or since the last of
// its pods began.
func (w *waiting) saw(s state) {
	if !w.runs.IsZero() {
		return
	}
	if s.kind.waits != nil { // the job's word is better than ours
		w.runs = s.status.running
		return
	}
	began := map[string]time.Time{}
	for _, pod := range s.pods {
		role, index := s.kind.place(pod)
		if at := beganAt(pod, s.kind.container); !at.IsZero() {
			began[fmt.Sprint(role, index)] = at
		}
	}
	if len(began) < w.l.Spec.pods() {
		return
	}
	for _, at := range began {
		if at.After(w.runs) {
			w.runs = at
		}
	}
}

// beganAt is when a container started first; zero while it has not.
func beganAt(pod *corev1.Pod, container string) time.Time {
	switch c := containerState(pod, container); {
	case c.Running != nil:
		return c.Running.StartedAt.Time
	case c.Terminated != nil:
		return c.Terminated.StartedAt.Time
	}
	return time.Time{}
}

// overdue tells whether the job has taken longer than it may.
func (w *waiting) overdue() string {
	spec := w.l.Spec
	switch {
	case w.runs.IsZero() && spec.PendingTimeout > 0 && time.Since(w.since) > spec.PendingTimeout:
		return fmt.Sprintf("it did not start within the pending timeout of %s", spec.PendingTimeout)
	case !w.runs.IsZero() && spec.RunningTimeout > 0 && time.Since(w.runs) > spec.RunningTimeout:
		return fmt.Sprintf("it did not end within the running timeout of %s", spec.RunningTimeout)
	}
	return ""
}

// givenUp finds what makes waiting pointless.
func (l *Launcher) givenUp(ctx context.Context, s state, w *waiting) *FailedError {
	cause := w.overdue()
	if waits := w.text(s); cause != "" && waits != "" {
		cause += ", " + waits
	}
	// A worker that failed before the job ran will not be started again, and the job's
	// launcher would wait for it for hours.
	if pod := failedPod(s.pods); s.kind.patient && cause == "" && pod != nil && s.status.running.IsZero() {
		if role, _ := s.kind.place(pod); role != s.kind.speaks {
			cause, lines := l.failure(ctx, pod)
			return &FailedError{Code: 1, Cause: cause, lines: lines}
		}
	}
	if cause == "" {
		cause = w.report(ctx, s)
	}
	if cause == "" {
		return nil
	}
	return &FailedError{Code: 1, Cause: cause}
}

// report prints what is new; it returns a cause when there is nothing to wait for.
func (w *waiting) report(ctx context.Context, s state) string {
	text := describe(s, w.l.Spec)
	if text == "" {
		if w.last != "" {
			w.l.out.say("the job runs, %s after its creation", time.Since(w.since).Round(100*time.Millisecond))
			w.last = ""
		}
		return ""
	}
	if cause := w.warnings(ctx, s); cause != "" {
		return cause
	}
	text = w.text(s)
	age := time.Since(w.said)
	switch {
	case text != w.last && age > statusEvery:
		w.l.out.say("%s", text)
	case text == w.last && age > statusAgain:
		w.l.out.say("still %s (for %s)", text, time.Since(w.since).Round(time.Second))
	default:
		return ""
	}
	w.last, w.said = text, time.Now()
	return ""
}

// text is what the job waits for, with the last that was heard about it.
func (w *waiting) text(s state) string {
	text := describe(s, w.l.Spec)
	if text == "" {
		return ""
	}
	if !s.status.seen && time.Since(w.since) > unnoticed {
		text += fmt.Sprintf("; is %s installed and running?", s.kind.operator)
	}
	if w.event != "" {
		text += "; last warning: " + w.event
	}
	return text
}

// warnings looks at the events of the job, where alone the operator says that it
// refuses a job or may not create its pods, and of the first pod that does not start.
func (w *waiting) warnings(ctx context.Context, s state) string {
	if w.deaf || time.Since(w.asked) < statusEvery || time.Since(w.since) < time.Second {
		return ""
	}
	w.asked = time.Now()
	objects := []types.UID{s.job.GetUID()}
	if pod := stuck(s); pod != nil {
		objects = append(objects, pod.UID)
	}
	for _, uid := range objects {
		events, err := w.l.Events.List(ctx, metav1.ListOptions{FieldSelector: fields.Set{
			"involvedObject.uid": string(uid), "type": corev1.EventTypeWarning,
		}.String()})
		if err != nil {
			w.deaf = apierrors.IsForbidden(err) || apierrors.IsNotFound(err)
			return ""
		}
		for _, e := range events.Items {
			if e.Reason == "ValidationError" && uid == s.job.GetUID() {
				return s.kind.operator + " refuses it" + because("", e.Message)
			}
			w.event = summary(e.Reason, e.Message)
		}
	}
	if gang := w.gang(ctx, s); gang != "" {
		w.event = gang
	}
	return ""
}

// gang is why the gang scheduler has no place for the job: it says so of the job's PodGroup, while there are no pods yet.
func (w *waiting) gang(ctx context.Context, s state) string {
	events, err := w.l.Events.List(ctx, metav1.ListOptions{FieldSelector: fields.Set{
		"involvedObject.kind": "PodGroup", "involvedObject.name": s.kind.podGroup(s.job), "reason": "Unschedulable",
	}.String()})
	if err != nil {
		return "" // as warnings found out
	}
	var why []string
	for _, e := range events.Items {
		if !slices.Contains(why, e.Message) {
			why = append(why, e.Message)
		}
	}
	return summary("", strings.Join(why, "; "))
}

// failedPod finds the first pod that failed.
func failedPod(pods []*corev1.Pod) *corev1.Pod {
	i := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if i < 0 {
		return nil
	}
	return pods[i]
}
