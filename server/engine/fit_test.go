package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	argofake "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/fake"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// laptop is a cluster of one node with two CPUs.
func laptop(objects ...runtime.Object) (*engine.Engine, *argofake.Clientset, *fake.Clientset) {
	return laptopOf(enginetest.NewDynamic(), objects...)
}

func laptopOf(dyn dynamic.Interface, objects ...runtime.Object) (*engine.Engine, *argofake.Clientset, *fake.Clientset) {
	offered := corev1.ResourceList{}
	for name, q := range map[corev1.ResourceName]string{"cpu": "2", "memory": "24Gi", "ephemeral-storage": "50Gi", "pods": "110"} {
		offered[name] = resource.MustParse(q)
	}
	kube := fake.NewClientset(append(objects,
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Status: corev1.NodeStatus{Allocatable: offered, Capacity: offered}},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "argosy.dev/local"},
	)...)
	workflows := argofake.NewSimpleClientset()
	return engine.New(workflows, kube, dyn, "kubeflow", slog.New(slog.NewTextHandler(io.Discard, nil))), workflows, kube
}

// mpiRun is the sample of that name, as far as it asks for something.
func mpiRun(t *testing.T) []byte {
	t.Helper()
	p := dsl.New("mpi-run")
	train.MPIJob(p, "all-reduce", train.MPI{
		Image: dsl.Lit("horovod"), Command: dsl.Lit("mpirun python train.py"),
		Workers: dsl.Param(p, "workers", 1), GPUs: dsl.Param(p, "gpus", 1), CPU: dsl.Param(p, "cpu_limit", "2"), Memory: dsl.Param(p, "memory_limit", "10Gi"),
		Data: []dsl.Value[string]{dsl.Param(p, "data", "user-susan:/training")},
	})
	manifest, err := compiler.Compile(p)
	require.NoError(t, err)
	return manifest
}

func TestWarnsOfJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given map[string]string
		says  []string
	}{
		{nil, []string{"step all-reduce asks 1 GPU for each worker; this cluster has none: lower gpus, or add nodes that have GPUs"}},
		{map[string]string{"gpus": "0", "workers": "2"}, []string{"step all-reduce asks 2 workers x 2 CPUs = 4; this cluster has 2: lower cpu_limit, or add nodes"}},
		{map[string]string{"gpus": "0", "workers": "3", "cpu_limit": "500m"}, []string{"step all-reduce asks 3 workers x 10Gi of memory = 30Gi; this cluster has 24Gi: lower memory_limit, or add nodes"}},
		{map[string]string{"gpus": "0"}, nil},
		{map[string]string{"gpus": "0", "cpu_limit": "a lot"}, nil}, // which the launcher refuses
	} {
		e, _, _ := laptop()
		var parameters []run.Parameter
		for name, value := range c.given {
			parameters = append(parameters, run.Parameter{Name: name, Value: value})
		}
		p, err := e.Prepare(t.Context(), mpiRun(t), options(parameters...))
		require.NoError(t, err)
		require.Equal(t, c.says, p.Warnings())
		wf := &wfv1.Workflow{}
		require.NoError(t, json.Unmarshal(p.Workflow, wf))
		if c.given["cpu_limit"] != "a lot" {
			require.JSONEq(t, `{"cpu": "cpu_limit", "memory": "memory_limit", "nvidia.com/gpu": "gpus"}`, wf.GetTemplateByName("all-reduce").Metadata.Annotations["argosy.dev/parameters"],
				"the launcher learns what to tell people to lower")
		}
	}
}

// Pods that are needed together and placed one by one can hold room that others wait for: such a run gets a warning.
func TestWarnsOfPodsApart(t *testing.T) {
	t.Parallel()
	workflow := func(gang dsl.Value[bool], workers int) []byte {
		p := dsl.New("gang")
		train.PyTorchJob(p, "fit", train.PyTorch{Image: dsl.Lit("i"), Command: dsl.Lit("train"), Workers: dsl.Lit(workers), Gang: gang})
		manifest, err := compiler.Compile(p)
		require.NoError(t, err)
		return manifest
	}
	warnings := func(e *engine.Engine, manifest []byte) []string {
		p, err := e.Prepare(t.Context(), manifest, options())
		require.NoError(t, err)
		return p.Warnings()
	}
	const risk = ": when there is room for some of them only, these hold it and wait for the others, and two such jobs can block each other for ever"
	with, _, _ := laptop()
	require.Empty(t, warnings(with, workflow(dsl.Lit(true), 2)))
	require.Empty(t, warnings(with, workflow(dsl.Value[bool]{}, 2)))
	require.Empty(t, warnings(with, workflow(dsl.Lit(false), 1)), "one pod waits for no other")
	require.Equal(t, []string{"step fit: its 2 pods are placed one by one, as gang is off" + risk}, warnings(with, workflow(dsl.Lit(false), 2)))

	dyn := enginetest.NewDynamic()
	dyn.PrependReactor("list", "podgroups", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "podgroups"}, "")
	})
	without := engine.New(argofake.NewSimpleClientset(), fake.NewClientset(), dyn, "kubeflow", slog.New(slog.DiscardHandler))
	require.Equal(t, []string{"step fit: its 2 pods are placed one by one, as the cluster has no Volcano" + risk}, warnings(without, workflow(dsl.Lit(true), 2)))
}

// steps has a step for each way to ask for too much, steps that ask for nothing, and steps with requests unknown until they run.
const steps = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: steps-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: memory, value: 100Gi}, {name: size, value: "[1, 2]"}]}
  volumeClaimTemplates:
  - metadata: {name: work}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100Ti}}}
  templates:
  - name: main
    dag:
      tasks:
      - {name: cpu, template: cpu}
      - {name: again, template: cpu}
      - {name: patched, template: patched, arguments: {parameters: [{name: memory, value: "{{workflow.parameters.memory}}"}]}}
      - {name: volume, template: volume}
      - {name: chosen, template: chosen}
      - {name: small, template: patched, arguments: {parameters: [{name: memory, value: 1Gi}]}}
      - {name: perhaps, template: cpus, when: "{{workflow.parameters.memory}} == 1"}
      - {name: loop, template: patched, withParam: "{{workflow.parameters.size}}", arguments: {parameters: [{name: memory, value: "{{item}}Ti"}]}}
  - name: cpu
    container: {image: host, command: [echo, "{{workflow.uid}} {{pod.name}}"], resources: {limits: {cpu: 4}}}
  - name: cpus
    container: {image: host, command: [echo], resources: {limits: {cpu: 8}}}
  - name: patched
    inputs: {parameters: [{name: memory}]}
    podSpecPatch: '{"containers": [{"name": "main", "resources": {"requests": {"memory": "{{inputs.parameters.memory}}"}}}]}'
    container: {image: host, command: [echo]}
  - name: volume
    container: {image: host, command: [echo], volumeMounts: [{name: work, mountPath: /work}]}
  - name: chosen
    nodeSelector: {gpu: v100}
    script: {image: host, command: [sh], source: echo}
`

func TestWarnsOfSteps(t *testing.T) {
	t.Parallel()
	want := []string{
		"step cpu asks 4 CPUs; this cluster has 2: lower the CPU limit of the step, or add a larger node",
		"step patched asks 100Gi of memory; this cluster has 24Gi: lower memory, or add a larger node",
		"step volume asks for a volume of 100Ti for WORKFLOW-work; the disk of this cluster has 50Gi: ask for a smaller volume",
		"step chosen asks for a node with the label gpu=v100; this cluster has none: change the node selector of the step, or label a node",
	}
	e, workflows, _ := laptop()
	p, err := e.Prepare(t.Context(), []byte(steps), options())
	require.NoError(t, err)
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "WORKFLOW", p.Name)
	}
	require.Equal(t, want, p.Warnings())

	e.ScalesUp(true)
	p, err = e.Prepare(t.Context(), []byte(steps), options())
	require.NoError(t, err)
	require.Empty(t, p.Warnings(), "the cluster will add nodes")
	require.NoError(t, e.Submit(t.Context(), p.Workflow))
	list, err := workflows.ArgoprojV1alpha1().Workflows("kubeflow").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, "true", list.Items[0].Spec.PodMetadata.Annotations["argosy.dev/scales-up"])

	silent, _, kube := laptop()
	kube.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no answer") })
	p, err = silent.Prepare(t.Context(), []byte(steps), options())
	require.NoError(t, err)
	require.Empty(t, p.Warnings(), "nothing is known of the nodes")
}

// A step's pod that no node or its queue can ever hold ends with the reason; all others are left alone.
func TestRefusesPods(t *testing.T) {
	t.Parallel()
	pod := func(name, cpu string, annotations map[string]string) *corev1.Pod {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kubeflow", Labels: map[string]string{run.Label: "run-1"}, Annotations: annotations},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "wait"}, {Name: "main"}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available"},
			}},
		}
		p.Spec.Containers[1].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		return p
	}
	const node = "workflows.argoproj.io/node-id"
	queued := func(p *corev1.Pod, scheduler string) *corev1.Pod {
		p.Spec.SchedulerName = scheduler
		p.Annotations["scheduling.volcano.sh/queue-name"] = "small"
		return p
	}
	e, _, kube := laptopOf(enginetest.NewDynamic(queueOf(t, "small", "Open", "{cpu: 1}")))
	watched := enginetest.Watched(&kube.Fake, kube.Tracker(), "pods", 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan string, 100)
	done := make(chan error, 1)
	go func() {
		done <- e.WatchPods(ctx, func(p logs.Pod) {
			if p.Ended {
				ended <- p.Name // it is seen more than once
			}
		}, func() {})
	}()
	enginetest.Await(t, watched)
	for _, p := range []*corev1.Pod{
		pod("too-big", "4", map[string]string{node: "a", "argosy.dev/parameters": `{"cpu": "cpu_limit"}`}),
		pod("in-turn", "2", map[string]string{node: "b"}),
		pod("of-a-job", "4", map[string]string{"argosy.dev/node": "c"}),
		pod("may-come", "4", map[string]string{node: "d", "argosy.dev/scales-up": "true"}),
		queued(pod("too-big-for-its-queue", "2", map[string]string{node: "e", "argosy.dev/scales-up": "true"}), "volcano"),
		queued(pod("in-its-queue", "1", map[string]string{node: "f"}), "volcano"),
		queued(pod("in-no-queue", "2", map[string]string{node: "g"}), "default-scheduler"),
	} {
		_, err := kube.CoreV1().Pods("kubeflow").Create(t.Context(), p, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	says := map[string]string{
		"too-big": "asks 4 CPUs; this cluster has 2: lower cpu_limit, or add a larger node",
		"too-big-for-its-queue": "asks 2 CPUs; queue small may have 1: lower the CPU limit of the step, choose another queue, or raise its limit with " +
			"argosy queue set small --capability cpu=2",
	}
	for seen := map[string]bool{}; len(seen) < len(says); {
		name := <-ended
		require.Contains(t, says, name)
		seen[name] = true
	}
	cancel()
	require.NoError(t, <-done, "the watch ends when no pod is looked at any more")
	pods, err := kube.CoreV1().Pods("kubeflow").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, p := range pods.Items {
		why, refused := says[p.Name]
		require.Equal(t, refused, p.Status.Phase == corev1.PodFailed, p.Name)
		if refused {
			require.Equal(t, why, p.Status.Message)
			require.Equal(t, "wait", p.Status.ContainerStatuses[0].Name, "the user's container never began")
			require.False(t, p.Status.ContainerStatuses[0].State.Terminated.FinishedAt.IsZero(), "Argo reads when the step ended")
		}
	}
}
