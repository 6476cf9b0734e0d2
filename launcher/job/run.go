package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1client "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/launcher/capacity/survey"
	"github.com/argosy-ml/argosy/sdk/train"
)

const (
	// logGrace is how long the rest of a log is waited for once the job has ended.
	logGrace = 30 * time.Second
	// stopGrace is how long deleting the job may take when the launcher is stopped:
	// less than the 30 s after which a pod is killed.
	stopGrace = 25 * time.Second
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

	lines []string      // of the rank that failed first, or of a container that failed before the job ran
	pod   string        // whose last lines tell more
	over  bool          // the job itself failed, and may be tried again
	job   string        // what failed
	pods  []*corev1.Pod // as they ended, if the job ran

	victim *corev1.Pod // that was preempted; the job is to start again
}

func (e *FailedError) Error() string { return e.Cause }

// culprit is the pod whose last lines tell more, empty when none does.
func (e *FailedError) culprit() string {
	if e == nil {
		return ""
	}
	return e.pod
}

// Launcher runs one job.
type Launcher struct {
	Jobs     dynamic.ResourceInterface
	Pods     corev1client.PodInterface
	Services corev1client.ServiceInterface
	Events   corev1client.EventInterface
	// Survey tells what the cluster can never hold; nil checks nothing.
	Survey *survey.Survey
	// Exec runs a command in a container of a pod and gives its output; nil where that is not possible.
	Exec  func(ctx context.Context, pod, container string, command []string) (string, error)
	Spec  *Spec
	ID    Identity
	Paths Paths

	out     *console
	attempt int // of the job that runs, from 1
	notice  *publisher

	preemption *Preemption // the last one of this start; nil when there was none
}

// New makes a launcher that talks to the cluster of config and writes to out.
func New(config *rest.Config, spec *Spec, id Identity, out io.Writer) (*Launcher, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for pods: %w", err)
	}
	storage, err := storagev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for storage classes: %w", err)
	}
	jobs, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for jobs: %w", err)
	}
	queues := schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}
	return &Launcher{
		Jobs: jobs.Resource(spec.Kind.GVR()).Namespace(id.Namespace),
		Pods: core.Pods(id.Namespace), Services: core.Services(id.Namespace), Events: core.Events(id.Namespace),
		Survey: &survey.Survey{Core: core, Storage: storage, Queues: jobs.Resource(queues)}, Exec: execIn(config, core, id.Namespace),
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
	l.notice = l.newPublisher(l.ID.Pod)
	l.notice.say(ctx, fmt.Sprintf("its %s is starting", l.Spec.Kind.Title))
	job, err := l.ensure(ctx)
	for {
		if ctx.Err() != nil {
			return l.stop(ctx)
		}
		if err != nil {
			return l.finish(&FailedError{Code: 1, Cause: err.Error()}, nil)
		}
		l.attempt = attempt(job)
		if err := writeFile(l.Paths.JobName, job.GetName()); err != nil {
			return err
		}
		var failed *FailedError
		err = l.follow(ctx, job)
		if errors.As(err, &failed) && failed.victim != nil {
			job, err = l.requeue(ctx, job, failed.victim)
			continue
		}
		if !errors.As(err, &failed) || !failed.over || l.attempt > l.Spec.Retries || l.Spec.Kind.oneByOne || l.Spec.RestartPolicy == string(train.RestartOnFailure) {
			return err
		}
		l.out.say("starting it again: attempt %d of %d", l.attempt+1, l.Spec.Retries+1)
		job, err = l.again(ctx, job)
	}
}

// stop deletes the job and returns why.
func (l *Launcher) stop(ctx context.Context) error {
	l.out.say("stopped: deleting the %s", l.Spec.Kind.Title)
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	return errors.Join(context.Cause(ctx), l.removeOwn(clean))
}

// follow goes with the job to its end.
func (l *Launcher) follow(ctx context.Context, job *unstructured.Unstructured) error {
	// When the step is stopped the log is still read: what the ranks say last is worth having.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	v := l.newView(job.GetName())
	broken := make(chan error, 1)
	wg.Go(func() {
		if err := v.run(watching); err != nil {
			broken <- err
		}
	})
	logs := l.newReader(watching)
	wg.Go(func() { l.showTensorBoard(watching, job) })
	failed, err := l.await(ctx, v, broken, logs, job)
	if err != nil {
		if ctx.Err() != nil {
			err = l.stop(ctx)
		}
		logs.close(time.Second)
		return err
	}
	logs.close(logGrace)
	if failed != nil && failed.victim != nil {
		return failed
	}
	if cause := logs.proof.fault(time.Now(), true); failed == nil && cause != "" {
		failed = &FailedError{Code: 1, Cause: fmt.Sprintf("%s %s ran with fewer ranks than asked for: %s", l.Spec.Kind.Title, job.GetName(), cause)}
	}
	l.explain(failed, logs)
	l.sayWorldSize(logs)
	s := v.state()
	if failed == nil && s.job != nil {
		l.out.say("%s %s succeeded after %s", l.Spec.Kind.Title, s.job.GetName(), took(s))
	}
	l.clean(ctx, job)
	if err := writeEnvironment(l.Paths.Environment, l.environmentFacts(ctx, logs.on, logs.world)); err != nil {
		l.out.say("%v", err)
	}
	return l.finish(failed, logs)
}

// clean has the operator delete all pods, now that what they printed was read.
func (l *Launcher) clean(ctx context.Context, job *unstructured.Unstructured) {
	if !l.Spec.Kind.cleans || l.Spec.CleanPodPolicy != string(train.CleanAll) {
		return
	}
	patch := []byte(`{"spec":{"runPolicy":{"cleanPodPolicy":"All"}}}`)
	if _, err := l.Jobs.Patch(ctx, job.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		l.out.say("the job's pods stay: %v", err)
	}
}

// await returns when the job has ended: with what it failed of, or nil when it succeeded.
func (l *Launcher) await(ctx context.Context, v *view, broken <-chan error, logs *reader, job *unstructured.Unstructured) (*FailedError, error) {
	kind := l.Spec.Kind
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	// The first seconds need no word: that is how long it takes when all is well.
	status := waiting{l: l, since: job.GetCreationTimestamp().Time, said: time.Now().Add(-statusEvery / 2), log: map[string]time.Time{}}
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case err := <-broken:
			return nil, err
		case err := <-v.denied:
			return nil, fmt.Errorf("may not watch the job: the launcher's service account needs get, list and watch of pods and %s: %w", kind.group(), err)
		case <-v.changed:
		case <-tick.C:
		}
		if !v.ready() {
			continue
		}
		s := v.state()
		logs.offer(s.speakers())
		logs.on.saw(l.Spec, s.pods)
		status.saw(s)
		if failed, ended := l.ended(ctx, s, job, logs); ended {
			return failed, nil
		}
		failed := l.givenUp(ctx, s, &status)
		if cause := logs.proof.fault(time.Now(), false); failed == nil && cause != "" {
			failed = &FailedError{Code: 1, Cause: cause}
		}
		if failed == nil {
			failed = l.silent(ctx, s, status.runs, logs.log(), time.Now())
		}
		if failed != nil {
			failed.Cause = fmt.Sprintf("%s %s failed: %s", kind.Title, job.GetName(), failed.Cause)
			if err := l.remove(ctx, s.job); err != nil {
				l.out.say("%v", err)
			}
			return failed, nil
		}
	}
}

// ended tells whether the job is over, and what it failed of.
func (l *Launcher) ended(ctx context.Context, s state, job *unstructured.Unstructured, logs *reader) (*FailedError, bool) {
	switch {
	case s.job == nil || s.job.GetUID() != job.GetUID():
		return &FailedError{Code: 1, Cause: fmt.Sprintf("%s %s was deleted by someone else", l.Spec.Kind.Title, job.GetName())}, true
	case s.victim != nil && !s.status.succeeded:
		return l.yield(ctx, s), true
	case !s.status.over():
		return nil, false
	}
	l.lastPods(ctx, &s)
	if s.victim = victimOf(s.pods); s.victim != nil && s.status.failed {
		return l.yield(ctx, s), true
	}
	logs.on.saw(l.Spec, s.pods)
	logs.offer(s.speakers())
	logs.leave(s.speakers())
	if s.status.succeeded {
		return nil, true
	}
	return l.failedJob(ctx, s), true
}

func took(s state) time.Duration {
	began := s.job.GetCreationTimestamp().Time
	if s.status.ended.IsZero() {
		return time.Since(began).Round(time.Second)
	}
	return s.status.ended.Sub(began)
}

// lastPods looks once more at the pods: the watch may lag behind the job's.
func (l *Launcher) lastPods(ctx context.Context, s *state) {
	pods, err := l.Pods.List(ctx, metav1.ListOptions{LabelSelector: s.kind.podLabels(s.job.GetName()).String()})
	if err != nil {
		return // what the watch saw must do
	}
	s.pods = nil
	for i := range pods.Items {
		s.pods = append(s.pods, &pods.Items[i])
	}
	s.sort()
}

// finish writes the outputs and the termination message.
func (l *Launcher) finish(failed *FailedError, logs *reader) error {
	var errs []error
	var lines []string
	if logs != nil {
		lines = logs.tail.last()
		if own := logs.tails[failed.culprit()]; own != nil {
			lines = own.last()
		}
		if len(logs.read) > 0 {
			errs = append(errs, writeMetrics(l.Paths.Metrics, logs.scanner.Metrics(), l.out.say))
		}
		if ranks, _ := logs.worldSize(); ranks > 0 {
			errs = append(errs, writeFile(l.Paths.WorldSize, strconv.Itoa(ranks)))
		}
	}
	if failed == nil {
		errs = append(errs, writeTermination(l.Paths.Termination, "")) // what an earlier attempt left there
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
