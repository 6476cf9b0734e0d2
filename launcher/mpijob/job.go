package mpijob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/cenkalti/backoff/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
)

// ensure creates the job, or finds the one that an earlier start of this
// launcher created. Faults that may pass are tried again until ctx ends.
func (l *Launcher) ensure(ctx context.Context) (*kubeflow.MPIJob, error) {
	want := Build(l.Spec, l.ID)
	return backoff.Retry(ctx, func() (*kubeflow.MPIJob, error) {
		job, err := l.createOrAttach(ctx, want)
		var old *leftoverError
		switch {
		case err == nil:
			return job, nil
		case errors.As(err, &old):
			if err := l.remove(ctx, old.job); err != nil {
				return nil, err
			}
			return nil, backoff.RetryAfter(0)
		case transient(err):
			return nil, err
		}
		return nil, backoff.Permanent(err)
	}, retryForever(l.out.say)...)
}

// errGone passes: the name is free again.
var errGone = errors.New("an MPIJob of the same name went away just now")

// leftoverError is about a job of our name that is to go before a new one can come.
type leftoverError struct{ job *kubeflow.MPIJob }

func (e *leftoverError) Error() string {
	return fmt.Sprintf("an earlier MPIJob %s has to go first", e.job.Name)
}

func (l *Launcher) createOrAttach(ctx context.Context, want *kubeflow.MPIJob) (*kubeflow.MPIJob, error) {
	job, err := l.Jobs.Create(ctx, want, metav1.CreateOptions{})
	switch {
	case err == nil:
		l.out.say("created MPIJob %s in %s: %s", job.Name, job.Namespace, l.Spec.size())
		return job, nil
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("this cluster has no MPIJob of version %s, or no namespace %s: install mpi-operator 0.3 or newer: %w",
			kubeflow.SchemeGroupVersion, want.Namespace, err)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("may not create the MPIJob: the launcher's service account needs create, get, list, watch and delete of mpijobs.kubeflow.org: %w", err)
	case !apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("create MPIJob %s: %w", want.Name, err)
	}
	job, err = l.Jobs.Get(ctx, want.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, errGone
	}
	if err != nil {
		return nil, fmt.Errorf("look at MPIJob %s, which exists: %w", want.Name, err)
	}
	switch {
	case job.Labels[labelNode] != want.Labels[labelNode]:
		return nil, fmt.Errorf("an MPIJob %s that does not belong to this step exists already (its label %s is %q): delete it or rename the step",
			job.Name, labelNode, job.Labels[labelNode])
	case job.DeletionTimestamp != nil:
		return nil, &leftoverError{job}
	case has(job, kubeflow.JobFailed) && job.Annotations[annotationLauncher] != want.Annotations[annotationLauncher]:
		// Another pod of this step has reported that failure already: the step is being retried.
		l.out.say("MPIJob %s of an earlier attempt failed: replacing it", job.Name)
		return nil, &leftoverError{job}
	}
	l.out.say("going on with MPIJob %s, created %s", job.Name, job.CreationTimestamp.UTC().Format(time.RFC3339))
	return job, nil
}

// remove deletes a job and waits until it and its pods are gone.
func (l *Launcher) remove(ctx context.Context, job *kubeflow.MPIJob) error {
	err := l.Jobs.Delete(ctx, job.Name, metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
		Preconditions:     &metav1.Preconditions{UID: &job.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete MPIJob %s: %w", job.Name, err)
	}
	for {
		have, err := l.Jobs.Get(ctx, job.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && have.UID != job.UID {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("MPIJob %s is being deleted but not gone yet: %w", job.Name, context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// removeOwn deletes the job of this step, known or not: its creation may have
// been under way when the launcher was stopped.
func (l *Launcher) removeOwn(ctx context.Context) error {
	name := Name(l.ID, l.Spec.Step, l.Spec.Workers)
	job, err := backoff.Retry(ctx, func() (*kubeflow.MPIJob, error) {
		job, err := l.Jobs.Get(ctx, name, metav1.GetOptions{})
		if err != nil && !transient(err) {
			return nil, backoff.Permanent(err)
		}
		return job, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(500*time.Millisecond)))
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("look for MPIJob %s to delete it: %w", name, err)
	case job.Labels[labelNode] != l.ID.hash():
		return nil
	}
	return l.remove(ctx, job)
}

// ownPod finds the pod that the launcher runs in, whose owner is the workflow.
func (l *Launcher) ownPod(ctx context.Context, name string) (*corev1.Pod, error) {
	return backoff.Retry(ctx, func() (*corev1.Pod, error) {
		pod, err := l.Pods.Get(ctx, name, metav1.GetOptions{})
		if err == nil || transient(err) {
			return pod, err
		}
		return nil, backoff.Permanent(fmt.Errorf("look at the launcher's own pod %s, whose workflow is to own the job: %w", name, err))
	}, retryForever(l.out.say)...)
}

// transient tells faults of the connection and the server, which pass, from
// answers, which stay.
func transient(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
			apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsUnexpectedServerError(err) || apierrors.IsConflict(err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var connection net.Error // every failed request is a *url.Error, which is one
	return errors.As(err, &connection) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errGone)
}

func retryForever(say func(string, ...any)) []backoff.RetryOption {
	b := backoff.NewExponentialBackOff()
	b.MaxInterval = 10 * time.Second
	return []backoff.RetryOption{
		backoff.WithBackOff(b), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, wait time.Duration) {
			var after *backoff.RetryAfterError
			if !errors.As(err, &after) {
				say("%v; trying again in %s", err, wait.Round(100*time.Millisecond))
			}
		}),
	}
}

// has tells whether a condition of the job is true.
func has(job *kubeflow.MPIJob, t kubeflow.JobConditionType) bool {
	c := condition(job, t)
	return c != nil && c.Status == corev1.ConditionTrue
}

func condition(job *kubeflow.MPIJob, t kubeflow.JobConditionType) *kubeflow.JobCondition {
	for i := range job.Status.Conditions {
		if job.Status.Conditions[i].Type == t {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

// size says in words what was asked for.
func (s *Spec) size() string {
	text := fmt.Sprintf("%d %s with %d %s each", s.Workers, plural(s.Workers, "worker"), s.Slots, plural(s.Slots, "slot"))
	if s.GPUs > 0 {
		text += fmt.Sprintf(" and %d %s each", s.GPUs, plural(s.GPUs, "GPU"))
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
