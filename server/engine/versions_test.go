package engine_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

// running is a Deployment of an image.
func running(name, image string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "of-" + name, Name: name},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Image: "registry:5000/proxy:v0.1"}, {Image: image}},
		}}},
	}
}

func versionsOf(t *testing.T, refused string, objects ...runtime.Object) []cluster.Version {
	t.Helper()
	kube := fake.NewClientset(objects...)
	kube.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{GitVersion: "v1.34.4"}
	if refused != "" {
		forbid(&kube.Fake, "list", refused, false)
		forbid(&kube.Fake, "get", "configmaps", false)
	}
	view := engine.New(nil, kube, enginetest.NewDynamic(), "kubeflow", slog.New(slog.DiscardHandler)).View()
	o, err := view.Overview(t.Context())
	require.NoError(t, err)
	require.Empty(t, o.Missing)
	asked := len(kube.Actions())
	again, err := view.Overview(t.Context())
	require.NoError(t, err)
	require.Equal(t, o.Versions, again.Versions)
	require.Len(t, kube.Actions()[asked:], 2, "nodes and pods; the versions are remembered")
	return o.Versions
}

func TestVersions(t *testing.T) {
	t.Parallel()
	t.Run("of a cluster whose images tell them", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []cluster.Version{
			{Name: "Kubernetes", Version: "v1.34.4"},
			{Name: "Argo Workflows", Version: "v3.5.1, v3.7.18"},
			{Name: "MPI Operator", Version: "0.6.0"},
			{Name: "Volcano", Version: "v1.14.1"},
		}, versionsOf(t, "",
			running("argo", "quay.io/argoproj/workflow-controller:v3.7.18@sha256:0123", 1), running("argo-too", "mirror:5000/workflow-controller:v3.5.1", 1),
			running("mpi", "mpioperator/mpi-operator:0.6.0", 2), running("old-mpi", "mpioperator/mpi-operator:0.3.0", 0),
			running("training", "kubeflow/training-operator:v1-855e096", 1), running("trainer", "trainer-controller-manager@sha256:0123", 1),
			running("volcano", "docker.io/volcanosh/vc-scheduler:v1.14.1", 1), running("other", "volcanosh/vc-webhook-manager:v1.9.9", 1),
		))
	})
	t.Run("of an embedded cluster", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []cluster.Version{
			{Name: "Kubernetes", Version: "v1.34.4"},
			{Name: "Argo Workflows", Version: "v3.7.18"},
			{Name: "Kubeflow Trainer", Version: "v2.1.0"},
			{Name: "Volcano", Version: "v1.14.1"},
		}, versionsOf(t, "", running("trainer", "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.1.0", 1), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-public", Name: "cluster-versions"},
			Data:       map[string]string{"kubernetes": "v1.34.4", "etcd": "v3.6.4", "argo-workflows": "v3.7.18", "volcano": "v1.14.1"},
		}))
	})
	t.Run("without the rights to read more", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, []cluster.Version{{Name: "Kubernetes", Version: "v1.34.4"}}, versionsOf(t, "deployments", running("mpi", "mpioperator/mpi-operator:0.6.0", 1)))
	})
}
