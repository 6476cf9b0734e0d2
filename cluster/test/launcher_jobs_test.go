package test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
	volcano "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// What the launcher submits with everything set has no field that its operator does not know, and the apiserver takes
// it. MXJob has TestMXJobIsKnown: no operator that can run has the kind any more.
func TestLauncherJobsAreKnown(t *testing.T) {
	t.Parallel()
	c := shared(t)
	types := map[string]any{
		"mpijob": &mpi.MPIJob{}, "tfjob": &kubeflow.TFJob{}, "pytorchjob": &kubeflow.PyTorchJob{}, "xgboostjob": &kubeflow.XGBoostJob{},
		"paddlejob": &kubeflow.PaddleJob{}, "jaxjob": &kubeflow.JAXJob{}, "volcanojob": &volcano.Job{}, "job": &batchv1.Job{},
	}
	for kind, typed := range types {
		text, err := os.ReadFile(filepath.Join("../../launcher/job/testdata", kind+".yaml"))
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(text, typed), kind)
		text = bytes.ReplaceAll(text, []byte("namespace: kubeflow\n"), []byte("namespace: "+c.namespace+"\n"))
		job := manifest(t, string(text))
		group, err := schema.ParseGroupVersion(job.GetAPIVersion())
		require.NoError(t, err)
		resource := group.WithResource(strings.ToLower(job.GetKind()) + "s")
		_, err = c.any.Resource(resource).Namespace(c.namespace).Create(t.Context(), job, metav1.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
		})
		require.NoError(t, err, kind)
	}
}

// MXJob was given up after training-operator 1.8: what the launcher submits is held against the definition that clusters
// of that time have.
func TestMXJobIsKnown(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/kubeflow/training-operator@v1.8.1").Output()
	require.NoError(t, err)
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &module))
	text, err := os.ReadFile(filepath.Join(module.Dir, "manifests/base/crds/kubeflow.org_mxjobs.yaml"))
	require.NoError(t, err)
	var definition apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.Unmarshal(text, &definition))
	var internal apiextensions.JSONSchemaProps
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil))
	schema, err := structural.NewStructural(&internal)
	require.NoError(t, err)

	text, err = os.ReadFile("../../launcher/job/testdata/mxjob.yaml")
	require.NoError(t, err)
	job := manifest(t, string(text))
	require.Equal(t, definition.Spec.Names.Kind, job.GetKind())
	require.Equal(t, definition.Spec.Group+"/"+definition.Spec.Versions[0].Name, job.GetAPIVersion())
	unknown := pruning.PruneWithOptions(job.Object, schema, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	require.Empty(t, unknown, "fields that no version of the operator knew")
	validator, _, err := validation.NewSchemaValidator(&internal)
	require.NoError(t, err)
	require.Empty(t, validation.ValidateCustomResource(nil, job.Object, validator))

	// The roles and the container by the names that the operator looks for, which the schema does not tell.
	source, err := os.ReadFile(filepath.Join(module.Dir, "pkg/apis/kubeflow.org/v1/mxnet_types.go"))
	require.NoError(t, err)
	replicas, _, err := unstructured.NestedMap(job.Object, "spec", "mxReplicaSpecs")
	require.NoError(t, err)
	require.Len(t, replicas, 3)
	for role, spec := range replicas {
		require.Contains(t, string(source), `ReplicaType = "`+role+`"`)
		containers, _, err := unstructured.NestedSlice(spec.(map[string]any), "template", "spec", "containers")
		require.NoError(t, err)
		require.Contains(t, string(source), `MXJobDefaultContainerName = "`+containers[0].(map[string]any)["name"].(string)+`"`)
	}
}
