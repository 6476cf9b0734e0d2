// Package trainer holds what the launcher makes of a TrainJob against Kubeflow Trainer's own code.
package trainer

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"github.com/kubeflow/trainer/v2/pkg/runtime"
	"github.com/kubeflow/trainer/v2/pkg/runtime/core"
	trainertest "github.com/kubeflow/trainer/v2/pkg/util/testing"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"
)

// The launcher's TrainJob has no field that Trainer does not know, passes the validation of Trainer's webhook, and becomes a JobSet
// whose pods have all that the step asked for: with the runtime for PyTorch that Trainer brings, of the cluster and of a namespace.
func TestTrainJobBecomesJobSet(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{v1alpha1.TrainingRuntimeKind, v1alpha1.ClusterTrainingRuntimeKind} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			job := trainJob(t)
			job.Spec.RuntimeRef.Kind = ptr.To(kind)
			refused, set := made(t, job)
			require.Empty(t, refused)
			require.Equal(t, job.Name, set.Name, "the launcher finds the pods by it")
			require.Equal(t, "research", set.Annotations["scheduling.volcano.sh/queue-name"])
			require.Len(t, set.Spec.ReplicatedJobs, 1)

			nodes := set.Spec.ReplicatedJobs[0]
			require.Equal(t, "node", nodes.Name)
			require.Equal(t, []int32{3, 3}, []int32{*nodes.Template.Spec.Parallelism, *nodes.Template.Spec.Completions})
			pod := nodes.Template.Spec.Template
			require.Equal(t, job.Spec.PodTemplateOverrides[0].Metadata.Labels, pod.Labels)
			require.Equal(t, job.Spec.PodTemplateOverrides[0].Metadata.Annotations, pod.Annotations)
			require.Equal(t, "mpi-run-x7k2p-123", pod.Annotations["argosy.dev/node"])
			require.Equal(t, map[string]string{"gpu": "v100"}, pod.Spec.NodeSelector)
			require.Equal(t, "trainer", pod.Spec.ServiceAccountName)
			require.Equal(t, []corev1.LocalObjectReference{{Name: "registry"}}, pod.Spec.ImagePullSecrets)
			require.Len(t, pod.Spec.Tolerations, 3)
			require.Len(t, pod.Spec.Volumes, 3)

			require.Len(t, pod.Spec.Containers, 1)
			node := pod.Spec.Containers[0]
			require.Equal(t, "node", node.Name)
			require.Equal(t, "img:1", node.Image)
			require.Equal(t, job.Spec.Trainer.Command, node.Command)
			require.Len(t, node.VolumeMounts, 3)
			require.Equal(t, "8", node.Resources.Limits.Name("nvidia.com/gpu", "").String())
			env := map[string]string{}
			for _, e := range node.Env {
				env[e.Name] = e.Value
			}
			require.Equal(t, map[string]string{
				"NCCL_DEBUG": "INFO", "TOKEN": "", "PET_NNODES": "3", "PET_NPROC_PER_NODE": "2", "PET_NODE_RANK": "",
				"PET_MASTER_ADDR": job.Name + "-node-0-0." + job.Name, "PET_MASTER_PORT": "29500",
			}, env)
		})
	}
}

// Trainer refuses what the launcher must not write.
func TestTrainerRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*v1alpha1.TrainJobSpec){
		"must not have reserved envs": func(s *v1alpha1.TrainJobSpec) {
			s.Trainer.Env = append(s.Trainer.Env, corev1.EnvVar{Name: "PET_NNODES", Value: "1"})
		},
		"targetJob that doesn't exist": func(s *v1alpha1.TrainJobSpec) { s.PodTemplateOverrides[0].TargetJobs[0].Name = "worker" },
		"must not have envs for": func(s *v1alpha1.TrainJobSpec) {
			s.PodTemplateOverrides[0].Spec.Containers[0].Env = s.Trainer.Env
		},
		"must be created before": func(s *v1alpha1.TrainJobSpec) { s.RuntimeRef.Name = "horovod" },
	} {
		job := trainJob(t)
		change(&job.Spec)
		refused, _ := made(t, job)
		require.Contains(t, refused, says)
	}
}

// trainJob is the launcher's golden file.
func trainJob(t *testing.T) *v1alpha1.TrainJob {
	t.Helper()
	text, err := os.ReadFile("../../../launcher/job/testdata/trainjob.yaml")
	require.NoError(t, err)
	var job v1alpha1.TrainJob
	require.NoError(t, yaml.UnmarshalStrict(text, &job))
	return &job
}

// made is what Trainer has against a job, or the JobSet that it makes of it.
func made(t *testing.T, job *v1alpha1.TrainJob) (refused string, set jobset.JobSet) {
	t.Helper()
	objects := trainertest.NewClientBuilder()
	ofCluster := torch(t)
	ofNamespace := &v1alpha1.TrainingRuntime{ObjectMeta: ofCluster.ObjectMeta, Spec: ofCluster.Spec}
	ofNamespace.Namespace = job.Namespace
	runtimes, err := core.New(t.Context(), objects.WithObjects(ofCluster, ofNamespace).Build(), trainertest.AsIndex(objects))
	require.NoError(t, err)
	r := runtimes[runtime.RuntimeRefToRuntimeRegistryKey(job.Spec.RuntimeRef)]
	require.NotNil(t, r, "Trainer has such runtimes")
	if _, faults := r.ValidateObjects(t.Context(), nil, job); len(faults) > 0 { // which is all that the webhook does
		return faults.ToAggregate().Error(), set
	}
	all, err := r.NewObjects(t.Context(), job)
	require.NoError(t, err)
	require.Len(t, all, 1)
	text, err := json.Marshal(all[0])
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &set))
	return "", set
}

// torch is the runtime for PyTorch of Trainer's release, under the name that the golden file has.
func torch(t *testing.T) *v1alpha1.ClusterTrainingRuntime {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubeflow/trainer/v2").Output()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "manifests/base/runtimes/torch_distributed.yaml"))
	require.NoError(t, err)
	var r v1alpha1.ClusterTrainingRuntime
	require.NoError(t, yaml.UnmarshalStrict(text, &r))
	require.Equal(t, "torch-distributed", r.Name, "the launcher's default")
	r.Name = "torch"
	return &r
}
