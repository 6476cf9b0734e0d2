package client_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	b, c := realServer(t)
	r := b.Start(t)
	labels := map[string]string{"pipeline/runid": r.ID}
	offered := corev1.ResourceList{"cpu": resource.MustParse("4")}
	require.NoError(t, b.Kube.Tracker().Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "big"}, Status: corev1.NodeStatus{Capacity: offered, Allocatable: offered}}))
	require.NoError(t, b.Kube.Tracker().Add(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: enginetest.Namespace, Name: "worker", Labels: labels},
		Spec:       corev1.PodSpec{NodeName: "big", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: offered}}}},
	}))
	require.NoError(t, b.Dynamic.Tracker().Add(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": map[string]any{"namespace": enginetest.Namespace, "name": "train", "labels": map[string]any{"pipeline/runid": r.ID}},
	}}))
	require.NoError(t, b.Kube.Tracker().Add(&corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: enginetest.Namespace, Name: "e"}, InvolvedObject: corev1.ObjectReference{Kind: "Workflow", Name: r.Workflow}, Type: "Normal", Reason: "WorkflowRunning", Count: 2,
	}))

	cluster, err := c.Cluster.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, client.ResourceUse{Resource: "cpu", Capacity: 4, Allocatable: 4, Requested: 4}, cluster.Nodes[0].Resources[0])
	require.Equal(t, "a run", cluster.Nodes[0].Holders[0].RunName)

	jobs, err := c.Jobs.OfRun(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"train", "PyTorchJob", "Created"}, []string{jobs.Jobs[0].Name, jobs.Jobs[0].Kind, jobs.Jobs[0].State})
	text, err := c.Jobs.Object(t.Context(), r.ID, "PyTorchJob", "train")
	require.NoError(t, err)
	require.Contains(t, text, "kind: PyTorchJob\n")
	_, err = c.Jobs.Object(t.Context(), r.ID, "PyTorchJob", "other")
	require.True(t, client.IsNotFound(err), "%v", err)

	events, err := c.Cluster.Events(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "WorkflowRunning", events.Events[0].Reason)
	require.Equal(t, 2, events.Events[0].Count)
}
