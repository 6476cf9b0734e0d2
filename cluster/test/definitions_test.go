package test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The apiserver holds only an outline of a kind's schema until the first object; from then on it checks all of it.
func TestSchemasAreCompletedWithTheFirstObject(t *testing.T) {
	t.Parallel()
	c := shared(t)
	jobs := c.any.Resource(schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "paddlejobs"}).Namespace(c.namespace)
	job := func(image string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		require.NoError(t, json.Unmarshal([]byte(`{"apiVersion":"kubeflow.org/v1","kind":"PaddleJob","metadata":{"name":"first"},
			"spec":{"runPolicy":{"suspend":true},"paddleReplicaSpecs":{"Worker":{"replicas":1,
				"template":{"spec":{"containers":[{"name":"paddle","image":`+image+`}]}}}}}}`), &o.Object))
		return o
	}
	wrong := job(`"host"`)
	require.NoError(t, unstructured.SetNestedField(wrong.Object, "two", "spec", "paddleReplicaSpecs", "Worker", "replicas"))
	_, err := jobs.Create(t.Context(), wrong, metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "an outline has the fields of the job itself: %v", err)

	_, err = jobs.Create(t.Context(), job(`"host"`), metav1.CreateOptions{})
	require.NoError(t, err)
	wrong = job(`["host"]`)
	wrong.SetName("second")
	require.Eventually(t, func() bool {
		_, err = jobs.Create(t.Context(), wrong, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err)
	}, 30*time.Second, 50*time.Millisecond)
	require.ErrorContains(t, err, "containers[0].image")
}
