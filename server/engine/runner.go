package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/argosy-ml/argosy/manifests"
)

// fieldManager owns, in the cluster, the fields that the server applies.
const fieldManager = "argosy"

// EnsureRunner applies the service account that runs work under, with its rights, in the engine's namespace.
// Applying it again changes nothing.
func (e *Engine) EnsureRunner(ctx context.Context) error {
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests.Runner), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the runner's manifest: %w", err)
		}
		e.move(o)
		resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind()) // right for the few kinds that the manifest holds
		_, err = e.dynamic.Resource(resource).Namespace(e.namespace).
			Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if err != nil {
			return explain(fmt.Sprintf("apply %s %s/%s", o.GetKind(), e.namespace, o.GetName()), err)
		}
	}
}

// move puts an object, and the accounts that it binds, into the engine's namespace.
func (e *Engine) move(o *unstructured.Unstructured) {
	o.SetNamespace(e.namespace)
	subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
	for _, s := range subjects {
		if subject, ok := s.(map[string]any); ok {
			subject["namespace"] = e.namespace
		}
	}
	if subjects != nil {
		o.Object["subjects"] = subjects
	}
}
