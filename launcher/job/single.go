package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// singleJob is Kubernetes' own Job, for training on one node.
var singleJob = Kind{
	Command: "job", Name: "Job", Title: "Job",
	version: batchv1.SchemeGroupVersion, resource: "jobs", operator: "the job controller",
	roles: func(r *roles) {
		r.add(containerMain, 1, true)
		r.ranks(1)
	},
	build: func(s *Spec, id Identity) any {
		spec := batchv1.JobSpec{
			BackoffLimit: ptr.To[int32](0), TTLSecondsAfterFinished: seconds(s.TTL), Template: trainPod(s, id, &s.Roles[0], containerMain),
		}
		if s.Queue != "" {
			if spec.Template.Annotations == nil {
				spec.Template.Annotations = map[string]string{}
			}
			spec.Template.Annotations[AnnotationQueue] = s.Queue // Volcano makes a gang of one for the pod
		}
		return spec
	},
	read: func(job *unstructured.Unstructured) status {
		s := status{seen: job.Object["status"] != nil}
		all := readStatus[conditions](job)
		s.ended = all.CompletionTime.Time
		for _, c := range all.Conditions {
			is := c.Status == metav1.ConditionTrue
			switch batchv1.JobConditionType(c.Type) {
			case batchv1.JobComplete:
				s.succeeded = is
			case batchv1.JobSuspended:
				s.suspended = is
			case batchv1.JobFailed:
				if is {
					s.failed, s.reason, s.message = true, c.Reason, c.Message
				}
			}
		}
		return s
	},
	podLabels: func(job string) labels.Set { return labels.Set{batchv1.JobNameLabel: job} },
	place:     func(*corev1.Pod) (string, int) { return containerMain, 0 },
	container: containerMain, suffix: "-xxxxx",
}
