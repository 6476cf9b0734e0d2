package job

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/argosy-ml/argosy/launcher/gitsync"
	"github.com/argosy-ml/argosy/launcher/stacks"
	"github.com/argosy-ml/argosy/sdk/train"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// LabelStep of a job and its pods has the name of the step, as far as a label can.
const LabelStep = "argosy.dev/step"

const (
	labelRun  = "pipeline/runid"
	labelStep = LabelStep
	labelNode = "argosy.dev/node-id"
	// annotationWorkflow names the workflow for people who look at the job.
	annotationWorkflow = "argosy.dev/workflow"
	// annotationLauncher is the uid of the pod that created the job: a failed job
	// of an earlier pod is one whose step is being retried.
	annotationLauncher = "argosy.dev/launcher-uid"
	// annotationAttempt numbers the jobs that replaced a failed one. On a job it is the job's own number; on the launcher's
	// pod it is the newest number that the launcher began to create.
	annotationAttempt = "argosy.dev/attempt"
	// AnnotationQueue of a pod, or of a job, names its queue of Volcano.
	AnnotationQueue  = "scheduling.volcano.sh/queue-name"
	schedulerVolcano = "volcano"
	// annotationNode and annotationRole of the job's pods tell the server, which keeps their logs, whose they are: the
	// step's node in the workflow, and what the pod is in the job.
	annotationNode = "argosy.dev/node"
	annotationRole = "argosy.dev/role"

	codeRoot    = "/code"
	codeVolume  = "code"
	gpuResource = "nvidia.com/gpu"
	// linkedGPUs are those of Alibaba Cloud's scheduler that knows how GPUs are linked, and which finds the pods of a
	// job by these labels. https://www.alibabacloud.com/help/en/ack/ack-managed-and-ack-dedicated/user-guide/work-with-gpu-topology-aware-scheduling
	linkedGPUs          = "aliyun.com/gpu"
	labelLinkedJob      = "gpu-topology"
	labelLinkedReplicas = "gpu-topology-replica"
)

// trainPod is a pod of a role that runs the user's command.
func trainPod(s *Spec, id Identity, role *Role, container string) corev1.PodTemplateSpec {
	t := podTemplate(s, id, role, container)
	c := &t.Spec.Containers[0]
	c.Command = []string{verbatim(s.Shell), "-c", verbatim(role.Command)}
	if s.SilenceTimeout > 0 {
		c.Command = append([]string{"sh", "-c", verbatim(s.prepared(`exec "$@"`)), "sh"}, c.Command...)
	}
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	computes(s, role, &t)
	return t
}

// prepared has programs answer where they are, for a job that may hang, before a script goes on.
func (s *Spec) prepared(script string) string {
	if s.SilenceTimeout == 0 {
		return script
	}
	return stacks.Prepare() + script
}

// noGPUs is for pods without a limit of GPUs: the NVIDIA runtime shows every GPU of the node to images that ask for all.
var noGPUs = corev1.EnvVar{Name: "NVIDIA_VISIBLE_DEVICES", Value: "void"}

// computes gives a pod what its role needs for its work.
func computes(s *Spec, role *Role, t *corev1.PodTemplateSpec) {
	c := &t.Spec.Containers[0]
	c.Env = verbatimEnv(s.Env)
	limits := corev1.ResourceList{}
	for name, q := range map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: role.CPU, corev1.ResourceMemory: role.Memory} {
		if !q.IsZero() {
			limits[name] = q
		}
	}
	count := func(name string, n int) {
		limits[corev1.ResourceName(name)] = *resource.NewQuantity(int64(n), resource.DecimalSI)
	}
	switch {
	case role.GPUs > 0 && s.GPUTopology:
		count(linkedGPUs, role.GPUs)
	case role.GPUs > 0:
		count(gpuResource, role.GPUs)
	default:
		c.Env = mergeEnv([]corev1.EnvVar{noGPUs}, c.Env)
	}
	if role.Trains {
		for name, n := range s.Devices {
			if n > 0 {
				count(name, n)
			}
		}
		if s.RDMA {
			count("rdma/hca", 1)
			c.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"IPC_LOCK"}}}
		}
	}
	if len(limits) > 0 {
		c.Resources.Limits = limits
	}
	limitInit(t, limits)
}

// limitInit gives the containers that run first the CPU and memory of the one that works. They cost nothing, since they end before
// it starts. Without them the pod is not of the class Guaranteed, and the kubelet gives its CPUs to other pods too.
func limitInit(t *corev1.PodTemplateSpec, limits corev1.ResourceList) {
	for i := range t.Spec.InitContainers {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if q, ok := limits[name]; ok {
				c := &t.Spec.InitContainers[i]
				if c.Resources.Limits == nil {
					c.Resources.Limits = corev1.ResourceList{}
				}
				c.Resources.Limits[name] = q
			}
		}
	}
}

// podTemplate is what all pods of a job have in common.
func podTemplate(s *Spec, id Identity, role *Role, name string) corev1.PodTemplateSpec {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelNode] = id.hash()
	annotations := maps.Clone(s.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	if run := id.run(); run != "" {
		labels[labelRun] = run
		annotations[annotationNode], annotations[annotationRole] = id.Node, role.Name
		if name == containerLauncher { // which is of no role that was asked for
			annotations[annotationRole] = roleLauncher
		}
	}
	t := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
		Spec: corev1.PodSpec{
			Containers:         []corev1.Container{{Name: name, Image: role.Image, ImagePullPolicy: corev1.PullPolicy(s.ImagePullPolicy), WorkingDir: s.WorkingDir}},
			NodeSelector:       maps.Clone(role.Selector),
			Tolerations:        s.Tolerations,
			ServiceAccountName: s.ServiceAccount,
			PriorityClassName:  s.Priority,
			SchedulerName:      s.Scheduler,
			HostIPC:            s.HostIPC,
			HostPID:            s.HostPID,
		},
	}
	for _, secret := range s.ImagePullSecrets {
		t.Spec.ImagePullSecrets = append(t.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
	}
	if s.Network == NetworkHost {
		t.Spec.HostNetwork = true
		t.Spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet // else the job's own names are not found
	}
	if ptrTrue(s.Gang) {
		// For clusters whose gangs are those of the coscheduling plugin; Volcano reads the job itself.
		labels["pod-group.scheduling.sigs.k8s.io/name"] = s.name(id)
		labels["pod-group.scheduling.sigs.k8s.io/min-available"] = fmt.Sprint(s.Pods())
	}
	mounts(s, id, &t)
	return t
}

func mounts(s *Spec, id Identity, t *corev1.PodTemplateSpec) {
	mount := func(volume corev1.Volume, dir string) {
		if !slices.ContainsFunc(t.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name }) {
			t.Spec.Volumes = append(t.Spec.Volumes, volume)
		}
		c := &t.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: dir})
	}
	data := s.Data
	if !s.MountsOnLauncher && t.Spec.Containers[0].Name == containerLauncher {
		data = nil
	}
	for _, m := range data {
		mount(dataVolume(s.Data, m), m.Path)
	}
	if !s.Shm.IsZero() {
		shm := corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(s.Shm)}
		mount(corev1.Volume{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &shm}}, "/dev/shm")
	}
	if s.Code != nil {
		mount(corev1.Volume{Name: codeVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, path.Join(s.WorkingDir, "code"))
		t.Spec.InitContainers = []corev1.Container{codeContainer(s, id, t.Spec.Containers[0].Image)}
	}
}

// dataVolume is one volume per claim or folder, even when it is mounted twice.
func dataVolume(all []option.Volume, v option.Volume) corev1.Volume {
	first := slices.IndexFunc(all, func(other option.Volume) bool { return other.Claim == v.Claim && other.Host == v.Host })
	volume := corev1.Volume{Name: fmt.Sprintf("data-%d", first)}
	if v.Host != "" {
		volume.HostPath = &corev1.HostPathVolumeSource{Path: v.Host}
	} else {
		volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.Claim}
	}
	return volume
}

// codeContainerName is the init container that fetches the code.
const codeContainerName = "init-code"

// codeContainer fetches the code: from git with the launcher's own image, so that the user's needs no git; with the
// rsync of the user's image, or another that is named.
func codeContainer(s *Spec, id Identity, image string) corev1.Container {
	if s.Code.Mode == "git" {
		image = ownImage(id.Pod)
	}
	c := corev1.Container{
		Name: codeContainerName, Image: or(s.Code.Image, image), ImagePullPolicy: corev1.PullIfNotPresent,
		VolumeMounts: []corev1.VolumeMount{{Name: codeVolume, MountPath: codeRoot}},
	}
	if s.Code.Mode == "rsync" {
		c.Command = []string{"rsync", "--archive", "--", verbatim(s.Code.Source), codeRoot}
		c.Env = verbatimEnv(s.Env) // RSYNC_PASSWORD and the like
		return c
	}
	c.Env = gitEnv(s)
	if s.Code.Image == "" {
		c.Command = []string{"argosy-launcher", "git-sync"}
	} else {
		c.Env = append(c.Env, corev1.EnvVar{Name: "GIT_SYNC_ONE_TIME", Value: "true"}) // else git-sync stays and looks for changes
	}
	return c
}

func gitEnv(s *Spec) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: gitsync.EnvRepo, Value: verbatim(s.Code.Source)},
		{Name: gitsync.EnvDest, Value: gitsync.Dest(s.Code.Source)},
		{Name: gitsync.EnvRoot, Value: codeRoot},
		{Name: gitsync.EnvBranch, Value: verbatim(s.Code.Branch)},
		{Name: gitsync.EnvRevision, Value: verbatim(s.Code.Revision)},
	}
	for _, e := range verbatimEnv(s.Env) {
		if gitsync.Known(e.Name) && !slices.ContainsFunc(env, func(have corev1.EnvVar) bool { return have.Name == e.Name }) {
			env = append(env, e)
		}
	}
	return env
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
	return train.LauncherImage
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
