package engine

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/launcher/capacity/survey"
	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	// keepNodes is how long the nodes of the cluster are remembered, and warnTimeout how long a new run waits for them.
	keepNodes   = 10 * time.Second
	warnTimeout = time.Second
	// refuseTimeout bounds what it takes to end a step that can never run.
	refuseTimeout = 30 * time.Second
	// maxShortages is how many steps of a run are warned of.
	maxShortages = 10
)

// reasonNeverFits is that of pods which the server ended because no node can hold them.
const reasonNeverFits = "NeverFits"

// tooBig finds the steps that the cluster, or their queue, can never hold. They are not compared with nodes where the cluster adds some.
// Checked tells that nothing was left out.
func (e *Engine) tooBig(ctx context.Context, namespace string, demands []stepDemand) (found []run.Shortage, checked bool) {
	checked = !e.scalesUp
	bounded, cancel := context.WithTimeout(ctx, warnTimeout)
	defer cancel()
	for _, d := range demands {
		short, err := never(bounded, e.recent, namespace, d.Demand, e.scalesUp)
		if err != nil {
			e.log.Debug("whether a step fits into the cluster is not checked", "step", d.step, "error", err)
			checked = false
		}
		if short == nil {
			continue
		}
		s := run.Shortage{Step: d.step, Asks: short.Asks, Has: short.Has, Change: short.Change, Parameters: short.Parameters}
		if !slices.ContainsFunc(found, func(known run.Shortage) bool { return known.String() == s.String() }) {
			found = append(found, s)
		}
		if len(found) == maxShortages {
			break
		}
	}
	return found, checked
}

// never compares a demand with the limit of its queue, and with the nodes unless the cluster adds some: these do not raise the limit. What
// may not be read of the one does not keep it from the other.
func never(ctx context.Context, s *survey.Survey, namespace string, d capacity.Demand, scalesUp bool) (*capacity.Shortage, error) {
	queue, err := s.Queue(ctx, d.Queue)
	short := queue.Short(d)
	if short != nil || scalesUp {
		return short, err
	}
	short, unread := s.Short(ctx, namespace, d)
	return short, errors.Join(err, unread)
}

// nameParameters writes on templates which of the pipeline's parameters set the resources of their pods, for those who tell people
// what to lower. Where the steps of a template differ in that nothing is written.
func nameParameters(wf *wfv1.Workflow, demands []stepDemand) {
	byTemplate := map[string]map[corev1.ResourceName]string{}
	for _, d := range demands {
		if have, ok := byTemplate[d.template]; ok && !maps.Equal(have, d.Parameters) {
			d.Parameters = nil
		}
		byTemplate[d.template] = d.Parameters
	}
	for i := range wf.Spec.Templates {
		t := &wf.Spec.Templates[i]
		if parameters := byTemplate[t.Name]; len(parameters) > 0 {
			if text, err := json.Marshal(parameters); err == nil {
				setIn(&t.Metadata.Annotations, job.AnnotationParameters, string(text))
			}
		}
	}
}

// tellScalesUp writes on a Workflow's pods whether the cluster adds nodes, for the launchers in them and for refuse.
func (e *Engine) tellScalesUp(wf *wfv1.Workflow) {
	if wf.Spec.PodMetadata == nil {
		wf.Spec.PodMetadata = &wfv1.Metadata{}
	}
	delete(wf.Spec.PodMetadata.Annotations, job.AnnotationScalesUp)
	if e.scalesUp {
		setIn(&wf.Spec.PodMetadata.Annotations, job.AnnotationScalesUp, "true")
	}
}

// isUnschedulable tells pods of steps that the scheduler has found no node for.
func isUnschedulable(pod *corev1.Pod) bool {
	return pod.Annotations[common.AnnotationKeyNodeID] != "" && pod.Status.Phase == corev1.PodPending && pod.DeletionTimestamp == nil &&
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		})
}

// refuse ends the pod of a step that the cluster, or its queue, can never hold. It judges by nodes and queues as they were just before, since
// most pods merely wait for their turn, and again by what they are.
func (e *Engine) refuse(ctx context.Context, pod *corev1.Pod) {
	ctx, cancel := context.WithTimeout(ctx, refuseTimeout)
	defer cancel()
	scalesUp := pod.Annotations[job.AnnotationScalesUp] == "true"
	d := capacity.Demand{
		Groups: []capacity.Group{{Replicas: 1, Pod: pod.Spec}}, Parameters: job.ParametersOf(pod), Queue: job.QueueOf(pod.Spec.SchedulerName, pod.Annotations),
	}
	short, err := never(ctx, e.recent, pod.Namespace, d, scalesUp)
	if short != nil {
		short, err = never(ctx, e.survey, pod.Namespace, d, scalesUp)
	}
	if short != nil {
		err = e.fail(ctx, pod, short.Error())
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		e.log.Warn("a step that waits for room is not checked: it may wait for ever", "pod", pod.Name, "error", err)
	}
}

// fail ends a pod that was never placed: Argo takes its message for the step's.
func (e *Engine) fail(ctx context.Context, pod *corev1.Pod, message string) error {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	// Argo reads from its executor's container when the step ended. The user's has no end: it never began.
	of := max(slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == common.WaitContainerName }), 0)
	ended := corev1.ContainerStatus{Name: pod.Spec.Containers[of].Name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: reasonNeverFits, StartedAt: now, FinishedAt: now},
	}}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion},
		"status": corev1.PodStatus{
			Phase: corev1.PodFailed, Reason: reasonNeverFits, Message: message, StartTime: &now, ContainerStatuses: []corev1.ContainerStatus{ended},
		},
	})
	if err != nil {
		return err
	}
	_, err = e.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // it has changed, and comes again if it still waits
		return nil
	}
	return err
}
