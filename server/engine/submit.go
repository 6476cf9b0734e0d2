package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// Submit creates a prepared Workflow; one that is there already for the same run is success.
func (e *Engine) Submit(ctx context.Context, workflow []byte) error {
	wf := &wfv1.Workflow{}
	if err := json.Unmarshal(workflow, wf); err != nil {
		return apierr.New(apierr.Internal, "the prepared workflow cannot be read").Because(err)
	}
	client := e.argo.ArgoprojV1alpha1().Workflows(wf.Namespace)
	doing := fmt.Sprintf("create workflow %s/%s", wf.Namespace, wf.Name)
	wf.ResourceVersion, wf.UID, wf.DeletionTimestamp = "", "", nil // those of the Workflow that a retry goes on with
	hold(wf)
	if wf.Annotations[common.AnnotationKeyPodNameVersion] == "" {
		// Argo records how it names pods when a workflow begins to run, but not for one that first waits for a lock.
		setIn(&wf.Annotations, common.AnnotationKeyPodNameVersion, podNamesV1)
	}
	e.tellScalesUp(wf)
	if attemptOf(wf) > 0 {
		if err := e.clearAway(ctx, wf); err != nil {
			return explain(doing, err)
		}
	}
	_, err := client.Create(ctx, wf, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		there, getErr := client.Get(ctx, wf.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(getErr) && attemptOf(wf) == 0: // created before, and deleted since: creating it again would run it twice
			return nil
		case apierrors.IsNotFound(getErr):
			return apierr.New(apierr.Unavailable, "%s: the one of the attempt before was deleted just now", doing).Because(getErr)
		case getErr != nil:
			return explain(doing, getErr)
		case there.Labels[labelRunID] != wf.Labels[labelRunID]:
			return explain(doing, err)
		case there.DeletionTimestamp != nil && attemptOf(there) < attemptOf(wf):
			return errors.Join(e.Release(ctx, wf.Namespace, wf.Name), apierr.New(apierr.Unavailable, "%s: the one of the attempt before is being deleted", doing))
		case attemptOf(there) < attemptOf(wf):
			return e.resubmit(ctx, there, wf)
		}
		return nil
	case apierrors.IsNotFound(err): // the namespace or Argo itself: trying again would not help
		return apierr.New(apierr.Invalid, "%s: %s; are Argo Workflows and the namespace installed?", doing, reason(err)).Because(err)
	}
	return explain(doing, err)
}

// DeleteWorkflow removes a Workflow, recorded or not, and, through its ownership, its pods and jobs.
func (e *Engine) DeleteWorkflow(ctx context.Context, namespace, workflow string) error {
	background := metav1.DeletePropagationBackground
	err := e.argo.ArgoprojV1alpha1().Workflows(namespace).
		Delete(ctx, workflow, metav1.DeleteOptions{PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return explain(fmt.Sprintf("delete workflow %s/%s", namespace, workflow), err)
	}
	return e.Release(ctx, namespace, workflow)
}

// Find reads one Workflow; one that is not there is Gone.
func (e *Engine) Find(ctx context.Context, namespace, workflow string) (run.Seen, error) {
	wf, err := e.argo.ArgoprojV1alpha1().Workflows(namespace).Get(ctx, workflow, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return run.Seen{Namespace: namespace, Workflow: workflow, Gone: true}, nil
	}
	if err != nil {
		return run.Seen{}, explain(fmt.Sprintf("read workflow %s/%s", namespace, workflow), err)
	}
	return seen(wf), nil
}
