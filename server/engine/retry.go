package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// annotationAttempt counts the retries of a Workflow's run.
const annotationAttempt = "argosy.dev/attempt"

// Argo's formats of the names of pods: the node's id, or the Workflow's name, the template's and a hash.
const (
	podNamesV1 = "v1"
	podNamesV2 = "v2"
)

// cleanupTime is how long Argo may take to label a pod that ended.
const cleanupTime = 10 * time.Second

// pollGone is how often a deleted pod is looked for until it is gone.
const pollGone = 50 * time.Millisecond

func attemptOf(wf *wfv1.Workflow) int64 {
	n, err := strconv.ParseInt(wf.Annotations[annotationAttempt], 10, 64)
	if err != nil { // none: never retried
		return 0
	}
	return n
}

// Again makes of an ended Workflow the one that goes on: what succeeded or was skipped stays, groups are open again, all
// else is forgotten, exit handlers included, and so run again by the controller. One that never began begins. With a step,
// that and all that comes after it is forgotten too, however it ended.
func (e *Engine) Again(workflow []byte, attempt int64, from run.From) (run.Again, error) {
	wf := &wfv1.Workflow{}
	if err := json.Unmarshal(workflow, wf); err != nil {
		return run.Again{}, apierr.New(apierr.Internal, "the recorded workflow cannot be read").Because(err)
	}
	before := slices.Clone(wf.Spec.Arguments.Parameters)
	if err := reassign(wf, from.Parameters); err != nil {
		return run.Again{}, err
	}
	rewound, err := rewind(wf, from.Step)
	if err != nil {
		return run.Again{}, err
	}
	kept := keptNodes(wf)
	var dropped []string
	for id, n := range wf.Status.Nodes {
		switch {
		case rewound[id] == forgotten:
			dropped = append(dropped, id)
		case rewound[id] == opened, !kept[id] && isOpenGroup(n) && !isExit(wf, n):
			n.Phase, n.Message = wfv1.NodeRunning, ""
			n.StartedAt, n.FinishedAt = metav1.Now(), metav1.Time{}
			wf.Status.Nodes[id] = n
		case !kept[id]:
			dropped = append(dropped, id)
		}
	}
	slices.Sort(dropped)
	forget(wf, dropped)
	warnings := keptWithOthers(wf, before, from.Parameters, attempt)
	reopen(wf, attempt)
	text, err := json.Marshal(wf)
	if err != nil {
		return run.Again{}, apierr.New(apierr.Internal, "the workflow cannot be written").Because(err)
	}
	return run.Again{Workflow: text, Dropped: dropped, Parameters: from.Parameters, Warnings: warnings}, nil
}

// keptNodes finds the nodes that stay as they are: those that succeeded or were skipped, and what lies in them, such as
// the failed attempts of a step that succeeded in the end.
func keptNodes(wf *wfv1.Workflow) map[string]bool {
	kept := map[string]bool{}
	for id, n := range wf.Status.Nodes {
		kept[id] = n.Phase == wfv1.NodeSucceeded || n.Phase == wfv1.NodeSkipped
	}
	own := maps.Clone(kept)
	for id, n := range wf.Status.Nodes {
		if own[id] && n.Type == wfv1.NodeTypeRetry {
			for _, child := range n.Children {
				kept[child] = true
			}
		}
		for boundary := n.BoundaryID; boundary != "" && !kept[id]; boundary = wf.Status.Nodes[boundary].BoundaryID {
			kept[id] = own[boundary]
		}
	}
	for id, n := range wf.Status.Nodes {
		if owner, _, hook := strings.Cut(n.Name, ".onExit"); hook && !own[wf.NodeID(owner)] {
			kept[id] = false // the exit handler of something that runs again
		}
	}
	return kept
}

// isExit tells the nodes of exit handlers.
func isExit(wf *wfv1.Workflow, n wfv1.NodeStatus) bool {
	return strings.Contains(strings.TrimPrefix(n.Name, wf.Name), ".onExit")
}

func isOpenGroup(n wfv1.NodeStatus) bool {
	switch n.Type {
	case wfv1.NodeTypeDAG, wfv1.NodeTypeSteps, wfv1.NodeTypeStepGroup, wfv1.NodeTypeTaskGroup:
		return n.Phase == wfv1.NodeFailed || n.Phase == wfv1.NodeError || n.Phase == wfv1.NodeRunning
	}
	return false
}

// forget removes nodes and every mention of them.
func forget(wf *wfv1.Workflow, ids []string) {
	gone := map[string]bool{}
	for _, id := range ids {
		gone[id] = true
		delete(wf.Status.Nodes, id)
		delete(wf.Status.TaskResultsCompletionStatus, id)
	}
	isGone := func(id string) bool { return gone[id] }
	for id, n := range wf.Status.Nodes {
		n.Children = slices.DeleteFunc(n.Children, isGone)
		n.OutboundNodes = slices.DeleteFunc(n.OutboundNodes, isGone)
		wf.Status.Nodes[id] = n
	}
}

// reopen takes back what marks a Workflow as ended.
func reopen(wf *wfv1.Workflow, attempt int64) {
	for _, label := range []string{common.LabelKeyCompleted, common.LabelKeyWorkflowArchivingStatus, common.LabelKeyPhase, labelPersisted} {
		delete(wf.Labels, label)
	}
	setIn(&wf.Annotations, annotationAttempt, strconv.FormatInt(attempt, 10))
	unstop(wf)
	if len(wf.Status.Nodes) == 0 {
		wf.Status = wfv1.WorkflowStatus{}
		return
	}
	// Argo cleans up after a pod by its name, up to half a minute after its end. The pods of this attempt have names in Argo's
	// other format, so that what it still means to do to the last ones does not befall them.
	format := podNamesV1
	if wf.Annotations[common.AnnotationKeyPodNameVersion] == podNamesV1 {
		format = podNamesV2
	}
	wf.Annotations[common.AnnotationKeyPodNameVersion] = format
	wf.Labels[common.LabelKeyPhase] = string(wfv1.NodeRunning)
	wf.Status.Phase, wf.Status.Message = wfv1.WorkflowRunning, ""
	wf.Status.StartedAt, wf.Status.FinishedAt = metav1.Now(), metav1.Time{} // a deadline counts from here
	wf.Status.Conditions.UpsertCondition(wfv1.Condition{Status: metav1.ConditionFalse, Type: wfv1.ConditionTypeCompleted})
	wf.Status.PersistentVolumeClaims = nil
}

// resubmit replaces the Workflow of an earlier attempt by wf. The pods of the steps that run again must be gone before the controller sees
// it, or it would take them for the new ones.
func (e *Engine) resubmit(ctx context.Context, there, wf *wfv1.Workflow) error {
	doing := fmt.Sprintf("retry workflow %s/%s", wf.Namespace, wf.Name)
	for id, n := range there.Status.Nodes {
		if _, stays := wf.Status.Nodes[id]; stays || n.Type != wfv1.NodeTypePod {
			continue
		}
		if err := e.deletePods(ctx, there, wf, n); err != nil {
			return explain(doing, err)
		}
		err := e.argo.ArgoprojV1alpha1().WorkflowTaskResults(wf.Namespace).Delete(ctx, id, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return explain(doing, err)
		}
	}
	wf.ResourceVersion, wf.UID = there.ResourceVersion, there.UID
	_, err := e.argo.ArgoprojV1alpha1().Workflows(wf.Namespace).Update(ctx, wf, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) { // it changed while the pods were deleted
		return apierr.New(apierr.Unavailable, "%s: %s", doing, reason(err)).Because(err)
	}
	return explain(doing, err)
}

// clearAway deletes what an attempt has left whose Workflow is gone: pods, and reports of steps. The cluster will collect them, but that
// takes a while, and Argo knows both by their step alone: it would take them for those of the new attempt.
func (e *Engine) clearAway(ctx context.Context, wf *wfv1.Workflow) error {
	_, err := e.argo.ArgoprojV1alpha1().Workflows(wf.Namespace).Get(ctx, wf.Name, metav1.GetOptions{})
	if err == nil { // resubmit does it
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	ofIt := metav1.ListOptions{LabelSelector: common.LabelKeyWorkflow + "=" + wf.Name}
	pods, err := e.kube.CoreV1().Pods(wf.Namespace).List(ctx, ofIt)
	if err != nil {
		return err
	}
	for _, p := range pods.Items {
		if err := e.deletePod(ctx, wf.Namespace, p.Name); err != nil {
			return err
		}
	}
	client := e.argo.ArgoprojV1alpha1().WorkflowTaskResults(wf.Namespace)
	reports, err := client.List(ctx, ofIt)
	if err != nil {
		return err
	}
	for _, r := range reports.Items {
		if err := client.Delete(ctx, r.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// awaitLabel waits until Argo has labelled a pod as completed: it would label the next one of its name instead, and then
// never look at it.
func (e *Engine) awaitLabel(ctx context.Context, namespace, name string) error {
	return wait.PollUntilContextCancel(ctx, pollGone, true, func(ctx context.Context) (bool, error) {
		pod, err := e.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && pod.Labels[common.LabelKeyCompleted] == "true", err
	})
}

// deletePods removes the pod of a step that runs again, under either name: that of a step which stayed in the attempt before
// has the form that the new one's will have.
func (e *Engine) deletePods(ctx context.Context, there, wf *wfv1.Workflow, n wfv1.NodeStatus) error {
	last, next := podName(there, n), podName(wf, n)
	if time.Since(n.FinishedAt.Time) < cleanupTime {
		if err := e.awaitLabel(ctx, wf.Namespace, next); err != nil {
			return err
		}
	}
	for _, name := range slices.Compact([]string{last, next}) {
		if err := e.deletePod(ctx, wf.Namespace, name); err != nil {
			return err
		}
	}
	return nil
}

// deletePod returns when the pod is gone.
func (e *Engine) deletePod(ctx context.Context, namespace, name string) error {
	pods := e.kube.CoreV1().Pods(namespace)
	return wait.PollUntilContextCancel(ctx, pollGone, true, func(ctx context.Context) (bool, error) {
		err := pods.Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}
