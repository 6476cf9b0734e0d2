package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// statusEvery is the least time between two sentences about what is waited for.
	statusEvery = 3 * time.Second
	// statusAgain is the time after which an unchanged status is logged again, as a sign of life.
	statusAgain = 10 * time.Minute
	// usersEvery is how often the launcher looks who has what the job needs.
	usersEvery = 15 * time.Second
	// unnoticed is when a job that no operator takes up gets a hint.
	unnoticed = 15 * time.Second
)

// waiting tells people what the job waits for, not too often, and knows since when it runs.
type waiting struct {
	l     *Launcher
	since time.Time
	runs  time.Time // zero while it does not
	last  string
	said  time.Time            // when it changed last
	log   map[string]time.Time // when each sentence was last printed
	deaf  bool                 // events may not be read
	asked time.Time
	event string   // the newest warning that the pods do not tell themselves
	gangs []string // what the gang scheduler says
	users string
	found time.Time // when users was found
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
	if len(began) < w.l.Spec.Pods() {
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

// report prints and publishes what is new; it returns a cause when there is nothing to wait for.
func (w *waiting) report(ctx context.Context, s state) string {
	if describe(s, w.l.Spec) == "" {
		if w.last != "" {
			w.l.out.say("the job runs, %s after its creation", time.Since(w.since).Round(100*time.Millisecond))
			w.last = ""
		}
		w.l.notice.say(ctx, "")
		return ""
	}
	if cause := w.warnings(ctx, s); cause != "" {
		return cause
	}
	text := w.text(s)
	if text != w.last && time.Since(w.said) > statusEvery {
		w.last, w.said = text, time.Now()
	}
	if w.last == "" {
		return ""
	}
	w.l.notice.say(ctx, w.last)
	switch before := w.log[w.last]; {
	case before.IsZero():
		w.l.out.say("%s", w.last)
	case time.Since(before) > statusAgain:
		w.l.out.say("still %s (for %s)", w.last, time.Since(w.since).Round(time.Second))
	default:
		return ""
	}
	w.log[w.last] = time.Now()
	return ""
}

// text is what the job waits for, in one sentence: room, if schedulers say so, or else what its pods say, or what the newest
// warning about it is.
func (w *waiting) text(s state) string {
	text := describe(s, w.l.Spec)
	if text == "" {
		return ""
	}
	if !s.status.seen && time.Since(w.since) > unnoticed {
		text += fmt.Sprintf("; is %s installed and running?", s.kind.operator)
	}
	if room := shortageOf(w.schedulers(s)); room != nil {
		if room.other == "" || len(room.names) > 0 {
			room.users = w.users
		}
		return room.text(w.l.Spec)
	}
	if w.event != "" {
		text += "; " + w.event
	}
	return text
}

// schedulers gives what they say of the job and its pods.
func (w *waiting) schedulers(s state) (said []string) {
	if !placed(s) {
		said = slices.Clone(w.gangs)
	}
	for _, p := range s.pods {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && p.Status.Phase == corev1.PodPending {
				said = append(said, c.Message)
			}
		}
	}
	return said
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
			if !slices.Contains(toldByPods, e.Reason) {
				w.event = summary(e.Reason, e.Message)
			}
		}
	}
	w.gangs = w.gang(ctx, s)
	if room := shortageOf(w.schedulers(s)); room != nil && time.Since(w.found) > usersEvery {
		w.users, w.found = w.l.users(ctx, s, room.scarce(w.l.Spec)), time.Now()
	}
	return ""
}

// toldByPods are reasons of events whose message the pod's own status has, too.
var toldByPods = []string{"FailedScheduling", "Failed", "BackOff"}

// gang is why the gang scheduler has no place for the job: it says so of the job's PodGroup, while there are no pods yet. Those
// pods that are there say it themselves.
func (w *waiting) gang(ctx context.Context, s state) (why []string) {
	if placed(s) {
		return nil
	}
	events, err := w.l.Events.List(ctx, metav1.ListOptions{FieldSelector: fields.Set{
		"involvedObject.kind": "PodGroup", "involvedObject.name": s.kind.podGroup(s.job), "reason": "Unschedulable",
	}.String()})
	if err != nil {
		return nil // as warnings found out
	}
	for _, e := range events.Items {
		why = append(why, e.Message)
	}
	return why
}

// placed tells whether some pod of the job has a node, and so all of a gang.
func placed(s state) bool {
	return slices.ContainsFunc(s.pods, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
}

// failedPod finds the first pod that failed.
func failedPod(pods []*corev1.Pod) *corev1.Pod {
	i := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if i < 0 {
		return nil
	}
	return pods[i]
}
