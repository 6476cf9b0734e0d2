package job

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// trainJob is Kubeflow Trainer's. A runtime, which is an object of the cluster's, describes the pods; the job says how many there
// are, what they run, and what is to be put over the runtime's template. JobSet makes the pods, through Jobs.
// Source: https://github.com/kubeflow/trainer/blob/v2.1.0/pkg/apis/trainer/v1alpha1/trainjob_types.go
var trainJob = Kind{
	Command: "trainjob", Name: "TrainJob", Title: "TrainJob",
	version: schema.GroupVersion{Group: trainerGroup, Version: "v1alpha1"}, resource: "trainjobs", operator: "Kubeflow Trainer",
	roles: func(r *roles) {
		r.add(roleNode, r.workers, true)
		r.ranksOfGPUs()
	},
	build:     func(s *Spec, id Identity) any { return trainerSpec(s, id) },
	read:      readTrainJob,
	podLabels: func(job string) labels.Set { return labels.Set{labelJobSet: job} },
	place: func(pod *corev1.Pod) (string, int) {
		return pod.Labels[labelReplicatedJob], indexOf(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	},
	container: roleNode, suffix: "-node-0-00000-xxxxx",
}

const (
	trainerGroup = "trainer.kubeflow.org"
	// roleNode is what runtimes call the pods that train, and the container in them.
	roleNode = "node"
	// JobSet has the name of its TrainJob.
	labelJobSet        = "jobset.sigs.k8s.io/jobset-name"
	labelReplicatedJob = "jobset.sigs.k8s.io/replicatedjob-name"

	// inFolder runs a command in the folder that is its first argument: a TrainJob has no field for the folder.
	inFolder = `mkdir -p "$1" && cd "$1" && shift && exec "$@"`
)

// trainJobSpec and the others are Trainer's types, as far as the launcher needs them.
type trainJobSpec struct {
	RuntimeRef           runtimeRef            `json:"runtimeRef"`
	Annotations          map[string]string     `json:"annotations,omitempty"` // of the JobSet
	Trainer              trainer               `json:"trainer"`
	PodTemplateOverrides []podTemplateOverride `json:"podTemplateOverrides"`
}

type runtimeRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

type trainer struct {
	Image            string                       `json:"image"`
	Command          []string                     `json:"command"`
	Env              []corev1.EnvVar              `json:"env,omitempty"`
	NumNodes         int                          `json:"numNodes"`
	NumProcPerNode   int                          `json:"numProcPerNode"`
	ResourcesPerNode *corev1.ResourceRequirements `json:"resourcesPerNode,omitempty"`
}

type podTemplateOverride struct {
	TargetJobs []named           `json:"targetJobs"`
	Metadata   metadata          `json:"metadata"`
	Spec       podSpecOverriding `json:"spec"`
}

type named struct {
	Name string `json:"name"`
}

type metadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type podSpecOverriding struct {
	ServiceAccountName string                        `json:"serviceAccountName,omitempty"`
	NodeSelector       map[string]string             `json:"nodeSelector,omitempty"`
	Tolerations        []corev1.Toleration           `json:"tolerations,omitempty"`
	Volumes            []corev1.Volume               `json:"volumes,omitempty"`
	Containers         []containerOverride           `json:"containers,omitempty"`
	ImagePullSecrets   []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}

type containerOverride struct {
	named
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts"`
}

func trainerSpec(s *Spec, id Identity) trainJobSpec {
	pod := trainPod(s, id, &s.Roles[0], roleNode)
	c := &pod.Spec.Containers[0]
	spec := trainJobSpec{
		RuntimeRef: runtimeOf(s.Runtime),
		Trainer: trainer{
			Image: c.Image, Env: c.Env, NumNodes: s.Roles[0].Replicas, NumProcPerNode: s.Slots,
			Command: append([]string{"sh", "-c", inFolder, "sh", verbatim(s.WorkingDir)}, c.Command...),
		},
		PodTemplateOverrides: []podTemplateOverride{{
			TargetJobs: []named{{roleNode}},
			Metadata:   metadata{Labels: pod.Labels, Annotations: pod.Annotations},
			Spec: podSpecOverriding{
				ServiceAccountName: pod.Spec.ServiceAccountName, NodeSelector: pod.Spec.NodeSelector, Tolerations: pod.Spec.Tolerations,
				Volumes: pod.Spec.Volumes, ImagePullSecrets: pod.Spec.ImagePullSecrets,
			},
		}},
	}
	if len(c.Resources.Limits) > 0 {
		spec.Trainer.ResourcesPerNode = &c.Resources
	}
	if len(c.VolumeMounts) > 0 {
		spec.PodTemplateOverrides[0].Spec.Containers = []containerOverride{{named{roleNode}, c.VolumeMounts}}
	}
	if s.Queue != "" {
		spec.Annotations = map[string]string{AnnotationQueue: s.Queue} // where Trainer's plugin for Volcano looks
	}
	return spec
}

// runtimeOf reads a text of the form option.Runtime.
func runtimeOf(text string) runtimeRef {
	if name, ok := strings.CutPrefix(text, option.NamespacedRuntime); ok {
		return runtimeRef{trainerGroup, "TrainingRuntime", name}
	}
	return runtimeRef{trainerGroup, "ClusterTrainingRuntime", text}
}

// nodes are the pods of a TrainJob, as far as the job says what they ask for.
func (s *Spec) nodes() []capacity.Group {
	role := &s.Roles[0]
	return []capacity.Group{{Name: role.Name, Replicas: role.Replicas, Pod: trainPod(s, Identity{}, role, roleNode).Spec}}
}

// readTrainJob reads the status of a TrainJob, which tells of an end and of being suspended, and before counts the Jobs.
func readTrainJob(job *unstructured.Unstructured) status {
	all := readStatus[struct {
		Conditions []metav1.Condition `json:"conditions"`
		JobsStatus []any              `json:"jobsStatus"`
	}](job)
	s := status{seen: len(all.Conditions)+len(all.JobsStatus) > 0}
	for _, c := range all.Conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch c.Type {
		case "Suspended":
			s.suspended = true
		case "Complete":
			s.succeeded, s.ended = true, c.LastTransitionTime.Time
		case "Failed":
			s.failed, s.ended = true, c.LastTransitionTime.Time
			s.reason, s.message = c.Reason, c.Message
		}
	}
	return s
}
