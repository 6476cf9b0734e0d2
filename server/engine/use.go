package engine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/server/cluster"
)

// podMetrics is where metrics-server tells what pods use.
var podMetrics = schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}

// measured is its type PodMetrics, as far as it is shown.
type measured struct {
	metav1.ObjectMeta `json:"metadata"`
	Timestamp         metav1.Time
	Containers        []struct{ Usage corev1.ResourceList }
}

// Use implements cluster.Source.
func (v *View) Use(ctx context.Context, of cluster.Of) (use cluster.Use, err error) {
	page, err := v.dynamic.Resource(podMetrics).Namespace(of.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.Set{labelRunID: of.RunID}.String()})
	switch {
	case apierrors.IsNotFound(err):
		use.Message = "the cluster does not measure its pods: it has no metrics API (metrics.k8s.io), which metrics-server brings"
		return use, nil
	case apierrors.IsServiceUnavailable(err):
		use.Message = "the cluster's metrics API (metrics.k8s.io) does not answer"
		return use, nil
	case apierrors.IsForbidden(err):
		use.Missing = []cluster.Right{{Verb: "list", Resource: podMetrics.GroupResource().String(), Namespace: of.Namespace}}
		return use, nil
	case err != nil:
		return use, explain("list "+podMetrics.GroupResource().String(), err)
	}
	for i := range page.Items {
		pod := read[measured](&page.Items[i])
		used := cluster.PodUse{Pod: pod.Name, Used: cluster.Amounts{}, MeasuredAt: pod.Timestamp.UTC().Truncate(time.Second)}
		for _, c := range pod.Containers {
			used.Used.Add(capacity.Amounts(c.Usage))
		}
		use.Pods = append(use.Pods, used)
	}
	if len(use.Pods) == 0 {
		use.Message = "the cluster's metrics API has measured none of the pods yet"
	}
	return use, nil
}
