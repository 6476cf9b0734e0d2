package quick

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/controller"
)

// reportPatience is how long the end of a step waits for the step's report. It is on its way: the pod reported before it ended.
const reportPatience = 5 * time.Second

// reportsFirst is a client that keeps the success of a step from Argo's controller until the controller has the step's report.
// The two come over two watches, and for a step whose standard output is its result the controller takes none for nothing put out: a
// step of a few milliseconds would lose its result when the watch of reports lags by as much. Argo's own executor takes long enough to
// make that rare.
type reportsFirst struct {
	kubernetes.Interface
	complete func(namespace, node string) bool
}

func (c reportsFirst) CoreV1() typedcorev1.CoreV1Interface {
	return coreReportsFirst{c.Interface.CoreV1(), c.complete}
}

type coreReportsFirst struct {
	typedcorev1.CoreV1Interface
	complete func(namespace, node string) bool
}

func (c coreReportsFirst) Pods(namespace string) typedcorev1.PodInterface {
	return podsReportsFirst{c.CoreV1Interface.Pods(namespace), c.complete}
}

type podsReportsFirst struct {
	typedcorev1.PodInterface
	complete func(namespace, node string) bool
}

func (p podsReportsFirst) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := p.PodInterface.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		if pod, ok := e.Object.(*corev1.Pod); ok && e.Type == watch.Modified && owesReport(pod) {
			// Without its report the step has lost it, as it would have without the wait.
			_ = wait.PollUntilContextTimeout(ctx, time.Millisecond, reportPatience, true, func(context.Context) (bool, error) {
				return p.complete(pod.Namespace, pod.Annotations[common.AnnotationKeyNodeID]), nil
			})
		}
		return e, true
	}), nil
}

// owesReport says whether a pod has ended just now and has put out a result.
func owesReport(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodSucceeded || p.DeletionTimestamp != nil || p.Labels[common.LabelKeyCompleted] == "true" {
		return false
	}
	for _, c := range p.Spec.Containers {
		for _, e := range c.Env {
			if c.Name == common.WaitContainerName && e.Name == common.EnvVarIncludeScriptOutput && e.Value == "true" {
				return true
			}
		}
	}
	return false
}

// completeReports says of a step whether the controller has its whole report, from the time on when it watches pods.
func completeReports(wfc func() *controller.WorkflowController) (func(namespace, node string) bool, error) {
	results, err := field[controller.WorkflowController, cache.SharedIndexInformer]("taskResultInformer")
	if err != nil {
		return nil, err
	}
	return func(namespace, node string) bool {
		report, ok, err := (*results(wfc())).GetIndexer().GetByKey(namespace + "/" + node)
		if err != nil || !ok {
			return false
		}
		o, err := meta.Accessor(report)
		return err == nil && o.GetLabels()[common.LabelKeyReportOutputsCompleted] == "true"
	}, nil
}
