package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// annotationDeadline keeps the deadline that a Workflow had before it was stopped, for a retry.
const annotationDeadline = "argosy.dev/deadline"

// Terminate stops a Workflow: its steps end at once, then its exit handler runs, as with KFP. The exit handler is skipped when the Workflow
// has not begun (it waits for a lock or for other Workflows) and when it was deleted. A Workflow that has ended stays as it is.
func (e *Engine) Terminate(ctx context.Context, namespace, workflow string) error {
	client := e.argo.ArgoprojV1alpha1().Workflows(namespace)
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // it may begin between the look and the patch
		wf, err := client.Get(ctx, workflow, metav1.GetOptions{})
		if err != nil {
			return err
		}
		patch, err := json.Marshal(stopOf(wf))
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, workflow, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	return explain(fmt.Sprintf("stop workflow %s/%s", namespace, workflow), err)
}

// stopOf is what stops a Workflow. Of the two fields either alone is not enough: the deadline, which KFP sets, does not reach a
// Workflow whose spec lies in a WorkflowTemplate, and Argo's shutdown does not end a step that waits for a lock.
//
// A Workflow without exit handlers is terminated: nothing is to run after that.
func stopOf(wf *wfv1.Workflow) map[string]any {
	if !hasExitHandler(wf) {
		return map[string]any{"spec": map[string]any{"shutdown": wfv1.ShutdownStrategyTerminate}}
	}
	how, meta := wfv1.ShutdownStrategyStop, map[string]any{}
	if wf.Status.Phase == wfv1.WorkflowPending || wf.DeletionTimestamp != nil {
		how, meta["resourceVersion"] = wfv1.ShutdownStrategyTerminate, wf.ResourceVersion
	}
	if d := wf.Spec.ActiveDeadlineSeconds; d != nil && wf.Spec.Shutdown == "" {
		meta["annotations"] = map[string]string{annotationDeadline: strconv.FormatInt(*d, 10)}
	}
	return map[string]any{"metadata": meta, "spec": map[string]any{"shutdown": how, "activeDeadlineSeconds": 0}}
}

// hasExitHandler says whether something may run when the Workflow ends. What lies in a WorkflowTemplate is known once it runs.
func hasExitHandler(wf *wfv1.Workflow) bool {
	specs := []*wfv1.WorkflowSpec{&wf.Spec}
	if stored := wf.Status.StoredWorkflowSpec; stored != nil {
		specs = append(specs, stored)
	}
	return wf.Spec.WorkflowTemplateRef != nil || slices.ContainsFunc(specs, func(s *wfv1.WorkflowSpec) bool { return s.OnExit != "" || len(s.Hooks) > 0 })
}

// stopping reports whether a Workflow was stopped and Argo acts on it: a Pending one reacts only to Terminate.
func stopping(wf *wfv1.Workflow) bool {
	return wf.Spec.Shutdown != "" && (wf.Status.Phase != wfv1.WorkflowPending || wf.Spec.Shutdown == wfv1.ShutdownStrategyTerminate)
}

// unstop takes back what stopOf did.
func unstop(wf *wfv1.Workflow) {
	if wf.Spec.Shutdown == "" {
		return
	}
	var deadline *int64
	if d, err := strconv.ParseInt(wf.Annotations[annotationDeadline], 10, 64); err == nil {
		deadline = &d
	}
	delete(wf.Annotations, annotationDeadline)
	wf.Spec.Shutdown, wf.Spec.ActiveDeadlineSeconds = "", deadline
	if stored := wf.Status.StoredWorkflowSpec; stored != nil {
		stored.Shutdown, stored.ActiveDeadlineSeconds = "", deadline
	}
}
