package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// removeMalformed removes objects that do not fit the Go type of their kind, and says why in an event. The first job of a
// kind comes before the apiserver checks all of it, and as long as one object cannot be read, no controller gets to
// see any other of its kind.
func removeMalformed[T any](ctx context.Context, cfg *rest.Config, kind schema.GroupVersionResource) error {
	// For a moment after its schema was completed, a kind is answered for with "try again in a second"; nothing says when it is over.
	impatient := rest.CopyConfig(cfg)
	impatient.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil {
				resp.Header.Del("Retry-After")
			}
			return resp, err
		})
	})
	objects, err := dynamic.NewForConfig(impatient)
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	var all *unstructured.UnstructuredList
	err = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		all, err = objects.Resource(kind).List(ctx, metav1.ListOptions{})
		if apierrors.IsTooManyRequests(err) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("look for unreadable %s: %w", kind.Resource, err)
	}
	for i := range all.Items {
		o := &all.Items[i]
		raw, err := o.MarshalJSON()
		if err != nil {
			return err
		}
		var typed T
		fault := json.Unmarshal(raw, &typed)
		if fault == nil {
			continue
		}
		klog.ErrorS(fault, "removed, since it cannot be read", "kind", o.GetKind(), "object", klog.KObj(o))
		if _, err := kube.CoreV1().Events(o.GetNamespace()).Create(ctx, removal(o, fault), metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := objects.Resource(kind).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// removal is the event that tells of an object's end.
func removal(o *unstructured.Unstructured, fault error) *corev1.Event {
	now := metav1.Now()
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: o.GetName() + ".", Namespace: o.GetNamespace()},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(),
		},
		Type: corev1.EventTypeWarning, Reason: "Invalid", Message: "removed, since it cannot be read: " + fault.Error(),
		Source: corev1.EventSource{Component: "argosy-cluster"}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
}
