package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/launcher/pending"
	"github.com/argosy-ml/argosy/server/logs"
)

var _ logs.Cluster = (*Engine)(nil)

// What the launcher writes on the pods of a distributed job, beside the run's label: the node that they work for, and
// their role.
const (
	annotationNode = "argosy.dev/node"
	annotationRole = "argosy.dev/role"
)

// ranks are where operators write the number of a pod within its role.
var ranks = []string{
	"training.kubeflow.org/replica-index", "volcano.sh/task-index", "batch.kubernetes.io/job-completion-index",
}

// WatchPods implements logs.Cluster. It lives through restarts of the API server.
func (e *Engine) WatchPods(ctx context.Context, seen func(logs.Pod), synced func()) error {
	client := e.kube.CoreV1().Pods(e.namespace)
	var refusing sync.WaitGroup
	defer refusing.Wait()
	look := func(pod *corev1.Pod) {
		seen(podOf(pod))
		if isUnschedulable(pod) {
			refusing.Go(func() { e.refuse(ctx, pod) })
		}
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ObjectType: &corev1.Pod{},
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.LabelSelector = labelRunID
				return client.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector = labelRunID
				return client.Watch(ctx, o)
			},
		},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { look(o.(*corev1.Pod)) },
			UpdateFunc: func(_, o any) { look(o.(*corev1.Pod)) },
			DeleteFunc: func(o any) {
				if late, ok := o.(cache.DeletedFinalStateUnknown); ok { // it went while the watch was down
					o = late.Obj
				}
				if pod, ok := o.(*corev1.Pod); ok {
					p := podOf(pod)
					p.Gone = true
					seen(p)
				}
			},
		},
		Transform: func(o any) (any, error) {
			if pod, ok := o.(*corev1.Pod); ok {
				o = slim(pod)
			}
			return o, nil
		},
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if cache.WaitForCacheSync(ctx.Done(), controller.HasSynced) {
			synced()
		}
	}()
	controller.RunWithContext(ctx)
	<-done
	return nil
}

// slim leaves of a pod what podOf and refuse look at: the cache holds as many as there are.
func slim(pod *corev1.Pod) *corev1.Pod {
	s := &corev1.Pod{TypeMeta: pod.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		Labels: pod.Labels, Annotations: map[string]string{}, CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
	}, Status: pod.Status}
	if isUnschedulable(pod) {
		s.Spec = *placement(&pod.Spec)
		s.Spec.SchedulerName = pod.Spec.SchedulerName
	} else {
		for _, c := range pod.Spec.Containers {
			s.Spec.Containers = append(s.Spec.Containers, corev1.Container{Name: c.Name, Resources: corev1.ResourceRequirements{Requests: c.Resources.Requests}})
		}
	}
	s.Spec.SchedulingGates = pod.Spec.SchedulingGates
	for _, name := range slices.Concat([]string{
		common.AnnotationKeyNodeID, annotationNode, annotationRole, job.AnnotationScalesUp, job.AnnotationParameters, job.AnnotationQueue, pending.Annotation,
	}, ranks) {
		if v, ok := pod.Annotations[name]; ok {
			s.Annotations[name] = v
		}
	}
	return s
}

// FindPod implements logs.Cluster.
func (e *Engine) FindPod(ctx context.Context, namespace, name string) (logs.Pod, error) {
	pod, err := e.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return logs.Pod{}, explain(fmt.Sprintf("read the log of pod %s/%s", namespace, name), err)
	}
	return podOf(pod), nil
}

// ReadLog implements logs.Cluster.
func (e *Engine) ReadLog(ctx context.Context, r logs.ReadRequest) (io.ReadCloser, error) {
	o := &corev1.PodLogOptions{Container: r.Container, Previous: r.Previous, Follow: r.Follow, Timestamps: true}
	if !r.Since.IsZero() {
		o.SinceTime = &metav1.Time{Time: r.Since}
	}
	body, err := e.kube.CoreV1().Pods(r.Namespace).GetLogs(r.Pod, o).Stream(ctx)
	if err != nil {
		return nil, explain(fmt.Sprintf("read the log of pod %s/%s", r.Namespace, r.Pod), err)
	}
	return body, nil
}

func podOf(pod *corev1.Pod) logs.Pod {
	p := logs.Pod{
		RunID: pod.Labels[labelRunID], NodeID: pod.Annotations[common.AnnotationKeyNodeID],
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID),
		Ended: pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, Deleting: pod.DeletionTimestamp != nil,
		Created: pod.CreationTimestamp.Time,
	}
	p.Waiting, p.Stated = pending.Of(pod, common.MainContainerName)
	step := p.NodeID != ""
	if !step {
		p.NodeID, p.Role = pod.Annotations[annotationNode], cmp.Or(pod.Annotations[annotationRole], "job")
		p.Rank = rankOf(pod)
	}
	if p.NodeID == "" { // of a workflow engine or launcher that writes no such thing: the pod is its own node
		p.NodeID, p.Role, step = pod.Name, "", true
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		p.Containers = append(p.Containers, containerOf(s, step))
	}
	return p
}

// rankOf is the number of a job's pod within its role.
func rankOf(pod *corev1.Pod) int64 {
	for _, name := range ranks {
		if n, err := strconv.ParseInt(cmp.Or(pod.Labels[name], pod.Annotations[name]), 10, 64); err == nil {
			return n
		}
	}
	return 0
}

// containerOf reads the state of a container. One that waits to be started again is what it was before.
func containerOf(s corev1.ContainerStatus, step bool) logs.Container {
	c := logs.Container{Name: s.Name, Restarts: int64(s.RestartCount)}
	c.Executor = step && (s.Name == common.InitContainerName || s.Name == common.WaitContainerName)
	if step && !c.Executor {
		c.Noise = isExecutorLine
	}
	ended := s.State.Terminated
	if s.State.Waiting != nil && s.LastTerminationState.Terminated != nil {
		ended = s.LastTerminationState.Terminated
	}
	switch {
	case s.State.Running != nil:
		c.Begun, c.Started = true, s.State.Running.StartedAt.Time
	case ended != nil:
		c.Begun, c.Ended, c.Failed = true, true, ended.ExitCode != 0
		c.Started = ended.StartedAt.Time
		if c.Started.IsZero() { // not known any more
			c.Started = ended.FinishedAt.Time
		}
	}
	return c
}
