package engine

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/fault"
)

// mainContainer is the container of a step's pod that runs what the user asked for.
const mainContainer = "main"

// pollPod is how often a pod is asked whether its container has started.
const pollPod = 250 * time.Millisecond

// Log streams the log of a pod's main container; with follow it waits for it to start and goes on until it ends.
func (e *Engine) Log(ctx context.Context, namespace, pod string, follow bool) (io.ReadCloser, error) {
	doing := fmt.Sprintf("read the log of pod %s/%s", namespace, pod)
	for {
		p, err := e.kube.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return nil, explain(doing, err)
		}
		started, why := mainStarted(p)
		if started {
			break
		}
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if ended || !follow {
			return nil, fault.New(fault.Conflict, "the step's container has not started: %s", why)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollPod):
		}
	}
	o := &corev1.PodLogOptions{Container: mainContainer, Follow: follow}
	stream, err := e.kube.CoreV1().Pods(namespace).GetLogs(pod, o).Stream(ctx)
	if err != nil {
		return nil, explain(doing, err)
	}
	return &quiet{ReadCloser: stream}, nil
}

// mainStarted tells whether the main container has ever run, and if not, what it waits for.
func mainStarted(p *corev1.Pod) (started bool, why string) {
	why = "pod " + string(p.Status.Phase)
	for _, c := range p.Status.Conditions {
		if c.Status == corev1.ConditionFalse && c.Type == corev1.PodScheduled {
			why = fmt.Sprintf("%s: %s", c.Reason, c.Message)
		}
	}
	if p.Status.Message != "" {
		why = p.Status.Message
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name != mainContainer {
			continue
		}
		if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
			return true, ""
		}
		if w := c.State.Waiting; w != nil && w.Reason != "" {
			why = w.Reason
			if w.Message != "" {
				why += ": " + w.Message
			}
		}
	}
	return false, why
}
