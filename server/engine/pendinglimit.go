package engine

import (
	"time"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/server/cluster"
)

// rounding is how much earlier than the run's deadline a pod's can be because Argo gives it to the pod in whole seconds.
const rounding = 2 * time.Second

// limit says when the waiting of a step ends, and what ends it: the earliest of its limits.
func (s *scene) limit(own *corev1.Pod, node string) (until time.Time, by cluster.Limit) {
	earliest := func(at time.Time, limit cluster.Limit) {
		if !at.IsZero() && (until.IsZero() || at.Before(until)) {
			until, by = at, limit
		}
	}
	run := runDeadline(own)
	earliest(run, cluster.RunDeadline)
	// A kubelet counts from when it sees the pod: a pod without a node waits beyond that.
	if most, began := own.Spec.ActiveDeadlineSeconds, own.Status.StartTime; most != nil && began != nil {
		at := began.Add(time.Duration(*most) * time.Second)
		if run.IsZero() || at.Before(run.Add(-rounding)) {
			earliest(at, cluster.StepDeadline)
		}
	}
	if j := s.jobOf(node); j != nil {
		if spec := specOf(node, s.pods); spec != nil && spec.PendingTimeout > 0 {
			earliest(j.CreatedAt.Add(spec.PendingTimeout), cluster.PendingTimeout)
		}
	}
	return until, by
}

// runDeadline is when the run of a step's pod has to be over, as Argo tells its pods; zero when the run has no deadline.
func runDeadline(pod *corev1.Pod) time.Time {
	for i := range pod.Spec.Containers {
		for _, e := range pod.Spec.Containers[i].Env {
			if e.Name != common.EnvVarDeadline {
				continue
			}
			if at, err := time.Parse(time.RFC3339, e.Value); err == nil {
				return at
			}
		}
	}
	return time.Time{}
}
