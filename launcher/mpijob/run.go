package mpijob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	kubeflowclient "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/typed/kubeflow/v2beta1"
)

const (
	// statusEvery is the least time between two lines about what is waited for.
	statusEvery = 3 * time.Second
	// statusAgain is when an unchanged one is repeated, to show that there is life.
	statusAgain = time.Minute
	// logGrace is how long the rest of a log is waited for once the job has ended.
	logGrace = 30 * time.Second
	// stopGrace is how long deleting the job may take when the launcher is stopped:
	// less than the 30 s after which a pod is killed.
	stopGrace = 25 * time.Second
	// unnoticed is when a job that no operator takes up gets a hint.
	unnoticed = 15 * time.Second
)

// ErrStopped is the cause to cancel Run's context with when the step is stopped:
// the job is deleted then.
var ErrStopped = errors.New("stopped")

// FailedError is a job that failed, or could not be run.
type FailedError struct {
	// Code is the exit code of the user's command, 1 when it has none.
	Code int
	// Cause says in a line what went wrong.
	Cause string

	lines []string // what a container printed that failed before the job ran
}

func (e *FailedError) Error() string { return e.Cause }

// Launcher runs one job.
type Launcher struct {
	Jobs   kubeflowclient.MPIJobInterface
	Pods   corev1client.PodInterface
	Events corev1client.EventInterface
	Spec   *Spec
	ID     Identity
	Paths  Paths

	out    *console
	logged []string // the launcher pods whose logs were read; the reader's, until it is closed
}

// New makes a launcher that talks to the cluster of config and writes to out.
func New(config *rest.Config, spec *Spec, id Identity, out io.Writer) (*Launcher, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for pods: %w", err)
	}
	jobs, err := kubeflowclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for MPIJobs: %w", err)
	}
	return &Launcher{
		Jobs: jobs.MPIJobs(id.Namespace), Pods: core.Pods(id.Namespace), Events: core.Events(id.Namespace),
		Spec: spec, ID: id, Paths: DefaultPaths(), out: &console{w: out},
	}, nil
}

// Run creates the job or goes on with it, and returns when it has ended: nil when
// it succeeded, a *FailedError when it failed. When ctx ends the job is deleted
// and ctx's cause returned. pod is the launcher's own pod, empty outside a cluster.
func (l *Launcher) Run(ctx context.Context, pod string) error {
	if pod != "" {
		own, err := l.ownPod(ctx, pod)
		if err != nil {
			return err
		}
		l.ID.Pod = own
	}
	job, err := l.ensure(ctx)
	if ctx.Err() != nil {
		return l.stop(ctx)
	}
	if err != nil {
		return l.finish(&FailedError{Code: 1, Cause: err.Error()}, nil)
	}
	if err := writeFile(l.Paths.JobName, job.Name); err != nil {
		return err
	}
	return l.follow(ctx, job)
}

// stop deletes the job and returns why.
func (l *Launcher) stop(ctx context.Context) error {
	l.out.say("stopped: deleting the MPIJob")
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	return errors.Join(context.Cause(ctx), l.removeOwn(clean))
}

// follow goes with the job to its end.
func (l *Launcher) follow(ctx context.Context, job *kubeflow.MPIJob) error {
	// When the step is stopped the log is still read: what the ranks say last is worth having.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	v := l.newView(job.Name)
	broken := make(chan error, 1)
	wg.Go(func() {
		if err := v.run(watching); err != nil {
			broken <- err
		}
	})
	logs := l.newAttempts(watching)
	failed, err := l.await(ctx, v, broken, logs, job)
	if err != nil {
		if ctx.Err() != nil {
			err = l.stop(ctx)
		}
		logs.close(time.Second)
		return err
	}
	logs.close(logGrace)
	l.sayRanks(logs)
	if ended := v.state().job; failed == nil && ended != nil {
		l.out.say("MPIJob %s succeeded after %s", ended.Name, took(ended))
	}
	return l.finish(failed, logs)
}

// await returns when the job has ended: with what it failed of, or nil when it succeeded.
func (l *Launcher) await(ctx context.Context, v *view, broken <-chan error, logs *attempts, job *kubeflow.MPIJob) (*FailedError, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	// The first seconds need no word: that is how long it takes when all is well.
	status := waiting{l: l, since: job.CreationTimestamp.Time, said: time.Now().Add(-statusEvery / 2)}
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case err := <-broken:
			return nil, err
		case err := <-v.denied:
			return nil, fmt.Errorf("may not watch the job: the launcher's service account needs get, list and watch of pods and mpijobs.kubeflow.org: %w", err)
		case <-v.changed:
		case <-tick.C:
		}
		if !v.ready() {
			continue
		}
		s := v.state()
		logs.offer(s.launcher)
		if failed, ended := l.ended(ctx, s, job, logs); ended {
			return failed, nil
		}
		if failed := l.givenUp(ctx, s, &status); failed != nil {
			failed.Cause = fmt.Sprintf("MPIJob %s failed: %s", job.Name, failed.Cause)
			if err := l.remove(ctx, s.job); err != nil {
				l.out.say("%v", err)
			}
			return failed, nil
		}
	}
}

// ended tells whether the job is over, and what it failed of.
func (l *Launcher) ended(ctx context.Context, s state, job *kubeflow.MPIJob, logs *attempts) (*FailedError, bool) {
	switch {
	case s.job == nil || s.job.UID != job.UID:
		return &FailedError{Code: 1, Cause: fmt.Sprintf("MPIJob %s was deleted by someone else", job.Name)}, true
	case has(s.job, kubeflow.JobSucceeded):
		l.lastPods(ctx, &s)
		logs.offer(s.launcher)
		return nil, true
	case has(s.job, kubeflow.JobFailed):
		l.lastPods(ctx, &s)
		logs.offer(s.launcher)
		return l.failedJob(ctx, s), true
	}
	return nil, false
}

func took(job *kubeflow.MPIJob) time.Duration {
	if job.Status.CompletionTime == nil {
		return time.Since(job.CreationTimestamp.Time).Round(time.Second)
	}
	return job.Status.CompletionTime.Sub(job.CreationTimestamp.Time)
}

// lastPods looks once more at the pods: the watch may lag behind the job's.
func (l *Launcher) lastPods(ctx context.Context, s *state) {
	pods, err := l.Pods.List(ctx, metav1.ListOptions{LabelSelector: podSelector(s.job.Name)})
	if err != nil {
		return // what the watch saw must do
	}
	now := state{job: s.job}
	for i := range pods.Items {
		now.add(&pods.Items[i])
	}
	now.sort()
	*s = now
}

// failedJob finds out what a failed job failed of.
func (l *Launcher) failedJob(ctx context.Context, s state) *FailedError {
	name := s.job.Name
	if n := len(s.launcher); n > 0 {
		pod := s.launcher[n-1]
		if t := containerState(pod, containerLauncher).Terminated; t != nil && t.ExitCode != 0 {
			return &FailedError{Code: int(t.ExitCode), Cause: fmt.Sprintf("MPIJob %s failed: command %s", name, ending(t))}
		}
		if c, _ := failedContainer(pod); c != "" {
			cause, lines := l.failure(ctx, pod)
			return &FailedError{Code: 1, Cause: fmt.Sprintf("MPIJob %s failed: %s", name, cause), lines: lines}
		}
	}
	c := condition(s.job, kubeflow.JobFailed)
	return &FailedError{Code: 1, Cause: fmt.Sprintf("MPIJob %s failed%s", name, because(c.Reason, c.Message))}
}

// overdue tells whether the job has taken longer than it may.
func (l *Launcher) overdue(job *kubeflow.MPIJob) string {
	running := condition(job, kubeflow.JobRunning)
	switch {
	case running == nil && l.Spec.PendingTimeout > 0 && time.Since(job.CreationTimestamp.Time) > l.Spec.PendingTimeout:
		return fmt.Sprintf("it did not start within the pending timeout of %s", l.Spec.PendingTimeout)
	case running != nil && l.Spec.RunningTimeout > 0 && time.Since(running.LastTransitionTime.Time) > l.Spec.RunningTimeout:
		return fmt.Sprintf("it did not end within the running timeout of %s", l.Spec.RunningTimeout)
	}
	return ""
}

// givenUp finds what makes waiting pointless.
func (l *Launcher) givenUp(ctx context.Context, s state, status *waiting) *FailedError {
	cause := l.overdue(s.job)
	if waits := status.text(s); cause != "" && waits != "" {
		cause += ", " + waits
	}
	// A worker that failed before the job ran will not be started again, and the job's
	// launcher would wait for it for hours.
	if pod := failedWorker(s.workers); cause == "" && pod != nil && condition(s.job, kubeflow.JobRunning) == nil {
		cause, lines := l.failure(ctx, pod)
		return &FailedError{Code: 1, Cause: cause, lines: lines}
	}
	if cause == "" {
		cause = status.report(ctx, s)
	}
	if cause == "" {
		return nil
	}
	return &FailedError{Code: 1, Cause: cause}
}

// finish writes the outputs and the termination message.
func (l *Launcher) finish(failed *FailedError, logs *attempts) error {
	var errs []error
	var lines []string
	if logs != nil {
		lines = logs.tail.last()
		if len(l.logged) > 0 {
			errs = append(errs, writeMetrics(l.Paths.Metrics, logs.scanner.Metrics(), l.out.say))
		}
		if ranks, _ := logs.worldSize(); ranks > 0 {
			errs = append(errs, writeFile(l.Paths.WorldSize, strconv.Itoa(ranks)))
		}
	}
	if failed == nil {
		return errors.Join(errs...)
	}
	if failed.lines != nil {
		lines = failed.lines
	}
	l.out.say("%s", failed.Cause)
	errs = append(errs, writeTermination(l.Paths.Termination, terminationMessage(failed.Cause, lines)))
	if more := errors.Join(errs...); more != nil {
		return errors.Join(failed, more)
	}
	return failed
}

// waiting tells people what the job waits for, not too often.
type waiting struct {
	l     *Launcher
	since time.Time
	last  string
	said  time.Time
	deaf  bool // events may not be read
	asked time.Time
	event string
}

// report prints what is new; it returns a cause when there is nothing to wait for.
func (w *waiting) report(ctx context.Context, s state) string {
	text := describe(s, w.l.Spec.Workers)
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
	text := describe(s, w.l.Spec.Workers)
	if text == "" {
		return ""
	}
	if len(s.job.Status.Conditions) == 0 && time.Since(w.since) > unnoticed {
		text += "; is mpi-operator installed and running?"
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
	objects := []types.UID{s.job.UID}
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
			if e.Reason == "ValidationError" && uid == s.job.UID {
				return "the MPI operator refuses it" + because("", e.Message)
			}
			w.event = summary(e.Reason, e.Message)
		}
	}
	return ""
}
