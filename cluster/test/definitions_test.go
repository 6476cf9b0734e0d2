package test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// The apiserver holds only an outline of a kind's schema until the first object; from then on it checks all of it.
func TestSchemasAreCompletedWithTheFirstObject(t *testing.T) {
	t.Parallel()
	c := shared(t)
	jobs := c.any.Resource(paddlejobs).Namespace(c.namespace)
	wrong := paddleJob(t, `"host"`)
	require.NoError(t, unstructured.SetNestedField(wrong.Object, "two", "spec", "paddleReplicaSpecs", "Worker", "replicas"))
	_, err := jobs.Create(t.Context(), wrong, metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "an outline has the fields of the job itself: %v", err)

	_, err = jobs.Create(t.Context(), paddleJob(t, `"host"`), metav1.CreateOptions{})
	require.NoError(t, err)
	c.awaitWholeSchema(t)
}

// What nothing here acts on is refused with words: its author would rely on it.
func TestAdmissionThatIsNotServedIsRefused(t *testing.T) {
	t.Parallel()
	c := shared(t)
	for kind, why := range map[string]string{
		"ValidatingWebhookConfiguration":   "this cluster calls no admission webhooks, so nothing would be checked",
		"MutatingWebhookConfiguration":     "this cluster calls no admission webhooks, so nothing would be changed",
		"ValidatingAdmissionPolicy":        "this cluster evaluates no admission policies",
		"ValidatingAdmissionPolicyBinding": "this cluster evaluates no admission policies",
	} {
		gvr, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind})
		_, err := c.any.Resource(gvr).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": "unserved"},
		}}, metav1.CreateOptions{})
		require.True(t, apierrors.IsForbidden(err), "%s: %v", kind, err)
		require.ErrorContains(t, err, why)
		list, err := c.any.Resource(gvr).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Empty(t, list.Items, kind)
	}
}

var paddlejobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "paddlejobs"}

// paddleJob is a job that is not begun, with an image that may be of a wrong type.
func paddleJob(t *testing.T, image string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(`{"apiVersion":"kubeflow.org/v1","kind":"PaddleJob","metadata":{"name":"first"},
		"spec":{"runPolicy":{"suspend":true},"paddleReplicaSpecs":{"Worker":{"replicas":1,
			"template":{"spec":{"containers":[{"name":"paddle","image":`+image+`}]}}}}}}`), &o.Object))
	return o
}

// awaitWholeSchema waits until PaddleJobs are checked down to their containers.
func (c *cluster) awaitWholeSchema(t *testing.T) {
	t.Helper()
	wrong := paddleJob(t, `["host"]`)
	wrong.SetName("second")
	var err error
	eventually(t, "all of a job is checked", func(ctx context.Context) bool {
		_, err = c.any.Resource(paddlejobs).Namespace(c.namespace).Create(ctx, wrong, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err)
	})
	require.ErrorContains(t, err, "containers[0].image")
}

// A write that conflicts with another client's change of the definition is repeated.
func (c *cluster) testDefinitionInUse(t *testing.T) {
	definitions := c.any.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	changing, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	changed := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test/changes":"%d"}}}`, i)
			_, err := definitions.Patch(changing, "paddlejobs.kubeflow.org", types.MergePatchType, patch, metav1.PatchOptions{})
			if changing.Err() != nil {
				err = nil
			}
			if err != nil || changing.Err() != nil {
				changed <- err
				return
			}
		}
	}()
	_, err := c.any.Resource(paddlejobs).Namespace(c.namespace).Create(t.Context(), paddleJob(t, `"host"`), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, <-changed)
	c.awaitWholeSchema(t)
}
