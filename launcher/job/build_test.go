package job_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"

	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/sdk/train"
)

var update = flag.Bool("update", false, "write the golden files")

// ownPod is the launcher's own pod as Argo makes it.
func ownPod(uid types.UID) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "mpi-run-x7k2p-1", UID: uid, Labels: map[string]string{"pipeline/runid": "0e3f"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "argoproj.io/v1alpha1", Kind: "Workflow", Name: "mpi-run-x7k2p", UID: "wf-uid", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
	}}
	p.Spec.Containers = []corev1.Container{{Name: "wait", Image: "argoexec"}, {Name: "main", Image: "registry:5000/argosy-launcher:v1"}}
	return p
}

func step() job.Identity {
	return job.Identity{Namespace: "kubeflow", Workflow: "mpi-run-x7k2p", Node: "mpi-run-x7k2p-123"}
}

// kind is the kind of that name on the command line.
func kind(t testing.TB, command string) *job.Kind {
	t.Helper()
	for _, k := range job.Kinds() {
		if k.Command == command {
			return k
		}
	}
	t.Fatalf("no kind %s", command)
	return nil
}

// golden compares a job with testdata/NAME.yaml, which it writes with -update.
func golden(t *testing.T, name string, o job.Options, command string, kind *job.Kind, id job.Identity) []byte {
	t.Helper()
	spec, err := o.Spec(kind, command)
	require.NoError(t, err)
	made, err := job.Build(spec, id)
	require.NoError(t, err)
	got, err := yaml.Marshal(made.Object)
	require.NoError(t, err)
	file := filepath.Join("testdata", name+".yaml")
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), string(got)))
	return want
}

// The goldens are what the launcher submits; the operator's own code must accept them.
func TestBuildMPI(t *testing.T) {
	t.Parallel()
	inPod := step()
	inPod.Pod = ownPod("pod-uid")
	for name, tc := range map[string]struct {
		options job.Options
		command string
		id      job.Identity
	}{
		"laptop": {job.Options{
			"name": {"all-reduce"}, "image": {"uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5"}, "workers": {"2"}, "gpus": {"0"}, "cpu": {"2"}, "memory": {"10Gi"},
			"env": {"NCCL_DEBUG=INFO", "GIT_SYNC_BRANCH=cnn_tf_v1.9_compatible"}, "data": {""},
			"sync-mode": {"git"}, "sync-source": {"/srv/git/benchmarks.git"}, "metric": {"images/sec"},
		}, "mpirun python code/benchmarks/train.py", inPod},
		"gpus": {job.Options{
			"name": {"All Reduce"}, "image": {"i"}, "workers": {"2"}, "gpus": {"8"}, "cpu": {"50"}, "memory": {"200Gi"}, "shm": {"2Gi"}, "working-dir": {"/workspace"},
			"data": {"user-susan:/training", "user-susan:/again", "other:/data"}, "annotation": {"k8s.aliyun.com/eni=true"}, "label": {"team=vision"},
			"env": {"OMPI_MCA_orte_tag_output=0", "PIDS=$$ $(HOSTNAME)"}, "retries": {"3"}, "clean-pod-policy": {"All"},
		}, "mpirun -np 16 --bind-to none python train.py --pid $$ --host $(hostname)", inPod},
		"outside": {job.Options{"name": {"3rd"}, "image": {"i"}, "slots": {"4"}}, "mpirun hostname", step()},
		"mpijob":  {ofMPIJob(unplaced(everything())), "mpirun python train.py", inPod},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := golden(t, name, tc.options, tc.command, kind(t, "mpijob"), tc.id)
			var decoded kubeflow.MPIJob
			require.NoError(t, yaml.UnmarshalStrict(want, &decoded), "no field that the operator does not know")
			kubeflow.SetDefaults_MPIJob(&decoded)
			require.Empty(t, validation.ValidateMPIJob(&decoded))
		})
	}
}

// ofMPIJob sets what no other kind has.
func ofMPIJob(o job.Options) job.Options {
	maps.Copy(o, job.Options{"gputopology": {"true"}, "mounts-on-launcher": {"false"}, "ssh-port": {"2222"}, "probe": {"true"}, "restart-policy": {"Never"}})
	return o
}

// unplaced removes the options that concern no scheduler.
func unplaced(o job.Options) job.Options {
	delete(o, "anti-affinity")
	delete(o, "task-order")
	return o
}

// ofRuntime leaves out what only the runtime of a TrainJob can set, and names one.
func ofRuntime(o job.Options) job.Options {
	for _, flag := range []string{"rdma", "sync-mode", "sync-source", "sync-image", "image-pull-policy", "network", "host-ipc", "host-pid", "gang", "priority", "scheduler", "ttl-after-finished", "clean-pod-policy", "restart-policy"} {
		delete(o, flag)
	}
	o["runtime"] = []string{"TrainingRuntime/torch"}
	return o
}

// everything sets all that jobs of all kinds can have.
func everything() job.Options {
	return job.Options{
		"name": {"train"}, "image": {"img:1"}, "workers": {"3"}, "slots": {"2"}, "gpus": {"8"}, "cpu": {"50"}, "memory": {"200Gi"}, "shm": {"2Gi"}, "working-dir": {"/workspace"}, "shell": {"bash"},
		"device": {"vpc.amazonaws.com/efa=4"}, "rdma": {"true"}, "env": {"NCCL_DEBUG=INFO"}, "env-secret": {"TOKEN=login/token"}, "data": {"user-susan:/training", "/mnt/nvme:/scratch"},
		"annotation": {"sidecar.istio.io/inject=false"}, "label": {"team=vision"},
		"sync-mode": {"rsync"}, "sync-source": {"rsync://files/code/"}, "sync-image": {"rsync:3"}, "image-pull-policy": {"Always"}, "image-pull-secret": {"registry"}, "service-account": {"trainer"},
		"selector": {"gpu=v100"}, "toleration": {"gpu=yes:NoSchedule,Equal", "spot", "old:NoExecute"}, "network": {"Host"}, "host-ipc": {"true"}, "host-pid": {"true"},
		"gang": {"True"}, "queue": {"research"}, "priority": {"high"}, "scheduler": {"volcano"}, "anti-affinity": {"worker"}, "task-order": {"worker"},
		"tensorboard": {"true"}, "tensorboard-image": {"tb:1"}, "logdir": {"/training/logs"}, "metric": {"images/sec"}, "pending-timeout": {"10m"}, "running-timeout": {"12h"}, "silence-timeout": {"30m"}, "ttl-after-finished": {"24h"}, "clean-pod-policy": {"All"}, "restart-policy": {"OnFailure"}, "retries": {"2"},
	}
}

// Each kind with all there is to set, for cluster/test to hold against the operators' own types and a real apiserver.
func TestBuildKinds(t *testing.T) {
	t.Parallel()
	inPod := step()
	inPod.Pod = ownPod("pod-uid")
	for _, k := range job.Kinds() {
		if k.Command == "mpijob" {
			continue
		}
		t.Run(k.Command, func(t *testing.T) {
			t.Parallel()
			o := everything()
			switch k.Command {
			case "tfjob":
				maps.Copy(o, job.Options{
					"affinity": {"ps,worker"}, "anti-affinity": {"ps;worker,chief"}, "task-order": {"ps,worker,chief"},
					"role-replicas": {"ps=2", "chief=1", "evaluator=1"}, "role-command": {"ps=python ps.py"}, "role-image": {"ps=ps:1"},
					"role-cpu": {"ps=8", "evaluator=1"}, "role-memory": {"ps=32Gi"}, "role-gpus": {"ps=1", "evaluator=1", "worker=4"}, "role-selector": {"ps=net=fast"},
				})
			case "mxjob":
				maps.Copy(o, job.Options{"role-replicas": {"server=2"}, "role-cpu": {"scheduler=1"}})
			case "volcanojob":
				o = unplaced(o)
				maps.Copy(o, job.Options{"clean-pod-policy": nil, "restart-policy": {"Never"}, "role-replicas": {"master=1", "worker=3"}, "role-command": {"master=python master.py"}, "role-ends": {"master=true"}})
			case "trainjob":
				o = unplaced(ofRuntime(o))
			case "job":
				o = unplaced(o)
				maps.Copy(o, job.Options{"workers": nil, "clean-pod-policy": nil, "restart-policy": nil})
			}
			if k.Command != "pytorchjob" && k.Command != "trainjob" {
				delete(o, "slots")
			}
			golden(t, k.Command, o, "python train.py --pid $$", k, inPod)
		})
	}
}

// The pod group of a job without a gang asks for no resources, because operators create no pods until a group's resources are free.
func TestBuildWithoutGang(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"mpijob", "tfjob", "paddlejob"} {
		spec, err := job.Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "gpus": {"1"}, "gang": {"false"}}.Spec(kind(t, command), "c")
		require.NoError(t, err)
		made, err := job.Build(spec, step())
		require.NoError(t, err)
		policy, _, err := unstructured.NestedMap(made.Object, "spec", "runPolicy", "schedulingPolicy")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"minAvailable": int64(1), "minResources": map[string]any{}}, policy, command)
	}
}

// On the node's network 22 is the node's own sshd: launcher and workers agree on another port, each job on its own.
func TestBuildMPIPort(t *testing.T) {
	t.Parallel()
	port := func(o job.Options, id job.Identity) (listens, asks string) {
		maps.Copy(o, job.Options{"name": {"x"}, "image": {"i"}})
		spec, err := o.Spec(kind(t, "mpijob"), "c")
		require.NoError(t, err)
		replicas := mpi(t, spec, id).Spec.MPIReplicaSpecs
		command := replicas[kubeflow.MPIReplicaTypeWorker].Template.Spec.Containers[0].Command
		for _, e := range replicas[kubeflow.MPIReplicaTypeLauncher].Template.Spec.Containers[0].Env {
			if _, after, ok := strings.Cut(e.Value, " -p "); ok {
				require.Contains(t, []string{"OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent"}, e.Name)
				asks += after + ";"
			}
		}
		return strings.Join(command[3:], " "), asks
	}
	listens, asks := port(job.Options{}, step())
	require.Empty(t, listens+asks, "the image knows")
	listens, asks = port(job.Options{"ssh-port": {"2222"}, "network": {"host"}}, step())
	require.Equal(t, "sh 2222", listens)
	require.Equal(t, "2222;2222;", asks)
	other := step()
	other.Node += "0"
	seen := map[string]bool{}
	for _, o := range []job.Options{{"network": {"host"}}, {"gputopology": {"true"}}} {
		for _, id := range []job.Identity{step(), other} {
			listens, asks = port(o, id)
			require.Regexp(t, "^sh 2[0-9]{4}$", listens)
			number := strings.TrimPrefix(listens, "sh ")
			require.Equal(t, number+";"+number+";", asks)
			seen[number] = true
		}
	}
	require.Len(t, seen, 2, "two steps, two ports, whatever brings the network")
	listens, _ = port(job.Options{"gputopology": {"true"}, "network": {"CNI"}}, step())
	require.Empty(t, listens, "a network that is named stays")
}

// The user's variables go before the launcher's own, and each is there once.
func TestBuildEnv(t *testing.T) {
	t.Parallel()
	o := job.Options{"name": {"x"}, "image": {"i"}, "env": {"OMPI_MCA_orte_tag_output=0", "A=1", "A=2", "NVIDIA_VISIBLE_DEVICES=all", "GIT_SYNC_USERNAME=ada"}, "sync-source": {"/r"}}
	spec, err := o.Spec(kind(t, "mpijob"), "c")
	require.NoError(t, err)
	made := mpi(t, spec, step())
	for kind, want := range map[kubeflow.MPIReplicaType]map[string]string{
		kubeflow.MPIReplicaTypeLauncher: {"OMPI_MCA_orte_tag_output": "0", "A": "2", "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_prte_default_hostfile": "/etc/mpi/hostfile"},
		kubeflow.MPIReplicaTypeWorker:   {"A": "2", "NVIDIA_VISIBLE_DEVICES": "all"},
	} {
		got := map[string]string{}
		for _, e := range made.Spec.MPIReplicaSpecs[kind].Template.Spec.Containers[0].Env {
			_, twice := got[e.Name]
			require.False(t, twice, "%s is set twice", e.Name)
			got[e.Name] = e.Value
		}
		for name, value := range want {
			require.Equal(t, value, got[name], "%s of the %s", name, kind)
		}
	}
	init := made.Spec.MPIReplicaSpecs[kubeflow.MPIReplicaTypeWorker].Template.Spec.InitContainers[0]
	require.Equal(t, train.LauncherImage, init.Image)
	require.Contains(t, init.Env, corev1.EnvVar{Name: "GIT_SYNC_USERNAME", Value: "ada"})
}

// A pod is of the class Guaranteed, which gets CPUs of its own, only if its init container has the limits too. Devices stay with the
// container that works.
func TestBuildLimitsOfCode(t *testing.T) {
	t.Parallel()
	o := job.Options{"name": {"x"}, "image": {"i"}, "cpu": {"4"}, "memory": {"8Gi"}, "gpus": {"1"}, "sync-source": {"/r"}}
	spec, err := o.Spec(kind(t, "mpijob"), "c")
	require.NoError(t, err)
	pod := mpi(t, spec, step()).Spec.MPIReplicaSpecs[kubeflow.MPIReplicaTypeWorker].Template.Spec
	require.Equal(t, corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi")}, pod.InitContainers[0].Resources.Limits)
	require.Contains(t, pod.Containers[0].Resources.Limits, corev1.ResourceName("nvidia.com/gpu"))
}

// mpi is the job as mpi-operator reads it.
func mpi(t *testing.T, spec *job.Spec, id job.Identity) *kubeflow.MPIJob {
	t.Helper()
	made, err := job.Build(spec, id)
	require.NoError(t, err)
	var decoded kubeflow.MPIJob
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(made.Object, &decoded, true))
	return &decoded
}
