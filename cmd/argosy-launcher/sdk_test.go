package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

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
		Env: dsl.Env{"NCCL_DEBUG": text("INFO"), "TOKEN": dsl.Secret("login", "token")}, Annotations: map[string]dsl.Value[string]{"sidecar.istio.io/inject": text("false")}, Labels: map[string]dsl.Value[string]{"team": text("vision")},
		Rsync: train.Rsync{Source: text("rsync://files/code/"), Image: text("rsync:3")}, WorkingDir: text("/workspace"), Shell: text("bash"),
		ImagePullPolicy: "Always", ImagePullSecrets: []dsl.Value[string]{text("registry")}, ServiceAccount: text("trainer"),
		NodeSelector: map[string]dsl.Value[string]{"gpu": text("v100")},
		Tolerations:  []train.Toleration{{Key: "gpu", Value: text("yes"), Effect: "NoSchedule"}, {Key: "spot"}, {Key: "old", Effect: "NoExecute"}},
		Network:      dsl.Lit(train.Host), HostIPC: dsl.Lit(true), HostPID: dsl.Lit(true), Gang: dsl.Lit(true), Queue: text("research"), Priority: text("high"), Scheduler: text("volcano"),
		Topology:       train.Topology{AntiAffinity: [][]string{{"worker"}}, Order: []string{"worker"}},
		TensorBoard:    train.TensorBoard{Enabled: dsl.Lit(true), LogDir: text("/training/logs"), Image: text("tb:1")},
		Metrics:        []train.Metric{{Name: "images/sec", Format: train.Percentage, Reduce: train.Max}, {NameFrom: text("loss")}, {Name: "speed", Pattern: `^([\d.]+)$`}},
		PendingTimeout: dsl.Lit(10 * time.Minute), RunningTimeout: dsl.Lit(12 * time.Hour), TTL: dsl.Lit(24 * time.Hour), SilenceTimeout: dsl.Lit(30 * time.Minute), AllowFewerRanks: dsl.Lit(true), CheckImage: dsl.Lit(true), LauncherImage: text("registry:5000/launcher"), CleanPodPolicy: train.CleanAll, RestartPolicy: train.RestartOnFailure, Retries: dsl.Lit(2),
	}
}

// a job of a kind with every field set; a kind that appears twice gets its code from two places.
type kindOfJob struct {
	command string
	spec    any // a pointer to what add adds
	add     func(p *dsl.Pipeline) train.Outputs
}

// everyKind is a job of every kind.
func everyKind() []kindOfJob {
	mpi := train.MPI(everything())
	mpi.Topology, mpi.RestartPolicy = train.Topology{}, train.RestartNever
	mpi.Command, mpi.Slots = text("mpirun python train.py"), dsl.Lit(2)
	mpi.GPUTopology, mpi.MountsOnLauncher, mpi.SSHPort, mpi.Probe = dsl.Lit(true), dsl.Lit(false), dsl.Lit(2222), dsl.Lit(true)
	torch := train.PyTorch(everything())
	torch.Slots = dsl.Lit(2)
	git := torch
	git.Rsync = train.Rsync{}
	git.Git = train.Git{Repo: text("https://files/code.git"), Branch: text("main"), Revision: text("v1"), Image: text("git-sync:4")}
	xgboost, paddle, jax, single := train.XGBoost(everything()), train.Paddle(everything()), train.JAX(everything()), train.Single(everything())
	single.Workers, single.Topology, single.CleanPodPolicy, single.RestartPolicy = dsl.Value[int]{}, train.Topology{}, "", train.RestartNever
	tf := train.TF{
		Spec: everything(),
		PS: train.Role{
			Replicas: dsl.Lit(2), Command: text("python ps.py"), Image: text("ps:1"), GPUs: dsl.Lit(1), CPU: text("8"), Memory: text("32Gi"), NodeSelector: map[string]dsl.Value[string]{"net": text("fast")},
		},
		Chief: train.Role{Replicas: dsl.Lit(1)}, Evaluator: train.Role{Replicas: dsl.Lit(1), CPU: text("1"), GPUs: dsl.Lit(1)}, Worker: train.Role{GPUs: dsl.Lit(4)},
	}
	tf.Topology = train.Topology{Affinity: [][]string{{"ps", "worker"}}, AntiAffinity: [][]string{{"ps"}, {"worker", "chief"}}, Order: []string{"ps", "worker", "chief"}}
	mx := train.MX{Spec: everything(), Server: train.Role{Replicas: dsl.Lit(2)}, Scheduler: train.Role{Replicas: dsl.Lit(1), CPU: text("1")}}
	trainer := train.TrainSpec(everything())
	trainer.Runtime, trainer.Slots, trainer.Topology, trainer.Rsync = text("TrainingRuntime/torch"), dsl.Lit(2), train.Topology{}, train.Rsync{}
	trainer.RDMA, trainer.HostIPC, trainer.HostPID, trainer.Gang = dsl.Value[bool]{}, dsl.Value[bool]{}, dsl.Value[bool]{}, dsl.Value[bool]{}
	trainer.Network, trainer.Priority, trainer.Scheduler, trainer.TTL = dsl.Value[train.Network]{}, dsl.Value[string]{}, dsl.Value[string]{}, dsl.Value[time.Duration]{}
	trainer.ImagePullPolicy, trainer.CleanPodPolicy, trainer.RestartPolicy = "", "", ""
	volcano := train.Volcano{Spec: everything(), Tasks: []train.Task{
		{Name: "master", Role: train.Role{Replicas: dsl.Lit(1), Command: text("python master.py")}, Ends: true}, {Name: "worker", Role: train.Role{Replicas: dsl.Lit(3)}},
	}}
	volcano.Topology, volcano.CleanPodPolicy, volcano.RestartPolicy = train.Topology{}, "", train.RestartNever
	return []kindOfJob{
		{"mpijob", &mpi, func(p *dsl.Pipeline) train.Outputs { return train.MPIJob(p, "train", mpi) }},
		{"pytorchjob", &torch, func(p *dsl.Pipeline) train.Outputs { return train.PyTorchJob(p, "train", torch) }},
		{"pytorchjob", &git, func(p *dsl.Pipeline) train.Outputs { return train.PyTorchJob(p, "train", git) }},
		{"xgboostjob", &xgboost, func(p *dsl.Pipeline) train.Outputs { return train.XGBoostJob(p, "train", xgboost) }},
		{"paddlejob", &paddle, func(p *dsl.Pipeline) train.Outputs { return train.PaddleJob(p, "train", paddle) }},
		{"jaxjob", &jax, func(p *dsl.Pipeline) train.Outputs { return train.JAXJob(p, "train", jax) }},
		{"tfjob", &tf, func(p *dsl.Pipeline) train.Outputs { return train.TFJob(p, "train", tf) }},
		{"mxjob", &mx, func(p *dsl.Pipeline) train.Outputs { return train.MXJob(p, "train", mx) }},
		{"trainjob", &trainer, func(p *dsl.Pipeline) train.Outputs { return train.TrainJob(p, "train", trainer) }},
		{"volcanojob", &volcano, func(p *dsl.Pipeline) train.Outputs { return train.VolcanoJob(p, "train", volcano) }},
		{"job", &single, func(p *dsl.Pipeline) train.Outputs { return train.Job(p, "train", single) }},
	}
}

// launched is the image of the step that a job becomes, and what its launcher makes of the step's arguments.
func (k kindOfJob) launched(t *testing.T) (image string, spec *job.Spec, err error) {
	t.Helper()
	p := dsl.New("kinds")
	k.add(p)
	g, err := p.Graph()
	if err != nil {
		return "", nil, err
	}
	c := g.Nodes[0].Container
	var args []string
	for _, a := range c.Args {
		constant, ok := a.Constant()
		require.True(t, ok, "constants only")
		args = append(args, constant)
	}
	require.Equal(t, k.command, args[0])
	image, _ = c.Image.Constant()
	spec, err = job.Parse(args)
	return image, spec, err
}

// What is set in the SDK arrives in the job, to the byte, for every kind: the files are those of launcher/job.
func TestEveryFieldArrives(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range everyKind() {
		if seen[k.command] { // the same with its code from git
			continue
		}
		seen[k.command] = true
		_, spec, err := k.launched(t)
		require.NoError(t, err)
		made, err := job.Build(spec, inPod())
		require.NoError(t, err)
		got, err := yaml.Marshal(made.Object)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join("../../launcher/job/testdata", k.command+".yaml"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), k.command)
	}
	require.Len(t, seen, len(job.Kinds()))
}

// Without any one field of train's structs the job is another one, of at least one kind: a field that is added and set
// nowhere above, or that no flag carries, fails this.
func TestNoFieldIsLost(t *testing.T) {
	t.Parallel()
	matters := map[string]bool{}
	for _, k := range everyKind() {
		image, spec, err := k.launched(t)
		require.NoError(t, err, k.command)
		eachField(reflect.ValueOf(k.spec).Elem(), func(name string, field reflect.Value) {
			was := reflect.ValueOf(field.Interface())
			field.SetZero()
			otherImage, other, err := k.launched(t)
			field.Set(was)
			matters[name] = matters[name] || err != nil || image != otherImage || !reflect.DeepEqual(spec, other)
		})
	}
	for name, does := range matters {
		require.True(t, does, "%s is set to no purpose: no job of any kind is another one without it", name)
	}
	for _, name := range []string{"Spec.GPUTopology", "Git.Image", "Rsync.Image", "TensorBoard.LogDir", "Topology.Order", "Toleration.Effect", "Metric.NameFrom", "Role.NodeSelector", "Task.Ends"} {
		require.Contains(t, matters, name, "these were looked at")
	}
}

// eachField calls f with every field of a struct of package train, and of those in it, by the names of struct and field.
func eachField(v reflect.Value, f func(name string, field reflect.Value)) {
	own := reflect.TypeFor[train.Spec]().PkgPath()
	for i := range v.NumField() {
		field, of := v.Field(i), v.Type()
		if of.ConvertibleTo(reflect.TypeFor[train.Spec]()) { // MPI, PyTorch and the like
			of = reflect.TypeFor[train.Spec]()
		}
		switch t := field.Type(); {
		case t.Kind() == reflect.Struct && t.PkgPath() == own:
			eachField(field, f)
			continue
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t.Elem().PkgPath() == own:
			for j := range field.Len() {
				eachField(field.Index(j), f)
			}
		}
		f(of.Name()+"."+v.Type().Field(i).Name, field)
	}
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
