package engine_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

const giB = 1 << 30

// asking is a pod that asks for CPUs.
func asking(namespace, name, run, node, cpus string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{
			{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpus)}}},
		}},
	}
	if run != "" {
		pod.Labels = map[string]string{"pipeline/runid": run}
		pod.OwnerReferences = []metav1.OwnerReference{{UID: types.UID("job-of-" + run), Name: "job"}}
	}
	return pod
}

// object reads one of YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, sigsyaml.Unmarshal([]byte(text), &o.Object))
	return o
}

func forbid(kube *clienttesting.Fake, verb, what string, all bool) {
	kube.PrependReactor(verb, what, func(a clienttesting.Action) (bool, runtime.Object, error) {
		return !all || a.GetNamespace() == "", nil, apierrors.NewForbidden(schema.GroupResource{Resource: what}, "", errors.New("no rights"))
	})
}

func machines() []runtime.Object {
	offered := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("110"), "nvidia.com/gpu": resource.MustParse("4"), "hugepages-2Mi": resource.MustParse("0")}
	return []runtime.Object{
		&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "big"},
			Status:     corev1.NodeStatus{Capacity: offered, Allocatable: offered, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		},
		&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "down"},
			Spec:       corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "gpu", Value: "only", Effect: corev1.TaintEffectNoSchedule}, {Key: "out", Effect: corev1.TaintEffectNoExecute}}},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Message: "the kubelet stopped"}}},
		},
		asking("kubeflow", "a-0", "a", "big", "1500m"), asking("kubeflow", "a-1", "a", "big", "500m"),
		asking("kubeflow", "waits", "b", "", "9"), asking("kube-system", "dns", "", "big", "100m"),
	}
}

func TestOverview(t *testing.T) {
	t.Parallel()
	kube := fake.NewClientset(machines()...)
	dyn := enginetest.NewDynamic(
		object(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: default}, spec: {weight: 3, capability: {cpu: 6}}, status: {state: Open, allocated: {cpu: 2500m, memory: 1Gi}}}`),
		object(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: other}}`),
		object(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: younger, namespace: kubeflow, creationTimestamp: "2026-11-20T12:00:01Z"}, spec: {queue: default, minMember: 2}, status: {phase: Inqueue}}`),
		object(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: gang, namespace: kubeflow, creationTimestamp: "2026-11-20T12:00:00Z", ownerReferences: [{uid: job-of-b, name: job, kind: MPIJob, apiVersion: kubeflow.org/v2beta1}]},
  spec: {minMember: 3, minResources: {cpu: 9}}, status: {phase: Pending, conditions: [{type: Unschedulable, status: "True", message: 2/3 tasks unschedulable}]}}`),
		object(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: runs, namespace: kubeflow}, spec: {queue: default, minMember: 1}, status: {phase: Running}}`),
	)
	e := engine.New(nil, kube, dyn, "kubeflow", slog.New(slog.DiscardHandler)).View()
	o, err := e.Overview(t.Context())
	require.NoError(t, err)
	require.Empty(t, o.Missing)

	big, down := o.Nodes[0], o.Nodes[1]
	require.True(t, big.Ready && big.Schedulable)
	require.Equal(t, 16.0*giB, big.Capacity["memory"])
	require.Equal(t, cluster.Amounts{"cpu": 2.1, "pods": 3}, big.Requested)
	require.InDelta(t, 5.9, big.Free("cpu"), 1e-9)
	require.Equal(t, 4.0, big.Free("nvidia.com/gpu"))
	require.Equal(t, []cluster.Holder{
		{RunID: "a", Pods: 2, Requested: cluster.Amounts{"cpu": 2, "pods": 2}},
		{Namespace: "kube-system", Pods: 1, Requested: cluster.Amounts{"cpu": 0.1, "pods": 1}},
	}, big.Holders)
	require.False(t, down.Ready || down.Schedulable)
	require.Equal(t, "the kubelet stopped", down.Message)
	require.Equal(t, []string{"gpu=only:NoSchedule", "out:NoExecute"}, down.Taints)
	require.Equal(t, []cluster.Holder{{RunID: "b", Pods: 1, Requested: cluster.Amounts{"cpu": 9, "pods": 1}}}, o.Waiting)

	first, second := o.Queues[0], o.Queues[1]
	require.Equal(t, int32(3), first.Weight)
	require.Equal(t, cluster.Amounts{"cpu": 6}, first.Capability)
	require.Equal(t, cluster.Amounts{"cpu": 2.5, "memory": giB}, first.Allocated)
	require.Equal(t, 1, first.Running)
	require.Len(t, first.Waiting, 2)
	gang := first.Waiting[0]
	require.Equal(t, "gang", gang.Name, "the oldest first, and those without a queue are in the default one")
	require.Equal(t, int32(3), gang.MinAvailable)
	require.Equal(t, "2/3 tasks unschedulable", gang.Message)
	require.Equal(t, cluster.Amounts{"cpu": 9}, gang.Requested)
	require.Equal(t, "b", gang.RunID, "of the pods that have the same owner")
	require.Equal(t, int32(1), second.Weight)
	require.Equal(t, "Unknown", second.State)
}

// The answer names the rights that are missing, and holds everything else.
func TestOverviewWithoutRights(t *testing.T) {
	t.Parallel()
	kube, dyn := fake.NewClientset(machines()...), enginetest.NewDynamic()
	forbid(&kube.Fake, "list", "nodes", false)
	forbid(&kube.Fake, "list", "pods", true)
	forbid(&dyn.Fake, "list", "queues", false)
	dyn.PrependReactor("list", "podgroups", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(schema.GroupResource{}, "")
	})
	e := engine.New(nil, kube, dyn, "kubeflow", slog.New(slog.DiscardHandler)).View()
	o, err := e.Overview(t.Context())
	require.NoError(t, err)
	require.Equal(t, []cluster.Right{{Verb: "list", Resource: "nodes"}, {Verb: "list", Resource: "pods"}, {Verb: "list", Resource: "queues.scheduling.volcano.sh"}}, o.Missing)
	require.Empty(t, o.Nodes)
	require.Len(t, o.Waiting, 1, "pods of the server's own namespace")

	forbid(&kube.Fake, "list", "pods", false)
	_, err = e.Overview(t.Context())
	require.ErrorContains(t, err, "list the pods: the cluster refuses it")
}
