package job

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/argosy-ml/argosy/launcher/pending"
)

// Instance is a job as the cluster has it, for people who look at it.
type Instance struct {
	State     string      // Created, Pending, Suspended, Running, Succeeded or Failed
	Message   string      // why it failed
	Attempt   int         // how often the job was made, with this
	Preempted *Preemption // the last one; nil when there was none
	PodGroup  string      // the name of its gang, if it is one
	Members   []Member
}

// Member is one pod of a job.
type Member struct {
	Pod         *corev1.Pod
	Role        string
	Index       int  // within the role
	IsRank      bool // the pod trains, and what follows is known
	First, Last int  // ranks
	Message     string
}

// PodsOf selects the pods of a job.
func (k *Kind) PodsOf(job string) labels.Selector { return k.podLabels(job).AsSelector() }

// Look reads what a job and its pods say. The spec tells the ranks of the pods; nil when it is not known any more.
func (k *Kind) Look(job *unstructured.Unstructured, pods []*corev1.Pod, spec *Spec) Instance {
	s := k.read(job)
	i := Instance{Message: summary(s.reason, s.message), Attempt: attempt(job), Preempted: preemptionOf(job), PodGroup: k.podGroup(job)}
	for _, pod := range pods {
		i.Members = append(i.Members, k.member(pod, spec))
	}
	slices.SortFunc(i.Members, func(a, b Member) int {
		return cmp.Or(boolOrder(b.IsRank)-boolOrder(a.IsRank), cmp.Compare(a.First, b.First), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index),
			a.Pod.CreationTimestamp.Compare(b.Pod.CreationTimestamp.Time))
	})
	switch {
	case s.failed:
		i.State = "Failed"
	case s.succeeded:
		i.State = "Succeeded"
	case job.GetDeletionTimestamp() != nil:
		i.State = "Terminating"
	case s.suspended:
		i.State = "Suspended"
	case !s.seen:
		i.State = "Created"
	case !s.running.IsZero() || len(pods) > 0 && countPhase(pods, corev1.PodPending) == 0:
		i.State = "Running"
	default:
		i.State = "Pending"
	}
	return i
}

func (k *Kind) member(pod *corev1.Pod, spec *Spec) Member {
	m := Member{Pod: pod, Message: pending.Why(pod, k.container)}
	m.Role, m.Index = k.place(pod)
	if name, why := failedContainer(pod); why != nil {
		m.Message = "container " + name + " " + ending(why)
	}
	if m.Message == "" && pod.Status.Phase == corev1.PodFailed {
		m.Message = summary(pod.Status.Reason, pod.Status.Message)
	}
	if spec != nil {
		m.First, m.Last, m.IsRank = spec.Ranks(m.Role, m.Index)
	}
	return m
}

// Ranks are the numbers of the ranks in a pod that trains.
func (s *Spec) Ranks(role string, index int) (first, last int, ok bool) {
	before := 0
	for _, r := range s.Roles {
		switch {
		case !r.Trains:
		case r.Name == role:
			return (before + index) * s.Slots, (before+index+1)*s.Slots - 1, true
		default:
			before += r.Replicas
		}
	}
	return 0, 0, false
}

// Label marks the job of a step, and the job's pods.
func (id Identity) Label() (name, value string) { return labelNode, id.hash() }
