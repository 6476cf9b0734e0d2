package job

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/argosy-ml/argosy/launcher/capacity/survey"
	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// worker is a worker of an MPIJob that runs on a node.
func worker(index, node string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "w-" + index, Labels: map[string]string{
		kubeflow.JobRoleLabel: roleWorker, kubeflow.ReplicaIndexLabel: index,
	}}}
	p.Spec.NodeName, p.Spec.Containers = node, []corev1.Container{{Name: containerWorker}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: containerWorker, ImageID: "registry/train@sha256:aa"}}
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: codeContainerName, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Message: strings.Repeat("ab", 20)},
	}}}
	return p
}

// Facts come from pods, nodes and the output of programs. Only variables on the list are recorded.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	node := func(name, kind string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelInstanceTypeStable: kind, "nvidia.com/gpu.product": "Tesla-V100", "nvidia.com/cuda.driver-version.full": "550.90.07",
		}}}
		n.Status.NodeInfo.KernelVersion = "6.1"
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("511705088Ki")}
		return n
	}
	client := fake.NewClientset(node("a", "p3.16xlarge"), node("b", "p3dn.24xlarge"), node("c", "m5.large"))
	l := &Launcher{Survey: &survey.Survey{Core: client.CoreV1(), Storage: client.StorageV1()}, Spec: &Spec{
		Kind: &mpiJob, Values: option.Values{Slots: 8}, Roles: []Role{{Name: roleWorker, Replicas: 2, Trains: true, Command: "mpirun --bind-to core python train.py"}},
		Env: []corev1.EnvVar{
			{Name: "NCCL_DEBUG", Value: "VERSION"},
			{Name: "AWS_SECRET_ACCESS_KEY", Value: "hidden"},
			{Name: "NCCL_TOKEN", ValueFrom: &corev1.EnvVarSource{}},
		},
	}}
	e := newEnvironment()
	launcher := worker("0", "c")
	launcher.Labels[kubeflow.JobRoleLabel] = roleLauncher
	e.saw(l.Spec, []*corev1.Pod{launcher, worker("0", ""), worker("0", "a"), worker("1", "b")})
	hears := e.listens()
	_, err := hears.Write([]byte("argosy: mpirun (Open MPI) 4.1.4\nargosy: metric x = 1\n[1,0]<stdout>:NCCL version 2.21.5+cuda12.4\n[1,3]<stdout>:h:1 [0] NCCL INFO Using network Socket"))
	require.NoError(t, err)
	_, err = hears.Write([]byte("\nargosy: probe: no bandwidth: the image has neither\n[1,0]<stdout>: 33554432 8388608 float sum -1 100.0 0.335 0.335"))
	require.NoError(t, err)
	require.NoError(t, hears.Close())
	want := map[string]string{
		"mpi": "mpirun (Open MPI) 4.1.4", "nccl": "2.21.5+cuda12.4", "nccl network": "Socket", "image": "registry/train@sha256:aa",
		"commit": strings.Repeat("ab", 20), "network": "pod network", "placement": "a: 8, b: 8", "cpu binding": "core", "env NCCL_DEBUG": "VERSION",
		"bandwidth probe": "none: the image has neither",
		"machine":         "p3.16xlarge; p3dn.24xlarge", "kernel": "6.1", "gpu": "Tesla-V100", "gpu driver": "550.90.07", "cpus": "64", "memory": "488 GiB",
	}
	require.Equal(t, want, l.environmentFacts(t.Context(), e, nil))

	world := &scrape.World{Ranks: 16, Hosts: []string{"w-0.job.ns.svc", "job-launcher"}, PerHost: []int{12, 4}}
	require.Equal(t, "a: 12, no worker's pod, but job-launcher: 4", l.environmentFacts(t.Context(), e, world)["placement"], "as mpirun started them")

	client.PrependReactor("list", "nodes", func(k8stesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	for _, name := range []string{"machine", "kernel", "gpu", "gpu driver", "cpus", "memory"} {
		delete(want, name)
	}
	require.Equal(t, want, l.environmentFacts(t.Context(), e, nil), "without the right to read nodes the rest is known")
	require.Empty(t, l.environmentFacts(t.Context(), newEnvironment(), nil))
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	ranks := map[string]int{}
	for i := range 64 {
		ranks["node-with-a-long-name-"+strings.Repeat("x", i)] = 8
	}
	require.Equal(t, "64 nodes with 8", placement(ranks))
}

// The file stays small, whatever is found, and has nothing that a workflow engine would put a value for.
func TestWriteEnvironment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "environment")
	require.NoError(t, writeEnvironment(file, nil))
	require.NoFileExists(t, file)
	facts := map[string]string{"braces": "{{workflow.name}}", "lines": "a\nb", "long": strings.Repeat("é", 300)}
	for i := range 100 {
		facts["x"+strings.Repeat("y", i)] = strings.Repeat("v", 500)
	}
	require.NoError(t, writeEnvironment(file, facts))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Less(t, len(text), 24<<10)
	var read map[string]string
	require.NoError(t, json.Unmarshal(text, &read))
	require.Len(t, read, maxFacts)
	require.Equal(t, "a b", read["lines"])
	require.NotContains(t, read, "braces")
	require.LessOrEqual(t, len(read["long"]), maxFactText)
	require.True(t, strings.HasSuffix(read["long"], "é..."))
}
