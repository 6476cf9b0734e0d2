package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/argosy-ml/argosy/launcher/probe"
)

// mpiJob starts its ranks itself: mpirun, in the launcher's pod, reaches the workers by ssh, and passes on what they print.
var mpiJob = Kind{
	Command: "mpijob", Name: kubeflow.Kind, Title: kubeflow.Kind,
	version: kubeflow.SchemeGroupVersion, resource: "mpijobs", operator: "mpi-operator",
	roles: func(r *roles) {
		r.add("worker", r.workers, true)
		r.ranksOfGPUs()
	},
	build: func(s *Spec, id Identity) any { return mpiSpec(s, id) },
	read:  readConditions,
	podLabels: func(job string) labels.Set {
		return labels.Set{kubeflow.OperatorNameLabel: kubeflow.OperatorName, kubeflow.JobNameLabel: job}
	},
	place: func(pod *corev1.Pod) (string, int) {
		return pod.Labels[kubeflow.JobRoleLabel], indexOf(pod.Labels[kubeflow.ReplicaIndexLabel])
	},
	container: containerLauncher, speaks: roleLauncher, oneByOne: true,
	suffix: "-launcher", waits: mpiWaits, patient: true,
}

const (
	roleLauncher      = "launcher"
	roleWorker        = "worker"
	containerLauncher = "launcher"
	containerWorker   = "worker"
	sshMount          = "/root/.ssh"

	// defaultPatience is how long the job's launcher waits for a worker's sshd when the job has no pending
	// timeout: machines with GPUs may first have to be bought and images of many gigabytes be fetched.
	defaultPatience = 6 * time.Hour
)

func mpiSpec(s *Spec, id Identity) kubeflow.MPIJobSpec {
	workers := &s.Roles[0]
	spec := kubeflow.MPIJobSpec{
		SlotsPerWorker:   ptr.To(int32(s.Slots)),
		SSHAuthMountPath: sshMount,
		// A gang scheduler that counts the launcher in would wait for ever for one that comes after the
		// workers. It asks for nothing itself, and its script waits until the workers answer.
		LauncherCreationPolicy: kubeflow.LauncherCreationPolicyAtStartup,
		MPIImplementation:      kubeflow.MPIImplementationOpenMPI,
		RunPolicy: kubeflow.RunPolicy{
			CleanPodPolicy:          ptr.To(kubeflow.CleanPodPolicy(s.CleanPodPolicy)),
			BackoffLimit:            ptr.To(int32(s.Retries)),
			TTLSecondsAfterFinished: seconds(s.TTL),
		},
		MPIReplicaSpecs: map[kubeflow.MPIReplicaType]*kubeflow.ReplicaSpec{
			// Never: a failed attempt keeps its pod and so its log.
			kubeflow.MPIReplicaTypeLauncher: {Replicas: ptr.To[int32](1), RestartPolicy: kubeflow.RestartPolicyNever, Template: mpiLauncher(s, id, workers)},
			kubeflow.MPIReplicaTypeWorker:   {Replicas: ptr.To(int32(workers.Replicas)), RestartPolicy: kubeflow.RestartPolicyNever, Template: mpiWorker(s, id, workers)},
		},
	}
	if g := s.gang(workers.Replicas + 1); g != nil {
		spec.RunPolicy.SchedulingPolicy = &kubeflow.SchedulingPolicy{MinAvailable: g.MinAvailable, MinResources: g.MinResources, Queue: g.Queue, PriorityClass: g.PriorityClass}
	}
	return spec
}

func mpiLauncher(s *Spec, id Identity, workers *Role) corev1.PodTemplateSpec {
	t := podTemplate(s, id, workers, containerLauncher)
	c := &t.Spec.Containers[0]
	patience := s.PendingTimeout
	if patience == 0 {
		patience = defaultPatience
	}
	c.Command = []string{"sh", "-c", verbatim(launcherScript), "sh", verbatim(workers.Command), strconv.Itoa(int(patience.Seconds()))}
	asked := mustHave(mpiWorker(s, id, workers).Spec.Containers[0].VolumeMounts, s.Env)
	if s.Shell != "sh" || s.Probe || asked != "" {
		c.Command = append(c.Command, verbatim(s.Shell))
	}
	if s.Probe || asked != "" {
		c.Command = append(c.Command, strconv.Itoa(s.Slots), verbatim(asked))
	}
	if s.Probe {
		for _, word := range probe.Command(s.World()) {
			c.Command = append(c.Command, verbatim(word))
		}
	}
	c.Env = mergeEnv(openMPIEnv(s, s.sshPort(id)), verbatimEnv(s.Env))
	return t
}

// mustHave has the paths of mounts and the names of variables, as words of a shell. Values stay out of it: they may be secret.
func mustHave(mounts []corev1.VolumeMount, env []corev1.EnvVar) string {
	var words []string
	for _, m := range mounts {
		words = append(words, "'"+strings.ReplaceAll(m.MountPath, "'", `'\''`)+"'")
	}
	for _, e := range env {
		words = append(words, e.Name)
	}
	return strings.Join(words, " ")
}

// sshPort is where the workers listen; 0 for where their image has its sshd. On the network of their node 22 is the node's own, and other jobs' workers have
// theirs: between the usual ports and those for NodePorts is room.
func (s *Spec) sshPort(id Identity) int {
	switch {
	case s.SSHPort > 0:
		return s.SSHPort
	case s.Network == NetworkHost:
		return 20000 + id.number(10000)
	}
	return 0
}

func mpiWorker(s *Spec, id Identity, workers *Role) corev1.PodTemplateSpec {
	t := podTemplate(s, id, workers, containerWorker)
	c := &t.Spec.Containers[0]
	c.Command = []string{"sh", "-c", verbatim(s.prepared(workerScript))}
	if port := s.sshPort(id); port > 0 {
		c.Command = append(c.Command, "sh", strconv.Itoa(port))
	}
	computes(s, workers, &t)
	if s.GPUTopology {
		t.Labels[labelLinkedJob], t.Labels[labelLinkedReplicas] = s.name(id), strconv.Itoa(workers.Replicas)
	}
	return t
}

// mpiWaits tells of the workers first: the launcher waits for them itself.
func mpiWaits(s state, spec *Spec) string {
	workers, launcher := s.of(roleWorker), s.of(roleLauncher)
	want := spec.Roles[0].Replicas
	running := countPhase(workers, corev1.PodRunning)
	if running < want && s.status.running.IsZero() {
		text := fmt.Sprintf("waiting for %d %s: %d running", want, plural(want, "worker"), running)
		if missing := want - len(workers); missing > 0 {
			text += fmt.Sprintf(", %d not created yet", missing)
		}
		return text + problems(workers)
	}
	if len(launcher) == 0 {
		return "all workers run: waiting for the job's launcher to be created"
	}
	last := launcher[len(launcher)-1]
	if last.Status.Phase == corev1.PodPending {
		return "waiting for the job's launcher" + problems([]*corev1.Pod{last})
	}
	return ""
}
