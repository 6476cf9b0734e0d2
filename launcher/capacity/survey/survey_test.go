package survey_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/launcher/capacity/survey"
	"github.com/argosy-ml/argosy/launcher/pending"
)

// claimOf is a claim of a storage class that is not there.
func claimOf(name, volume string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kubeflow"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("fast"), VolumeName: volume,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

func cluster() *fake.Clientset {
	return fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: "argosy.dev/local"},
		claimOf("waits", ""), claimOf("bound", "volume-1"),
	)
}

// mounting is a pod that mounts a volume.
func mounting(v corev1.VolumeSource) capacity.Demand {
	return capacity.Demand{Groups: []capacity.Group{{Replicas: 1, Pod: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: v}}}}}}
}

func existing(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	ephemeral := corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claimOf("", "").Spec}}}
	const says = "asks for a volume of the storage class fast for "
	for says, volume := range map[string]corev1.VolumeSource{says + "waits": existing("waits"), says + "v": ephemeral} {
		client := cluster()
		s := survey.Survey{Core: client.CoreV1(), Storage: client.StorageV1()}
		short, err := s.Short(t.Context(), "kubeflow", mounting(volume))
		require.NoError(t, err)
		require.ErrorContains(t, short, says)

		hide(client, "storageclasses")
		short, err = s.Short(t.Context(), "kubeflow", mounting(volume))
		require.NoError(t, err)
		require.Nil(t, short, "what may not be read is not checked")
	}
	for _, name := range []string{"bound", "may-come"} {
		client := cluster()
		s := survey.Survey{Core: client.CoreV1(), Storage: client.StorageV1()}
		short, err := s.Short(t.Context(), "kubeflow", mounting(existing(name)))
		require.NoError(t, err)
		require.Nil(t, short, name)
	}
}

func hide(client *fake.Clientset, what string) {
	client.PrependReactor("list", what, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: what}, "", errors.New("no rights"))
	})
}

// Keep reads the nodes once, and keeps a refusal as well. It does not keep the error of a caller whose context ended.
func TestKeep(t *testing.T) {
	t.Parallel()
	client := cluster()
	hide(client, "nodes")
	s := survey.Survey{Core: client.CoreV1(), Storage: client.StorageV1(), Keep: time.Hour}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Short(left, "kubeflow", capacity.Demand{})
	require.ErrorIs(t, err, context.Canceled)
	for range 3 {
		_, err = s.Short(t.Context(), "kubeflow", capacity.Demand{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
	}
	require.Len(t, client.Actions(), 2)
}

func TestQueue(t *testing.T) {
	t.Parallel()
	gvr := schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}
	small := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gvr.GroupVersion().String(), "kind": "Queue", "metadata": map[string]any{"name": "small"},
		"spec":   map[string]any{"capability": map[string]any{"cpu": "1500m", "nvidia.com/gpu": int64(2)}},
		"status": map[string]any{"state": "Closed"},
	}}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{gvr: "QueueList"}, small)
	s := survey.Survey{Queues: client.Resource(gvr), Keep: time.Hour}
	q, err := s.Queue(t.Context(), "small")
	require.NoError(t, err)
	require.Equal(t, &capacity.Queue{Name: "small", State: "Closed", Capability: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1500m"), "nvidia.com/gpu": resource.MustParse("2"),
	}}, q)
	q, err = s.Queue(t.Context(), "other")
	require.NoError(t, err)
	require.Equal(t, &capacity.Queue{Name: "other", State: pending.Missing}, q)
	require.Len(t, client.Actions(), 1, "queues are remembered")
	q, err = s.Queue(t.Context(), "")
	require.NoError(t, err)
	require.Nil(t, q)

	for _, refusal := range []error{apierrors.NewForbidden(gvr.GroupResource(), "", nil), apierrors.NewNotFound(gvr.GroupResource(), "")} {
		client.PrependReactor("list", "queues", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
		s := survey.Survey{Queues: client.Resource(gvr)}
		q, err := s.Queue(t.Context(), "small")
		require.Nil(t, q)
		require.Equal(t, apierrors.IsForbidden(refusal), apierrors.IsForbidden(err), "a cluster without Volcano has no queues: %v", err)
		require.Equal(t, apierrors.IsForbidden(refusal), err != nil)
	}
}
