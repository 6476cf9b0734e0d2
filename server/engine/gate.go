package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	informers "k8s.io/client-go/tools/cache"

	"github.com/argosy-ml/argosy/server/cache"
)

// gate holds the pod of a step back from every scheduler until the server knows whether the step must run; labelAsks
// finds such pods. With the gate in the template no webhook is needed, and no pod runs that need not.
const (
	gate      = "argosy.dev/cache"
	labelAsks = "argosy.dev/asks-cache"
)

// addGate has the pods of a template wait, by the patch that Argo applies to their specification. A patch of the manifest's
// own that cannot be added to stays as it is, and the step runs.
func addGate(t *wfv1.Template) {
	patch := map[string]any{}
	if t.PodSpecPatch != "" {
		reader := json.NewDecoder(strings.NewReader(t.PodSpecPatch))
		reader.UseNumber()
		if reader.Decode(&patch) != nil || reader.More() {
			return
		}
	}
	gates, _ := patch["schedulingGates"].([]any)
	patch["schedulingGates"] = append(gates, map[string]any{"name": gate})
	var text bytes.Buffer
	writer := json.NewEncoder(&text)
	writer.SetEscapeHTML(false) // Argo's expressions stay as they are
	if writer.Encode(patch) != nil {
		return
	}
	t.PodSpecPatch = strings.TrimSpace(text.String())
	setIn(&t.Metadata.Labels, labelAsks, "true")
}

func isExitPod(pod *corev1.Pod) bool {
	return strings.Contains(pod.Annotations[common.AnnotationKeyNodeName], ".onExit")
}

func waitsAtGate(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodPending &&
		slices.Contains(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
}

// Waiting calls back for each step that waits to hear whether it must run, until ctx ends.
func (e *Engine) Waiting(ctx context.Context, waits func(cache.Step)) error {
	client := e.kube.CoreV1().Pods(e.namespace)
	look := func(o any) {
		if pod, ok := o.(*corev1.Pod); ok && waitsAtGate(pod) {
			waits(e.stepOf(pod))
		}
	}
	_, controller := informers.NewInformerWithOptions(informers.InformerOptions{
		ObjectType: &corev1.Pod{},
		ListerWatcher: &informers.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.LabelSelector = labelAsks
				return client.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector = labelAsks
				return client.Watch(ctx, o)
			},
		},
		Handler: informers.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, o any) { look(o) }},
	})
	controller.RunWithContext(ctx)
	return nil
}

func (e *Engine) stepOf(pod *corev1.Pod) cache.Step {
	key, err := keyOf(pod)
	if err != nil {
		e.log.Warn("a step runs that might not have to", "pod", pod.Name, "error", err)
	}
	return cache.Step{
		RunID: pod.Labels[labelRunID], NodeID: pod.Annotations[common.AnnotationKeyNodeID], Namespace: pod.Namespace, Pod: pod.Name,
		Key: key, Staleness: pod.Annotations[annotationStaleness],
	}
}

// Proceed lets a step run that waits; one that is gone, or waits no more, needs nothing.
func (e *Engine) Proceed(ctx context.Context, s cache.Step) error {
	patch := map[string]any{
		"metadata": map[string]any{
			"labels":      map[string]any{labelAsks: nil},
			"annotations": map[string]any{annotationExecution: s.Key},
		},
		"spec": map[string]any{"schedulingGates": []any{map[string]any{"$patch": "delete", "name": gate}}},
	}
	return e.patchPod(ctx, s, patch)
}

// Reuse ends a step that waits as one that succeeded with the outputs of an entry. Nothing of its pod ever runs.
func (e *Engine) Reuse(ctx context.Context, s cache.Step, entry cache.Entry) error {
	pod, err := e.kube.CoreV1().Pods(s.Namespace).Get(ctx, s.Pod, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && !waitsAtGate(pod) {
		return nil
	}
	if err != nil {
		return explain(fmt.Sprintf("read pod %s/%s", s.Namespace, s.Pod), err)
	}
	if err := e.report(ctx, pod, entry.Outputs); err != nil {
		return explain(fmt.Sprintf("report the outputs of pod %s/%s", s.Namespace, s.Pod), err)
	}
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	var states []map[string]any
	for _, c := range pod.Spec.Containers {
		states = append(states, map[string]any{
			"name": c.Name, "image": c.Image, "imageID": "", "ready": false, "restartCount": 0,
			"state": corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Cached", StartedAt: now, FinishedAt: now}},
		})
	}
	return e.patchPod(ctx, s, map[string]any{
		"metadata": map[string]any{
			"labels":      map[string]any{labelReused: "true", labelAsks: nil},
			"annotations": map[string]any{annotationExecution: s.Key},
		},
		"status": map[string]any{
			"phase": corev1.PodSucceeded, "reason": "Cached", "startTime": now, "containerStatuses": states,
			"message": fmt.Sprintf("its outputs are those of step %s of run %s", entry.NodeID, entry.RunID),
		},
	}, "status")
}

func (e *Engine) patchPod(ctx context.Context, s cache.Step, patch map[string]any, subresources ...string) error {
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = e.kube.CoreV1().Pods(s.Namespace).
		Patch(ctx, s.Pod, types.StrategicMergePatchType, text, metav1.PatchOptions{}, subresources...)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return explain(fmt.Sprintf("change pod %s/%s", s.Namespace, s.Pod), err)
}

// report tells Argo what a step left, as its executor would from within the pod.
func (e *Engine) report(ctx context.Context, pod *corev1.Pod, outputs []byte) error {
	result := &wfv1.WorkflowTaskResult{
		TypeMeta: metav1.TypeMeta{APIVersion: workflowAPI, Kind: "WorkflowTaskResult"},
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Annotations[common.AnnotationKeyNodeID], OwnerReferences: pod.OwnerReferences,
			Labels: map[string]string{
				common.LabelKeyWorkflow: pod.Labels[common.LabelKeyWorkflow], common.LabelKeyReportOutputsCompleted: "true",
			},
		},
		NodeResult: wfv1.NodeResult{Outputs: &wfv1.Outputs{}},
	}
	if instance := pod.Labels[common.LabelKeyControllerInstanceID]; instance != "" {
		result.Labels[common.LabelKeyControllerInstanceID] = instance
	}
	if err := json.Unmarshal(outputs, result.Outputs); err != nil {
		return err
	}
	client := e.argo.ArgoprojV1alpha1().WorkflowTaskResults(pod.Namespace)
	_, err := client.Create(ctx, result, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, result.Name, types.MergePatchType, text, metav1.PatchOptions{})
	return err
}

// Key gives the key and the family of a step that has run, by its pod; none when its outputs are not to be kept, or the pod
// is gone.
func (e *Engine) Key(ctx context.Context, namespace, name string) (key, family string, err error) {
	pod, err := e.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", "", nil
	}
	if err != nil {
		return "", "", explain(fmt.Sprintf("read pod %s/%s", namespace, name), err)
	}
	if pod.Labels[labelReused] != "" {
		return "", "", nil
	}
	key, err = keyOf(pod)
	return key, pod.Annotations[annotationFamily], err
}
