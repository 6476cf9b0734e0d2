package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/launcher/pending"
	"github.com/argosy-ml/argosy/server/cluster"
)

// unnoticed is when a job that no operator takes up has none.
const unnoticed = 15 * time.Second

// Pending implements cluster.Source.
func (v *View) Pending(ctx context.Context, of cluster.Of, waiters []cluster.Waiter) (all []cluster.Pending, missing []cluster.Right, err error) {
	s := scene{of: of, now: time.Now()}
	found, missing, err := v.instances(ctx, of)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range found {
		s.jobs = append(s.jobs, i.Job)
	}
	var more []cluster.Right
	if s.pods, _, err = v.podsOf(ctx, of.Namespace, labels.Set{labelRunID: of.RunID}.String()); err != nil {
		return nil, nil, err
	}
	if s.events, more, err = v.eventsOf(ctx, of.Namespace); err != nil {
		return nil, nil, err
	}
	missing = append(missing, more...)
	if s.room, err = v.Overview(ctx); err != nil {
		return nil, nil, err
	}
	missing = append(missing, s.room.Missing...)
	for _, w := range waiters {
		all = append(all, s.judge(w))
	}
	return all, missing, nil
}

// eventsOf lists all events of a namespace.
func (v *View) eventsOf(ctx context.Context, namespace string) (events []corev1.Event, missing []cluster.Right, err error) {
	for o := (metav1.ListOptions{Limit: listPage}); ; {
		page, err := v.kube.CoreV1().Events(namespace).List(ctx, o)
		if apierrors.IsForbidden(err) {
			return nil, []cluster.Right{{Verb: "list", Resource: "events", Namespace: namespace}}, nil
		}
		if err != nil {
			return nil, nil, explain("list the events of the run", err)
		}
		events = append(events, page.Items...)
		if o.Continue = page.Continue; o.Continue == "" {
			return events, nil, nil
		}
	}
}

// scene is what was read of a cluster to judge what the steps of a run wait for.
type scene struct {
	of     cluster.Of
	jobs   []cluster.Job
	pods   []*corev1.Pod
	events []corev1.Event
	room   cluster.Overview
	now    time.Time
}

// judge says what a step waits for.
func (s *scene) judge(w cluster.Waiter) cluster.Pending {
	p := cluster.Pending{NodeID: w.NodeID, StepName: w.StepName, ToldBy: cluster.Object{Kind: "Workflow", Name: s.of.Workflow}}
	var verdict pending.Verdict
	var waiting []*corev1.Pod
	asked := cluster.Amounts{}
	own := s.stepPod(w)
	if own != nil {
		p.Until, p.UntilBy = s.limit(own, w.NodeID)
	}
	switch {
	case w.Type == "Suspend":
		verdict = pending.Verdict{Cause: pending.Suspended, Text: "it is suspended until a user resumes the run"}
	case own == nil:
		verdict = pending.Step(w.Waiting, w.Message)
	default:
		p.ToldBy = cluster.Object{Kind: "Pod", Name: own.Name}
		verdict, waiting = s.facts(own).Judge(), []*corev1.Pod{own}
		if j := s.jobOf(w.NodeID); own.Status.Phase == corev1.PodRunning {
			verdict, waiting = pending.Verdict{Cause: pending.JobStarting, Text: "its launcher is starting"}, nil
			if j != nil {
				verdict, p.ToldBy, waiting = s.job(j)
				if len(waiting) == 0 && j.PodGroup != nil {
					asked, p.Pods = j.PodGroup.Requested, int(j.PodGroup.MinAvailable)
				}
			}
		}
		// What the program in the pod says has numbers, and who has what is missing.
		if said, stated := pending.Of(own, common.MainContainerName); stated && said != "" {
			verdict.Text = said
		}
	}
	p.Cause, p.Sentence = string(verdict.Cause), verdict.Text
	p.Since = firstTime(verdict.Since, w.Since)
	p.Pods = max(p.Pods, len(waiting))
	p.Resources = s.resources(waiting, asked, verdict)
	return p
}

func (s *scene) stepPod(w cluster.Waiter) *corev1.Pod {
	i := slices.IndexFunc(s.pods, func(pod *corev1.Pod) bool {
		return pod.Name == w.PodName && w.PodName != "" || pod.Annotations[common.AnnotationKeyNodeID] == w.NodeID && w.NodeID != ""
	})
	if i < 0 {
		return nil
	}
	return s.pods[i]
}

func (s *scene) jobOf(node string) *cluster.Job {
	i := slices.IndexFunc(s.jobs, func(j cluster.Job) bool { return j.NodeID == node && node != "" })
	if i < 0 {
		return nil
	}
	return &s.jobs[i]
}

// job says what a distributed job waits for, who says so, and which of its pods wait. What keeps a pod from starting that has to be mended
// goes before what the gang waits for, and that before pods that are about to start.
func (s *scene) job(j *cluster.Job) (pending.Verdict, cluster.Object, []*corev1.Pod) {
	itself := cluster.Object{Kind: j.Objects[0].Kind, Name: j.Name}
	if j.State == "Suspended" {
		return pending.Verdict{Cause: pending.JobSuspended, Text: "the job is suspended: waiting until it is resumed"}, itself, nil
	}
	weak := pending.Verdict{Cause: pending.JobStarting, Text: "its pods are about to be created", Since: j.CreatedAt}
	by := itself
	var waiting []*corev1.Pod
	var strong []pending.Verdict
	var sayers []cluster.Object
	for _, pod := range s.pods {
		if !slices.ContainsFunc(j.Workers, func(w cluster.Worker) bool { return w.Pod == pod.Name }) || pod.Status.Phase != corev1.PodPending {
			continue
		}
		waiting = append(waiting, pod)
		v := s.facts(pod).Judge()
		switch v.Cause {
		case "":
		case pending.Starting, pending.GangIncomplete:
			weak, by = v, cluster.Object{Kind: "Pod", Name: pod.Name}
		default:
			strong, sayers = append(strong, v), append(sayers, cluster.Object{Kind: "Pod", Name: pod.Name})
		}
	}
	if len(strong) > 0 {
		return strong[0], sayers[0], waiting
	}
	if g := j.PodGroup; g != nil {
		if v := s.group(g).Judge(); v.Cause != "" && v.Cause != pending.QueueTurn {
			return v, cluster.Object{Kind: "PodGroup", Name: g.Name}, waiting
		} else if v.Cause != "" {
			weak, by = v, cluster.Object{Kind: "PodGroup", Name: g.Name}
		}
	}
	for _, e := range s.eventsFor(func(o *corev1.ObjectReference) bool { return o.Name == j.Name && o.Kind == itself.Kind }) {
		if v := pending.Refused(e.Message); e.Type == corev1.EventTypeWarning && v.Cause != "" {
			return v, itself, waiting
		}
	}
	if j.State == "Created" && s.now.Sub(j.CreatedAt) > unnoticed {
		return pending.Verdict{Cause: pending.OperatorMissing, Text: "no operator takes the " + j.Kind + " up: is its operator installed and running?", Since: j.CreatedAt}, itself, waiting
	}
	return weak, by, waiting
}

func (s *scene) group(g *cluster.PodGroup) pending.Group {
	state := ""
	if len(s.room.Queues) > 0 {
		state = pending.Missing
		for _, q := range s.room.Queues {
			if q.Name == g.Queue {
				state = q.State
			}
		}
	}
	return pending.Group{
		Phase: g.Phase, Queue: g.Queue, MinMember: int(g.MinAvailable), Message: g.Message, Since: g.CreatedAt, QueueState: state,
		Events: s.eventsFor(func(o *corev1.ObjectReference) bool { return o.Kind == "PodGroup" && o.Name == g.Name }),
	}
}

// facts are all that the cluster tells of a pod.
func (s *scene) facts(pod *corev1.Pod) pending.Facts {
	claims := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			claims[v.PersistentVolumeClaim.ClaimName] = true
		case v.Ephemeral != nil:
			claims[pod.Name+"-"+v.Name] = true
		}
	}
	ready := true
	for _, n := range s.room.Nodes {
		ready = ready && (n.Name != pod.Spec.NodeName || n.Ready)
	}
	return pending.Facts{Pod: pod, Main: common.MainContainerName, Ready: ready, Now: s.now, Events: s.eventsFor(func(o *corev1.ObjectReference) bool {
		switch o.Kind {
		case "Pod":
			return o.Name == pod.Name && (o.UID == "" || pod.UID == "" || o.UID == pod.UID)
		case "PersistentVolumeClaim":
			return claims[o.Name]
		}
		return false
	})}
}

func (s *scene) eventsFor(of func(*corev1.ObjectReference) bool) (events []corev1.Event) {
	for i := range s.events {
		if of(&s.events[i].InvolvedObject) {
			events = append(events, s.events[i])
		}
	}
	return events
}

// resources compares what pods ask for with what nodes that take pods have free. Of a gang without pods the sum alone is known.
func (s *scene) resources(pods []*corev1.Pod, asked cluster.Amounts, verdict pending.Verdict) (all []cluster.PendingResource) {
	largest := cluster.Amounts{}
	for _, pod := range pods {
		need := capacity.Requests(&pod.Spec)
		asked.Add(need)
		for name, n := range need {
			largest[name] = max(largest[name], n)
		}
	}
	for name, n := range asked {
		lacking := slices.Contains(verdict.Lacking, name) || name == "pods" && verdict.Cause == pending.TooManyPods
		if name == "pods" && !lacking {
			continue
		}
		r := cluster.PendingResource{Resource: name, Asked: n, LargestAsked: largest[name], Lacking: lacking}
		if s.room.Nodes != nil {
			r.Free, r.LargestFree = new(float64), new(float64)
			for _, node := range s.room.Nodes {
				if node.Ready && node.Schedulable {
					*r.Free += node.Free(name)
					*r.LargestFree = max(*r.LargestFree, node.Free(name))
				}
			}
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b cluster.PendingResource) int { return cmp.Compare(a.Resource, b.Resource) })
	return all
}
