// Package retry repeats calls to the apiserver.
package retry

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// forbiddenFor is how long a refusal is tried again: an apiserver that has just started does not know all rights yet.
const forbiddenFor = time.Minute

// retry calls f until it succeeds, fails with an answer that will not change, or the context ends.
func Do(ctx context.Context, f func() error) error {
	began := time.Now()
	for delay := 50 * time.Millisecond; ; delay = min(2*delay, 2*time.Second) {
		err := f()
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsConflict(err) ||
			apierrors.IsAlreadyExists(err) || apierrors.IsBadRequest(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return err
		}
		if apierrors.IsForbidden(err) && time.Since(began) > forbiddenFor {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(delay):
		}
	}
}
