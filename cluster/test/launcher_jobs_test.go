package test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
	volcano "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// What the launcher submits with everything set has no field that its operator does not know, and the apiserver takes
// it. MXJob is not here: no operator that can run has the kind any more.
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
