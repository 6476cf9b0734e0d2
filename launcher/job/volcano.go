package job

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// volcanoJob has tasks of any names. Its plug-ins give the pods each other's names (svc), their number (env) and
// keys for ssh. It ends when all its pods have, or those of a task that ends it.
// Source: https://volcano.sh/en/docs/vcjob/
var volcanoJob = Kind{
	Command: "volcanojob", Name: "Job", Title: "Volcano Job",
	version: schema.GroupVersion{Group: "batch.volcano.sh", Version: "v1alpha1"}, resource: "jobs", operator: "Volcano",
	roles: func(r *roles) {
		if len(r.order) == 0 {
			r.add("worker", r.workers, true)
		}
		for _, name := range r.order {
			r.add(name, 1, true)
		}
		r.ranks(1)
	},
	build: func(s *Spec, id Identity) any { return volcanoSpec(s, id) },
	read:  readVolcano,
	podLabels: func(job string) labels.Set {
		return labels.Set{"volcano.sh/job-name": job}
	},
	place: func(pod *corev1.Pod) (string, int) {
		return pod.Annotations["volcano.sh/task-spec"], indexOf(pod.Annotations["volcano.sh/task-index"])
	},
	container: containerMain,
}

const containerMain = "main"

type volcanoJobSpec struct {
	SchedulerName           string              `json:"schedulerName"`
	MinAvailable            int                 `json:"minAvailable"`
	Queue                   string              `json:"queue,omitempty"`
	PriorityClassName       string              `json:"priorityClassName,omitempty"`
	Plugins                 map[string][]string `json:"plugins"`
	Policies                []volcanoPolicy     `json:"policies"`
	TTLSecondsAfterFinished *int32              `json:"ttlSecondsAfterFinished,omitempty"`
	Tasks                   []volcanoTask       `json:"tasks"`
}

type volcanoPolicy struct {
	Event  string `json:"event"`
	Action string `json:"action"`
}

type volcanoTask struct {
	Name     string                 `json:"name"`
	Replicas int                    `json:"replicas"`
	Policies []volcanoPolicy        `json:"policies,omitempty"`
	Template corev1.PodTemplateSpec `json:"template"`
}

func volcanoSpec(s *Spec, id Identity) volcanoJobSpec {
	spec := volcanoJobSpec{
		SchedulerName: or(s.Scheduler, schedulerVolcano), MinAvailable: s.Pods(), Queue: s.Queue, PriorityClassName: s.Priority,
		Plugins: map[string][]string{"svc": {}, "env": {}, "ssh": {}},
		// The job fails with its first pod, and the launcher starts it again if it may. What has ended keeps its log.
		Policies:                []volcanoPolicy{{"PodFailed", "AbortJob"}, {"PodEvicted", "AbortJob"}},
		TTLSecondsAfterFinished: seconds(s.TTL),
	}
	if s.Gang != nil && !*s.Gang {
		spec.MinAvailable = 1
	}
	for i := range s.Roles {
		role := &s.Roles[i]
		task := volcanoTask{Name: role.Name, Replicas: role.Replicas, Template: trainPod(s, id, role, containerMain)}
		if role.Ends {
			task.Policies = []volcanoPolicy{{"TaskCompleted", "CompleteJob"}}
		}
		spec.Tasks = append(spec.Tasks, task)
	}
	return spec
}

// readVolcano reads the status of a Volcano Job.
func readVolcano(job *unstructured.Unstructured) status {
	all := readStatus[struct {
		State struct {
			Phase, Reason, Message string
			LastTransitionTime     metav1.Time
		}
		Conditions []struct {
			Status             string
			LastTransitionTime metav1.Time
		}
	}](job)
	s := status{seen: all.State.Phase != ""}
	for _, c := range all.Conditions {
		if c.Status == "Running" && s.running.IsZero() {
			s.running = c.LastTransitionTime.Time
		}
	}
	switch phase := all.State.Phase; {
	case phase == "Completed":
		s.succeeded, s.ended = true, all.State.LastTransitionTime.Time
	case slices.Contains([]string{"Failed", "Aborted", "Terminated"}, phase):
		s.failed, s.ended = true, all.State.LastTransitionTime.Time
		s.reason, s.message = or(all.State.Reason, phase), all.State.Message
	}
	return s
}
