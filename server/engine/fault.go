package engine

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/argosy-ml/argosy/server/apierr"
)

// explain turns an error of the Kubernetes API into one that tells what the caller can do.
func explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsNotFound(err):
		return apierr.New(apierr.NotFound, "%s: %s", doing, reason(err)).Because(err)
	case apierrors.IsAlreadyExists(err), apierrors.IsConflict(err):
		return apierr.New(apierr.Conflict, "%s: %s", doing, reason(err)).Because(err)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err),
		apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err), apierrors.IsUnsupportedMediaType(err):
		return apierr.New(apierr.Invalid, "%s: the cluster refuses it: %s", doing, reason(err)).Because(err)
	}
	return apierr.New(apierr.Unavailable, "%s: the cluster does not answer: %s", doing, reason(err)).Because(err)
}

// reason is the message of an API status without its wrapping.
func reason(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}
