package job

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/argosy-ml/argosy/sdk/train"
)

// What the kinds of training-operator have in common.
// Source: https://github.com/kubeflow/trainer/blob/v1.9.3/pkg/apis/kubeflow.org/v1/common_types.go

var kubeflowV1 = schema.GroupVersion{Group: "kubeflow.org", Version: "v1"}

const (
	labelJobName      = "training.kubeflow.org/job-name"
	labelReplicaType  = "training.kubeflow.org/replica-type"
	labelReplicaIndex = "training.kubeflow.org/replica-index"
)

// training is a kind of training-operator; replicas is the field of its spec that holds the roles, types what it
// calls each of them.
func training(name, resource, container, replicas string, types map[string]string, roles func(*roles)) Kind {
	return Kind{
		Command: resource[:len(resource)-1], Name: name, Title: name,
		version: kubeflowV1, resource: resource, operator: "training-operator",
		roles: roles,
		build: func(s *Spec, id Identity) any { return trainingSpec(s, id, replicas, types, container) },
		read:  readConditions,
		podLabels: func(job string) labels.Set {
			return labels.Set{labelJobName: job}
		},
		place: func(pod *corev1.Pod) (string, int) {
			return pod.Labels[labelReplicaType], indexOf(pod.Labels[labelReplicaIndex])
		},
		container: container, cleans: true,
	}
}

// replicaSpec and the others are training-operator's types of these names, as far as the launcher needs them.
type replicaSpec struct {
	Replicas      *int32                 `json:"replicas"`
	RestartPolicy corev1.RestartPolicy   `json:"restartPolicy"`
	Template      corev1.PodTemplateSpec `json:"template"`
}

type runPolicy struct {
	CleanPodPolicy          string            `json:"cleanPodPolicy,omitempty"`
	TTLSecondsAfterFinished *int32            `json:"ttlSecondsAfterFinished,omitempty"`
	BackoffLimit            *int32            `json:"backoffLimit,omitempty"`
	SchedulingPolicy        *schedulingPolicy `json:"schedulingPolicy,omitempty"`
}

type schedulingPolicy struct {
	MinAvailable  *int32               `json:"minAvailable,omitempty"`
	MinResources  *corev1.ResourceList `json:"minResources,omitempty"`
	Queue         string               `json:"queue,omitempty"`
	PriorityClass string               `json:"priorityClass,omitempty"`
}

func trainingSpec(s *Spec, id Identity, field string, types map[string]string, container string) map[string]any {
	replicas := map[string]replicaSpec{}
	for i := range s.Roles {
		role := &s.Roles[i]
		pod := trainPod(s, id, role, container)
		pod.Spec.RestartPolicy = "" // the operator warns of one, and puts the role's in its place
		replicas[types[role.Name]] = replicaSpec{
			Replicas: ptr.To(int32(role.Replicas)), RestartPolicy: corev1.RestartPolicy(s.RestartPolicy), Template: pod,
		}
	}
	policy := runPolicy{CleanPodPolicy: s.CleanPodPolicy, TTLSecondsAfterFinished: seconds(s.TTL), SchedulingPolicy: s.gang(s.Pods())}
	if s.RestartPolicy == string(train.RestartOnFailure) {
		policy.BackoffLimit = ptr.To(int32(s.Retries) + 1) // the operator ends the job when it has counted so many restarts
	}
	if policy.CleanPodPolicy == string(train.CleanAll) {
		policy.CleanPodPolicy = string(train.CleanRunning) // until the launcher has read what the pods printed
	}
	return map[string]any{field: replicas, "runPolicy": policy}
}

// gang says how pods are placed, nil when the user did not.
func (s *Spec) gang(pods int) *schedulingPolicy {
	p := schedulingPolicy{Queue: s.Queue, PriorityClass: s.Priority}
	switch {
	case s.Gang == nil:
	case *s.Gang:
		p.MinAvailable = ptr.To(int32(pods))
	default:
		// Each pod as it finds room. The group asks for nothing: otherwise it asks for one pod's resources, of a role
		// that training-operator picks at random, and no pod is created while they are not free.
		p.MinAvailable, p.MinResources = ptr.To[int32](1), &corev1.ResourceList{}
	}
	if p == (schedulingPolicy{}) {
		return nil
	}
	return &p
}

func seconds(d *time.Duration) *int32 {
	if d == nil {
		return nil
	}
	return ptr.To(int32(d.Seconds()))
}

// readConditions reads the status of mpi-operator's and training-operator's jobs.
func readConditions(job *unstructured.Unstructured) status {
	all := readStatus[conditions](job)
	s := status{seen: len(all.Conditions) > 0, ended: all.CompletionTime.Time}
	for _, c := range all.Conditions {
		is := c.Status == metav1.ConditionTrue
		switch c.Type {
		case "Running":
			s.running = c.LastTransitionTime.Time // it has run, even when it does no more
		case "Suspended":
			s.suspended = is
		case "Succeeded":
			s.succeeded = is
		case "Failed":
			if is {
				s.failed, s.reason, s.message = true, c.Reason, c.Message
			}
		}
	}
	return s
}
