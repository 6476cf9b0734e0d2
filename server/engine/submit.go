package engine

import (
	"context"
	"encoding/json"
	"fmt"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/run"
)

// Submit creates a prepared Workflow; one that is there already for the same run is success.
func (e *Engine) Submit(ctx context.Context, workflow []byte) error {
	wf := &wfv1.Workflow{}
	if err := json.Unmarshal(workflow, wf); err != nil {
		return fault.New(fault.Internal, "the prepared workflow cannot be read").Because(err)
	}
	client := e.argo.ArgoprojV1alpha1().Workflows(wf.Namespace)
	doing := fmt.Sprintf("create workflow %s/%s", wf.Namespace, wf.Name)
	wf.ResourceVersion, wf.UID = "", "" // those of the Workflow that a retry goes on with
	_, err := client.Create(ctx, wf, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		there, getErr := client.Get(ctx, wf.Name, metav1.GetOptions{})
		if getErr != nil {
			return explain(doing, getErr)
		}
		switch {
		case there.Labels[labelRunID] != wf.Labels[labelRunID]:
			return explain(doing, err)
		case attemptOf(there) < attemptOf(wf):
			return e.resubmit(ctx, there, wf)
		}
		return nil
	case apierrors.IsNotFound(err): // the namespace or Argo itself: trying again would not help
		return fault.New(fault.Invalid, "%s: %s; are Argo Workflows and the namespace installed?", doing, reason(err)).Because(err)
	}
	return explain(doing, err)
}

// Terminate stops a Workflow at once, exit handlers included; one that has ended is left as it is.
func (e *Engine) Terminate(ctx context.Context, namespace, workflow string) error {
	return e.patch(ctx, namespace, workflow, fmt.Sprintf(`{"spec":{"shutdown":%q}}`, wfv1.ShutdownStrategyTerminate))
}

// MarkPersisted labels a Workflow as fully recorded (KFP v1); one that is gone needs no label.
func (e *Engine) MarkPersisted(ctx context.Context, namespace, workflow string) error {
	err := e.patch(ctx, namespace, workflow, fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, labelPersisted))
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

func (e *Engine) patch(ctx context.Context, namespace, workflow, patch string) error {
	_, err := e.argo.ArgoprojV1alpha1().Workflows(namespace).
		Patch(ctx, workflow, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return explain(fmt.Sprintf("change workflow %s/%s", namespace, workflow), err)
}

// DeleteWorkflow removes a Workflow and, through its ownership, its pods and jobs.
func (e *Engine) DeleteWorkflow(ctx context.Context, namespace, workflow string) error {
	background := metav1.DeletePropagationBackground
	err := e.argo.ArgoprojV1alpha1().Workflows(namespace).
		Delete(ctx, workflow, metav1.DeleteOptions{PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return explain(fmt.Sprintf("delete workflow %s/%s", namespace, workflow), err)
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
