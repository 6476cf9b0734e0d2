package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

func text(s string) dsl.Value[string] { return dsl.Lit(s) }

// everything sets all that jobs of all kinds can have, as the test of launcher/job of the same name does.
func everything() train.Spec {
	return train.Spec{
		Image: text("img:1"), Command: text("python train.py --pid $$"), Workers: dsl.Lit(3), GPUs: dsl.Lit(8), Devices: map[string]dsl.Value[int]{"vpc.amazonaws.com/efa": dsl.Lit(4)},
		RDMA: dsl.Lit(true), CPU: text("50"), Memory: text("200Gi"), SharedMemory: text("2Gi"), Data: []dsl.Value[string]{text("user-susan:/training"), text("/mnt/nvme:/scratch")},
		Env: dsl.Env{"NCCL_DEBUG": text("INFO")}, Annotations: map[string]dsl.Value[string]{"sidecar.istio.io/inject": text("false")}, Labels: map[string]dsl.Value[string]{"team": text("vision")},
		Rsync: train.Rsync{Source: text("rsync://files/code/"), Image: text("rsync:3")}, WorkingDir: text("/workspace"), Shell: text("bash"),
		ImagePullPolicy: "Always", ImagePullSecrets: []dsl.Value[string]{text("registry")}, ServiceAccount: text("trainer"),
		NodeSelector: map[string]dsl.Value[string]{"gpu": text("v100")},
		Tolerations:  []train.Toleration{{Key: "gpu", Value: text("yes"), Effect: "NoSchedule"}, {Key: "spot"}, {Key: "old", Effect: "NoExecute"}},
		Network:      dsl.Lit(train.Host), HostIPC: dsl.Lit(true), HostPID: dsl.Lit(false), Gang: dsl.Lit(true), Queue: text("research"), Priority: text("high"), Scheduler: text("volcano"),
		Topology:    train.Topology{AntiAffinity: [][]string{{"worker"}}, Order: []string{"worker"}},
		TensorBoard: train.TensorBoard{Enabled: dsl.Lit(true), LogDir: text("/training/logs")}, Metrics: []train.Metric{{Name: "images/sec"}},
		PendingTimeout: dsl.Lit(10 * time.Minute), RunningTimeout: dsl.Lit(12 * time.Hour), TTL: dsl.Lit(24 * time.Hour), CleanPodPolicy: train.CleanRunning, Retries: dsl.Lit(2),
	}
}

// What is set in the SDK arrives in the job, to the byte, for every kind: the files are those of launcher/job.
func TestEveryFieldArrives(t *testing.T) {
	t.Parallel()
	p := dsl.New("kinds")
	all := everything()
	unplaced := everything()
	unplaced.Topology, unplaced.CleanPodPolicy = train.Topology{}, ""
	mpi := unplaced
	mpi.Command, mpi.Slots, mpi.CleanPodPolicy = text("mpirun python train.py"), dsl.Lit(2), train.CleanRunning
	torch := all
	torch.Slots = dsl.Lit(2)
	single := unplaced
	single.Workers = dsl.Value[int]{}
	tf := train.TF{
		Spec:  all,
		PS:    train.Role{Replicas: dsl.Lit(2), Command: text("python ps.py"), Image: text("ps:1"), CPU: text("8"), Memory: text("32Gi"), NodeSelector: map[string]dsl.Value[string]{"net": text("fast")}},
		Chief: train.Role{Replicas: dsl.Lit(1)}, Evaluator: train.Role{Replicas: dsl.Lit(1), CPU: text("1"), GPUs: dsl.Lit(1)}, Worker: train.Role{GPUs: dsl.Lit(4)},
	}
	tf.Topology = train.Topology{Affinity: [][]string{{"ps", "worker"}}, AntiAffinity: [][]string{{"ps"}, {"worker", "chief"}}, Order: []string{"ps", "worker", "chief"}}
	steps := map[string]train.Outputs{
		"mpijob":     train.MPIJob(p, "mpi", train.MPI(mpi)),
		"tfjob":      train.TFJob(p, "tf", tf),
		"pytorchjob": train.PyTorchJob(p, "torch", train.PyTorch(torch)),
		"xgboostjob": train.XGBoostJob(p, "xgboost", train.XGBoost(all)),
		"paddlejob":  train.PaddleJob(p, "paddle", train.Paddle(all)),
		"jaxjob":     train.JAXJob(p, "jax", train.JAX(all)),
		"mxjob":      train.MXJob(p, "mx", train.MX{Spec: all, Server: train.Role{Replicas: dsl.Lit(2)}}),
		"volcanojob": train.VolcanoJob(p, "volcano", train.Volcano{Spec: unplaced, Tasks: []train.Task{
			{Name: "master", Role: train.Role{Replicas: dsl.Lit(1), Command: text("python master.py")}, Ends: true}, {Name: "worker", Role: train.Role{Replicas: dsl.Lit(3)}},
		}}),
		"job": train.Job(p, "single", train.Single(single)),
	}
	g, err := p.Graph()
	require.NoError(t, err)
	arguments := map[string][]string{}
	for _, n := range g.Nodes {
		for _, a := range n.Container.Args {
			require.Len(t, a, 1, "constants only")
			arguments[n.Name] = append(arguments[n.Name], a[0].Text)
		}
	}
	for _, kind := range job.Kinds() {
		args := arguments[steps[kind.Command].Name()]
		require.Equal(t, kind.Command, args[0])
		spec := specOf(t, kind, args[1:])
		spec.Step = "train" // what the files say
		made, err := job.Build(spec, inPod())
		require.NoError(t, err)
		got, err := yaml.Marshal(made.Object)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join("../../launcher/job/testdata", kind.Command+".yaml"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), kind.Command)
	}
}

// specOf reads a command line as the launcher does.
func specOf(t *testing.T, kind *job.Kind, args []string) *job.Spec {
	t.Helper()
	var o job.Options
	f := pflag.NewFlagSet(kind.Command, pflag.ContinueOnError)
	podFlags(f, &o)
	placeFlags(f, &o)
	lifeFlags(f, &o)
	require.NoError(t, f.Parse(args))
	require.Len(t, f.Args(), 1)
	spec, err := o.Spec(kind, f.Arg(0))
	require.NoError(t, err)
	return spec
}

// inPod is the step and the pod of launcher/job's tests.
func inPod() job.Identity {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: "pod-uid", Labels: map[string]string{"pipeline/runid": "0e3f"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "argoproj.io/v1alpha1", Kind: "Workflow", Name: "mpi-run-x7k2p", UID: "wf-uid", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
	}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry:5000/argosy-launcher:v1"}}
	return job.Identity{Namespace: "kubeflow", Workflow: "mpi-run-x7k2p", Node: "mpi-run-x7k2p-123", Pod: pod}
}
