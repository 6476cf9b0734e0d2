package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
)

// ensure creates the job, or finds the one that an earlier start of this
// launcher created. Faults that may pass are tried again until ctx ends.
func (l *Launcher) ensure(ctx context.Context) (*unstructured.Unstructured, error) {
	want, err := l.build(l.noted())
	if err != nil {
		return nil, err
	}
	if err := l.fits(ctx, want); err != nil {
		return nil, err
	}
	if err := l.checkImages(ctx, want.GetName()); err != nil {
		return nil, err
	}
	return backoff.Retry(ctx, func() (*unstructured.Unstructured, error) {
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
var errGone = errors.New("a job of the same name went away just now")

// leftoverError is about a job of our name that is to go before a new one can come.
type leftoverError struct{ job *unstructured.Unstructured }

func (e *leftoverError) Error() string {
	return fmt.Sprintf("an earlier job %s has to go first", e.job.GetName())
}

func (l *Launcher) createOrAttach(ctx context.Context, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind := l.Spec.Kind
	job, err := l.Jobs.Create(ctx, want, metav1.CreateOptions{})
	switch {
	case err == nil:
		l.out.say("created %s %s in %s: %s", kind.Title, job.GetName(), job.GetNamespace(), l.Spec.size())
		return job, nil
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("this cluster has no %s of version %s, or no namespace %s: install %s: %w",
			kind.Title, kind.version, want.GetNamespace(), kind.operator, err)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("may not create the %s: the launcher's service account needs create, get, list, watch, patch and delete of %s: %w", kind.Title, kind.group(), err)
	case !apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("create %s %s: %w", kind.Title, want.GetName(), err)
	}
	job, err = l.Jobs.Get(ctx, want.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, errGone
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s %s, which exists: %w", kind.Title, want.GetName(), err)
	}
	switch {
	case job.GetLabels()[labelNode] != want.GetLabels()[labelNode]:
		return nil, fmt.Errorf("%s %s that does not belong to this step exists already (its label %s is %q): delete it or rename the step",
			kind.Article(), job.GetName(), labelNode, job.GetLabels()[labelNode])
	case job.GetDeletionTimestamp() != nil:
		return nil, &leftoverError{job}
	case kind.read(job).failed && job.GetAnnotations()[annotationLauncher] != want.GetAnnotations()[annotationLauncher]:
		// Another pod of this step has reported that failure already: the step is being retried.
		l.out.say("%s %s of an earlier attempt failed: replacing it", kind.Title, job.GetName())
		return nil, &leftoverError{job}
	}
	l.out.say("going on with %s %s, created %s", kind.Title, job.GetName(), job.GetCreationTimestamp().UTC().Format(time.RFC3339))
	return job, nil
}

// attempt counts the jobs made for this step's pod, from 1.
func attempt(job *unstructured.Unstructured) int {
	return max(indexOf(job.GetAnnotations()[annotationAttempt]), 1)
}

// again replaces a job that failed by a new one. The count is with the job and, for while there is none, with the
// launcher's pod, so that a launcher that starts again tries no more often.
func (l *Launcher) again(ctx context.Context, old *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	l.attempt = attempt(old) + 1
	l.note(ctx, l.attempt)
	if err := l.remove(ctx, old); err != nil {
		return nil, err
	}
	return l.replace(ctx, old, l.attempt)
}

// replace creates the job of an attempt again, once the old one is gone.
func (l *Launcher) replace(ctx context.Context, old *unstructured.Unstructured, attempt int) (*unstructured.Unstructured, error) {
	if l.preemption == nil {
		l.preemption = preemptionOf(old)
	}
	want, err := l.build(attempt)
	if err != nil {
		return nil, err
	}
	return backoff.Retry(ctx, func() (*unstructured.Unstructured, error) {
		job, err := l.createOrAttach(ctx, want)
		if err != nil && !transient(err) {
			return nil, backoff.Permanent(err)
		}
		return job, err
	}, retryForever(l.out.say)...)
}

// build makes the job of an attempt.
func (l *Launcher) build(attempt int) (*unstructured.Unstructured, error) {
	want, err := Build(l.Spec, l.ID)
	if err != nil {
		return nil, err
	}
	annotations := want.GetAnnotations()
	if attempt > 1 {
		annotations[annotationAttempt] = strconv.Itoa(attempt)
	}
	if l.preemption != nil {
		text, err := json.Marshal(l.preemption)
		if err != nil {
			return nil, fmt.Errorf("write the annotation %s: %w", annotationPreemption, err)
		}
		annotations[annotationPreemption] = string(text)
	}
	want.SetAnnotations(annotations)
	return want, nil
}

// note writes on the launcher's own pod which attempt it begins.
func (l *Launcher) note(ctx context.Context, attempt int) {
	if l.ID.Pod == nil {
		return
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, annotationAttempt, attempt)
	if _, err := l.Pods.Patch(ctx, l.ID.Pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		l.out.say("attempts are counted anew if the launcher is started again just now: its service account needs patch of pods: %v", err)
	}
}

// noted is the attempt that a launcher in this pod began last, 1 when there was none.
func (l *Launcher) noted() int {
	if l.ID.Pod == nil {
		return 1
	}
	return max(indexOf(l.ID.Pod.Annotations[annotationAttempt]), 1)
}

// remove deletes a job and waits until it and its pods are gone. It asks again as long as the server does not know
// of it: a request can be lost.
func (l *Launcher) remove(ctx context.Context, job *unstructured.Unstructured) error {
	name, uid := job.GetName(), job.GetUID()
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		have, err := l.Jobs.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && have.GetUID() != uid {
			return true, nil
		}
		if err == nil && have.GetDeletionTimestamp() == nil {
			err = l.Jobs.Delete(ctx, name, metav1.DeleteOptions{
				PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
				Preconditions:     &metav1.Preconditions{UID: &uid},
			})
		}
		if err != nil && !apierrors.IsNotFound(err) && !transient(err) && ctx.Err() == nil {
			return false, fmt.Errorf("delete %s %s: %w", l.Spec.Kind.Title, name, err)
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s %s is being deleted but not gone yet: %w", l.Spec.Kind.Title, name, context.Cause(ctx))
	}
	return err
}

// removeOwn deletes the job of this step, known or not: its creation may have
// been under way when the launcher was stopped.
func (l *Launcher) removeOwn(ctx context.Context) error {
	name := l.Spec.name(l.ID)
	job, err := backoff.Retry(ctx, func() (*unstructured.Unstructured, error) {
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
		return fmt.Errorf("look for %s %s to delete it: %w", l.Spec.Kind.Title, name, err)
	case job.GetLabels()[labelNode] != l.ID.hash():
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
		if apierrors.IsNotFound(err) {
			return false // of a kind the cluster does not have, which looks like an unexpected answer too
		}
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

// size says in words what was asked for.
func (s *Spec) size() string {
	text := ""
	for i, r := range s.Roles {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", r.Replicas, plural(r.Replicas, r.Name))
		if r.Trains && (s.Slots > 1 || s.Kind == &mpiJob) {
			text += fmt.Sprintf(" with %d %s each", s.Slots, plural(s.Slots, "slot"))
		}
		if r.GPUs > 0 {
			and := " with"
			if strings.Contains(text, "slot") {
				and = " and"
			}
			text += fmt.Sprintf("%s %d %s each", and, r.GPUs, plural(r.GPUs, "GPU"))
		}
	}
	return text
}

// plural makes words of roles plural too; "ps" stays.
func plural(n int, word string) string {
	if n == 1 || word == "ps" {
		return word
	}
	return word + "s"
}
