package mpijob

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/argosy-ml/argosy/launcher/gitsync"
)

const (
	// DefaultImage is the launcher's own image, which also fetches code.
	DefaultImage = "argosyml/argosy-launcher:dev"

	labelRun  = "pipeline/runid"
	labelStep = "argosy.dev/step"
	labelNode = "argosy.dev/node-id"
	// annotationWorkflow names the workflow for people who look at the job.
	annotationWorkflow = "argosy.dev/workflow"
	// annotationLauncher is the uid of the pod that created the job: a failed job
	// of an earlier pod is one whose step is being retried.
	annotationLauncher = "argosy.dev/launcher-uid"

	containerLauncher = "launcher"
	containerWorker   = "worker"
	sshMount          = "/root/.ssh"
	codeRoot          = "/code"
	codeVolume        = "code"
	gpuResource       = "nvidia.com/gpu"

	// defaultPatience is how long the job's launcher waits for a worker's sshd when the job has no pending
	// timeout: machines with GPUs may first have to be bought and images of many gigabytes be fetched.
	defaultPatience = 6 * time.Hour
)

// Build makes the MPIJob. It holds nothing that differs from one start of the
// launcher to the next.
func Build(s *Spec, id Identity) *kubeflow.MPIJob {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelStep] = label(s.Step)
	labels[labelNode] = id.hash()
	annotations := maps.Clone(s.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationWorkflow] = id.Workflow
	var owners []metav1.OwnerReference
	if id.Pod != nil {
		annotations[annotationLauncher] = string(id.Pod.UID)
		owners = workflowOwner(id.Pod)
		if run := id.Pod.Labels[labelRun]; run != "" {
			labels[labelRun] = run
		}
	}
	return &kubeflow.MPIJob{
		TypeMeta: metav1.TypeMeta{APIVersion: kubeflow.SchemeGroupVersion.String(), Kind: kubeflow.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Name: Name(id, s.Step, s.Workers), Namespace: id.Namespace,
			Labels: labels, Annotations: annotations, OwnerReferences: owners,
		},
		Spec: kubeflow.MPIJobSpec{
			SlotsPerWorker:   ptr.To(int32(s.Slots)),
			SSHAuthMountPath: sshMount,
			// A gang scheduler that counts the launcher in would wait for ever for one that comes after the
			// workers. It asks for nothing itself, and its script waits until the workers answer.
			LauncherCreationPolicy: kubeflow.LauncherCreationPolicyAtStartup,
			MPIImplementation:      kubeflow.MPIImplementationOpenMPI,
			RunPolicy: kubeflow.RunPolicy{
				CleanPodPolicy: ptr.To(s.CleanPodPolicy),
				BackoffLimit:   ptr.To(int32(s.Retries)),
			},
			MPIReplicaSpecs: map[kubeflow.MPIReplicaType]*kubeflow.ReplicaSpec{
				// Never: a failed attempt keeps its pod and so its log.
				kubeflow.MPIReplicaTypeLauncher: {Replicas: ptr.To[int32](1), RestartPolicy: kubeflow.RestartPolicyNever, Template: launcherPod(s, id)},
				kubeflow.MPIReplicaTypeWorker:   {Replicas: ptr.To(int32(s.Workers)), RestartPolicy: kubeflow.RestartPolicyNever, Template: workerPod(s, id)},
			},
		},
	}
}

// workflowOwner is the reference to the workflow that owns the launcher's own
// pod. The job goes when the workflow goes, but the workflow does not wait for it.
func workflowOwner(pod *corev1.Pod) []metav1.OwnerReference {
	for _, o := range pod.OwnerReferences {
		if o.Kind == "Workflow" {
			o.Controller, o.BlockOwnerDeletion = ptr.To(false), ptr.To(false)
			return []metav1.OwnerReference{o}
		}
	}
	return nil
}

func launcherPod(s *Spec, id Identity) corev1.PodTemplateSpec {
	t := podTemplate(s, id, containerLauncher)
	c := &t.Spec.Containers[0]
	patience := s.PendingTimeout
	if patience == 0 {
		patience = defaultPatience
	}
	c.Command = []string{"sh", "-c", verbatim(launcherScript), "sh", verbatim(s.Command), strconv.Itoa(int(patience.Seconds()))}
	c.Env = mergeEnv(openMPIEnv(s), verbatimEnv(s.Env))
	return t
}

func workerPod(s *Spec, id Identity) corev1.PodTemplateSpec {
	t := podTemplate(s, id, containerWorker)
	c := &t.Spec.Containers[0]
	c.Command = []string{"sh", "-c", verbatim(workerScript)}
	c.Env = verbatimEnv(s.Env)
	limits := corev1.ResourceList{}
	for name, q := range map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: s.CPU, corev1.ResourceMemory: s.Memory} {
		if !q.IsZero() {
			limits[name] = q
		}
	}
	if s.GPUs > 0 {
		limits[gpuResource] = *resource.NewQuantity(int64(s.GPUs), resource.DecimalSI)
	} else {
		// Without a limit the NVIDIA runtime shows every GPU of the node to images that ask for all.
		c.Env = mergeEnv([]corev1.EnvVar{{Name: "NVIDIA_VISIBLE_DEVICES", Value: "void"}}, c.Env)
	}
	if len(limits) > 0 {
		c.Resources.Limits = limits
	}
	return t
}

// podTemplate is what launcher and workers have in common.
func podTemplate(s *Spec, id Identity, name string) corev1.PodTemplateSpec {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelNode] = id.hash()
	t := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: maps.Clone(s.Annotations)},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: name, Image: s.Image, WorkingDir: s.WorkingDir}},
		},
	}
	mount := func(volume corev1.Volume, dir string) {
		if !slices.ContainsFunc(t.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name }) {
			t.Spec.Volumes = append(t.Spec.Volumes, volume)
		}
		c := &t.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: dir})
	}
	for _, claim := range s.Data {
		mount(claimVolume(s.Data, claim), claim.Path)
	}
	if !s.Shm.IsZero() {
		shm := corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(s.Shm)}
		mount(corev1.Volume{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &shm}}, "/dev/shm")
	}
	if s.Git != nil {
		mount(corev1.Volume{Name: codeVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, path.Join(s.WorkingDir, "code"))
		t.Spec.InitContainers = []corev1.Container{gitContainer(s, id)}
	}
	return t
}

// claimVolume is one volume per claim, even when it is mounted twice.
func claimVolume(all []Claim, claim Claim) corev1.Volume {
	first := slices.IndexFunc(all, func(c Claim) bool { return c.Name == claim.Name })
	return corev1.Volume{Name: fmt.Sprintf("data-%d", first), VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
	}}
}

// gitContainer fetches the code with the launcher's own image, so that the
// user's image needs no git.
func gitContainer(s *Spec, id Identity) corev1.Container {
	env := []corev1.EnvVar{
		{Name: gitsync.EnvRepo, Value: verbatim(s.Git.Repo)},
		{Name: gitsync.EnvDest, Value: gitsync.Dest(s.Git.Repo)},
		{Name: gitsync.EnvRoot, Value: codeRoot},
		{Name: gitsync.EnvBranch, Value: verbatim(s.Git.Branch)},
		{Name: gitsync.EnvRevision, Value: verbatim(s.Git.Revision)},
	}
	for _, e := range verbatimEnv(s.Env) {
		if gitsync.Known(e.Name) && !slices.ContainsFunc(env, func(have corev1.EnvVar) bool { return have.Name == e.Name }) {
			env = append(env, e)
		}
	}
	return corev1.Container{
		Name: "init-code", Image: ownImage(id.Pod), ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{"argosy-launcher", "git-sync"}, Env: env,
		VolumeMounts: []corev1.VolumeMount{{Name: codeVolume, MountPath: codeRoot}},
	}
}

// ownImage is the image this launcher runs from, so that both are the same version.
func ownImage(pod *corev1.Pod) string {
	if pod != nil {
		for _, c := range pod.Spec.Containers {
			if c.Name == "main" {
				return c.Image
			}
		}
	}
	return DefaultImage
}

// mergeEnv puts the user's variables over ours.
func mergeEnv(ours, users []corev1.EnvVar) []corev1.EnvVar {
	merged := slices.DeleteFunc(slices.Clone(ours), func(e corev1.EnvVar) bool {
		return slices.ContainsFunc(users, func(u corev1.EnvVar) bool { return u.Name == e.Name })
	})
	return append(merged, users...)
}

// verbatim protects text from Kubernetes, which puts the values of variables for
// $(NAME) in commands and environments and makes $ of $$.
func verbatim(text string) string {
	if strings.Contains(text, "$$") || strings.Contains(text, "$(") {
		return strings.ReplaceAll(text, "$", "$$")
	}
	return text
}

func verbatimEnv(env []corev1.EnvVar) []corev1.EnvVar {
	safe := slices.Clone(env)
	for i := range safe {
		safe[i].Value = verbatim(safe[i].Value)
	}
	return safe
}
