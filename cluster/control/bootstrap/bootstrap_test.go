package bootstrap

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/control/versions"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

// Keys are random texts: nothing in them may turn into YAML.
func TestRenderFillsInEveryValue(t *testing.T) {
	t.Parallel()
	keys := home.S3{AccessKey: "0123", SecretKey: "null", Bucket: "b"}
	all, err := render(keys, []versions.Component{{Name: "volcano", Version: "v1.14.1"}})
	require.NoError(t, err)
	seen := map[string]*unstructured.Unstructured{}
	for _, o := range all {
		id := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
		require.Contains(t, resources, o.GroupVersionKind(), id)
		require.NotContains(t, seen, id)
		seen[id] = o
	}
	secret, _, err := unstructured.NestedStringMap(seen["Secret kubeflow/mlpipeline-minio-artifact"].Object, "stringData")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"accesskey": "0123", "secretkey": "null"}, secret)
	published, _, err := unstructured.NestedStringMap(seen["ConfigMap kube-public/cluster-versions"].Object, "data")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"volcano": "v1.14.1"}, published)
	for _, role := range controllerRoles {
		o := seen["ClusterRoleBinding /argosy:"+role]
		require.NotNil(t, o, role)
		subjects, _, err := unstructured.NestedSlice(o.Object, "subjects")
		require.NoError(t, err)
		require.Equal(t, pki.ControllerManagerUser, subjects[0].(map[string]any)["name"])
	}
}

func TestDefinitionsAreEmbedded(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(crds, "crds/*.json")
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		raw, err := crds.Open(f)
		require.NoError(t, err)
		docs, err := decode(raw)
		require.NoError(t, err)
		require.Len(t, docs, 1)
		d, err := readDefinition(f)
		require.NoError(t, err)
		url, err := listURL("https://x", docs[0])
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(url, "https://x/apis/"), url)
		names = append(names, d.name)
	}
	require.Contains(t, names, "workflows.argoproj.io", "run cluster/build/crds.sh")
	require.Contains(t, names, "mpijobs.kubeflow.org")
	require.Contains(t, names, "pytorchjobs.kubeflow.org")
	require.Contains(t, names, "jobs.batch.volcano.sh")
}
