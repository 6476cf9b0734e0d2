package job_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
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
func golden(t *testing.T, name string, o *job.Options, command string, kind *job.Kind, id job.Identity) []byte {
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
			Name: "all-reduce", Image: "uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5", Workers: "2", GPUs: "0", CPU: "2", Memory: "10Gi",
			Env: []string{"NCCL_DEBUG=INFO", "GIT_SYNC_BRANCH=cnn_tf_v1.9_compatible"}, Data: []string{""},
			SyncMode: "git", SyncSource: "/srv/git/benchmarks.git", Metrics: []string{"images/sec"},
		}, "mpirun python code/benchmarks/train.py", inPod},
		"gpus": {job.Options{
			Name: "All Reduce", Image: "i", Workers: "2", GPUs: "8", CPU: "50", Memory: "200Gi", Shm: "2Gi", WorkingDir: "/workspace",
			Data: []string{"user-susan:/training", "user-susan:/again", "other:/data"}, Annotations: []string{"k8s.aliyun.com/eni=true"}, Labels: []string{"team=vision"},
			Env: []string{"OMPI_MCA_orte_tag_output=0", "PIDS=$$ $(HOSTNAME)"}, Retries: "3", CleanPodPolicy: "All",
		}, "mpirun -np 16 --bind-to none python train.py --pid $$ --host $(hostname)", inPod},
		"outside": {job.Options{Name: "3rd", Image: "i", Slots: "4"}, "mpirun hostname", step()},
		"mpijob":  {ofMPIJob(unplaced(everything())), "mpirun python train.py", inPod},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := golden(t, name, &tc.options, tc.command, kind(t, "mpijob"), tc.id)
			var decoded kubeflow.MPIJob
			require.NoError(t, yaml.UnmarshalStrict(want, &decoded), "no field that the operator does not know")
			kubeflow.SetDefaults_MPIJob(&decoded)
			require.Empty(t, validation.ValidateMPIJob(&decoded))
		})
	}
}

// ofMPIJob sets what no other kind has.
func ofMPIJob(o job.Options) job.Options {
	o.GPUTopology, o.MountsOnLauncher, o.SSHPort, o.RestartPolicy = "true", "false", "2222", "Never"
	return o
}

// unplaced removes the options that concern no scheduler.
func unplaced(o job.Options) job.Options {
	o.AntiAffinity, o.Order = "", ""
	return o
}

// everything sets all that jobs of all kinds can have.
func everything() job.Options {
	return job.Options{
		Name: "train", Image: "img:1", Workers: "3", Slots: "2", GPUs: "8", CPU: "50", Memory: "200Gi", Shm: "2Gi", WorkingDir: "/workspace", Shell: "bash",
		Devices: []string{"vpc.amazonaws.com/efa=4"}, RDMA: "true", Env: []string{"NCCL_DEBUG=INFO"}, EnvSecrets: []string{"TOKEN=login/token"}, Data: []string{"user-susan:/training", "/mnt/nvme:/scratch"},
		Annotations: []string{"sidecar.istio.io/inject=false"}, Labels: []string{"team=vision"},
		SyncMode: "rsync", SyncSource: "rsync://files/code/", SyncImage: "rsync:3", PullPolicy: "Always", PullSecrets: []string{"registry"}, ServiceAccount: "trainer",
		Selector: []string{"gpu=v100"}, Tolerations: []string{"gpu=yes:NoSchedule,Equal", "spot", "old:NoExecute"}, Network: "Host", HostIPC: "true", HostPID: "true",
		Gang: "True", Queue: "research", Priority: "high", Scheduler: "volcano", AntiAffinity: "worker", Order: "worker",
		TensorBoard: "true", TensorBoardImage: "tb:1", LogDir: "/training/logs", Metrics: []string{"images/sec"}, PendingTimeout: "10m", RunningTimeout: "12h", TTL: "24h", CleanPodPolicy: "All", RestartPolicy: "OnFailure", Retries: "2",
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
				o.Affinity, o.AntiAffinity, o.Order = "ps,worker", "ps;worker,chief", "ps,worker,chief"
				o.Role = job.RoleOptions{
					Replicas: []string{"ps=2", "chief=1", "evaluator=1"}, Command: []string{"ps=python ps.py"}, Image: []string{"ps=ps:1"},
					CPU: []string{"ps=8", "evaluator=1"}, Memory: []string{"ps=32Gi"}, GPUs: []string{"ps=1", "evaluator=1", "worker=4"}, Selector: []string{"ps=net=fast"},
				}
			case "mxjob":
				o.Role = job.RoleOptions{Replicas: []string{"server=2"}, CPU: []string{"scheduler=1"}}
			case "volcanojob":
				o = unplaced(o)
				o.CleanPodPolicy, o.RestartPolicy = "", "Never"
				o.Role = job.RoleOptions{Replicas: []string{"master=1", "worker=3"}, Command: []string{"master=python master.py"}, Ends: []string{"master=true"}}
			case "job":
				o = unplaced(o)
				o.Workers, o.CleanPodPolicy, o.RestartPolicy = "", "", ""
			}
			golden(t, k.Command, &o, "python train.py --pid $$", k, inPod)
		})
	}
}

// The pod group of a job without a gang asks for no resources, because operators create no pods until a group's resources are free.
func TestBuildWithoutGang(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"mpijob", "tfjob", "paddlejob"} {
		spec, err := (&job.Options{Name: "x", Image: "i", Workers: "2", GPUs: "1", Gang: "false"}).Spec(kind(t, command), "c")
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
		o.Name, o.Image = "x", "i"
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
	listens, asks = port(job.Options{SSHPort: "2222", Network: "host"}, step())
	require.Equal(t, "sh 2222", listens)
	require.Equal(t, "2222;2222;", asks)
	other := step()
	other.Node += "0"
	seen := map[string]bool{}
	for _, o := range []job.Options{{Network: "host"}, {GPUTopology: "true"}} {
		for _, id := range []job.Identity{step(), other} {
			listens, asks = port(o, id)
			require.Regexp(t, "^sh 2[0-9]{4}$", listens)
			number := strings.TrimPrefix(listens, "sh ")
			require.Equal(t, number+";"+number+";", asks)
			seen[number] = true
		}
	}
	require.Len(t, seen, 2, "two steps, two ports, whatever brings the network")
	listens, _ = port(job.Options{GPUTopology: "true", Network: "CNI"}, step())
	require.Empty(t, listens, "a network that is named stays")
}

// The user's variables go before the launcher's own, and each is there once.
func TestBuildEnv(t *testing.T) {
	t.Parallel()
	o := job.Options{Name: "x", Image: "i", Env: []string{"OMPI_MCA_orte_tag_output=0", "A=1", "A=2", "NVIDIA_VISIBLE_DEVICES=all", "GIT_SYNC_USERNAME=ada"}, SyncSource: "/r"}
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

// mpi is the job as mpi-operator reads it.
func mpi(t *testing.T, spec *job.Spec, id job.Identity) *kubeflow.MPIJob {
	t.Helper()
	made, err := job.Build(spec, id)
	require.NoError(t, err)
	var decoded kubeflow.MPIJob
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(made.Object, &decoded, true))
	return &decoded
}
