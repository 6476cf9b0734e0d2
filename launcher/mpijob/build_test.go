package mpijob_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"

	"github.com/argosy-ml/argosy/launcher/mpijob"
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

func step() mpijob.Identity {
	return mpijob.Identity{Namespace: "kubeflow", Workflow: "mpi-run-x7k2p", Node: "mpi-run-x7k2p-123"}
}

// The goldens are what the launcher submits; the operator's own code must accept them.
func TestBuild(t *testing.T) {
	t.Parallel()
	inPod := step()
	inPod.Pod = ownPod("pod-uid")
	for name, tc := range map[string]struct {
		options mpijob.Options
		command string
		id      mpijob.Identity
	}{
		"laptop": {mpijob.Options{
			Name: "all-reduce", Image: "uber/horovod:0.13.11-tf1.10.0-torch0.4.0-py3.5", Workers: "2", GPUs: "0", CPU: "2", Memory: "10Gi",
			Env: []string{"NCCL_DEBUG=INFO", "GIT_SYNC_BRANCH=cnn_tf_v1.9_compatible"}, Data: []string{""},
			SyncMode: "git", SyncSource: "/srv/git/benchmarks.git", Metrics: []string{"images/sec"},
		}, "mpirun python code/benchmarks/train.py", inPod},
		"gpus": {mpijob.Options{
			Name: "All Reduce", Image: "i", Workers: "2", GPUs: "8", CPU: "50", Memory: "200Gi", Shm: "2Gi", WorkingDir: "/workspace",
			Data: []string{"user-susan:/training", "user-susan:/again", "other:/data"}, Annotations: []string{"k8s.aliyun.com/eni=true"}, Labels: []string{"team=vision"},
			Env: []string{"OMPI_MCA_orte_tag_output=0", "PIDS=$$ $(HOSTNAME)"}, Retries: "3", CleanPodPolicy: "All",
		}, "mpirun -np 16 --bind-to none python train.py --pid $$ --host $(hostname)", inPod},
		"outside": {mpijob.Options{Name: "3rd", Image: "i", Slots: "4"}, "mpirun hostname", step()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := tc.options.Spec(tc.command)
			require.NoError(t, err)
			job := mpijob.Build(spec, tc.id)
			got, err := yaml.Marshal(job)
			require.NoError(t, err)
			file := filepath.Join("testdata", name+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(file, got, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(string(want), string(got)))

			var decoded kubeflow.MPIJob
			require.NoError(t, yaml.UnmarshalStrict(want, &decoded), "no field that the operator does not know")
			kubeflow.SetDefaults_MPIJob(&decoded)
			require.Empty(t, validation.ValidateMPIJob(&decoded))
		})
	}
}

// The user's variables go before the launcher's own, and each is there once.
func TestBuildEnv(t *testing.T) {
	t.Parallel()
	o := mpijob.Options{Name: "x", Image: "i", Env: []string{"OMPI_MCA_orte_tag_output=0", "A=1", "A=2", "NVIDIA_VISIBLE_DEVICES=all", "GIT_SYNC_USERNAME=ada"}, SyncSource: "/r"}
	spec, err := o.Spec("c")
	require.NoError(t, err)
	job := mpijob.Build(spec, step())
	for kind, want := range map[kubeflow.MPIReplicaType]map[string]string{
		kubeflow.MPIReplicaTypeLauncher: {"OMPI_MCA_orte_tag_output": "0", "A": "2", "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_prte_default_hostfile": "/etc/mpi/hostfile"},
		kubeflow.MPIReplicaTypeWorker:   {"A": "2", "NVIDIA_VISIBLE_DEVICES": "all"},
	} {
		got := map[string]string{}
		for _, e := range job.Spec.MPIReplicaSpecs[kind].Template.Spec.Containers[0].Env {
			_, twice := got[e.Name]
			require.False(t, twice, "%s is set twice", e.Name)
			got[e.Name] = e.Value
		}
		for name, value := range want {
			require.Equal(t, value, got[name], "%s of the %s", name, kind)
		}
	}
	init := job.Spec.MPIReplicaSpecs[kubeflow.MPIReplicaTypeWorker].Template.Spec.InitContainers[0]
	require.Equal(t, mpijob.DefaultImage, init.Image)
	require.Contains(t, init.Env, corev1.EnvVar{Name: "GIT_SYNC_USERNAME", Value: "ada"})
}
