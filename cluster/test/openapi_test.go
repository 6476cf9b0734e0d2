package test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What `kubectl explain` reads tells of built-in kinds, of Argo's, and of kinds that come and go.
func TestKindsAreDescribed(t *testing.T) {
	t.Parallel()
	c := shared(t)
	describes := func(ctx context.Context, path, word string) bool {
		list, err := c.kube.Discovery().RESTClient().Get().AbsPath("/openapi/v3").DoRaw(ctx)
		if err != nil || !strings.Contains(string(list), `"`+path+`"`) {
			return false
		}
		text, err := c.kube.Discovery().RESTClient().Get().AbsPath("/openapi/v3/" + path).DoRaw(ctx)
		return err == nil && strings.Contains(string(text), word)
	}
	require.True(t, describes(t.Context(), "api/v1", "terminationGracePeriodSeconds"))
	require.True(t, describes(t.Context(), "apis/batch/v1", "podFailurePolicy"))
	require.True(t, describes(t.Context(), "apis/argoproj.io/v1alpha1", "ClusterWorkflowTemplate"))

	group := strings.ReplaceAll(c.namespace, "-", "") + ".example.com"
	kinds := c.any.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err := kinds.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "boats." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"kind": "Boat", "plural": "boats"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
				"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"sails": map[string]any{"type": "integer"}}},
			}}},
		},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	path := "apis/" + group + "/v1"
	eventually(t, "a new kind is described", func(ctx context.Context) bool { return describes(ctx, path, "sails") })
	require.NoError(t, kinds.Delete(t.Context(), "boats."+group, metav1.DeleteOptions{}))
	eventually(t, "a kind that has gone is not", func(ctx context.Context) bool { return !describes(ctx, path, "") })
}
