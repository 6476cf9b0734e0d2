package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
)

// instance is a distributed job of a run, with the objects that were read of it.
type instance struct {
	cluster.Job
	objects map[cluster.Object]*unstructured.Unstructured
}

// Jobs implements cluster.Source.
func (v *View) Jobs(ctx context.Context, of cluster.Of) ([]cluster.Job, []cluster.Right, error) {
	found, missing, err := v.instances(ctx, of)
	var jobs []cluster.Job
	for _, i := range found {
		jobs = append(jobs, i.Job)
	}
	return jobs, missing, err
}

// JobObject implements cluster.Source.
func (v *View) JobObject(ctx context.Context, of cluster.Of, o cluster.Object) ([]byte, error) {
	found, _, err := v.instances(ctx, of)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if object := i.objects[o]; object != nil {
			object.SetManagedFields(nil)
			return sigsyaml.Marshal(object.Object)
		}
	}
	return nil, apierr.New(apierr.NotFound, "run %s has no %s %s in the cluster now", of.RunID, o.Kind, o.Name)
}

// instances reads the distributed jobs of a run, of every kind that the cluster knows.
func (v *View) instances(ctx context.Context, of cluster.Of) ([]instance, []cluster.Right, error) {
	return v.find(ctx, of.Namespace, labels.Set{labelRunID: of.RunID}.String(), func(pods []*corev1.Pod) map[string]string {
		nodes := nodesOfPods(pods) // what is not recorded yet
		maps.Copy(nodes, nodesByLabel(of))
		return nodes
	})
}

// AllJobs implements cluster.Source.
func (v *View) AllJobs(ctx context.Context) ([]cluster.Job, []cluster.Right, error) {
	found, missing, err := v.find(ctx, v.namespace, labelRunID, nodesOfPods)
	var jobs []cluster.Job
	for _, i := range found {
		jobs = append(jobs, i.Job)
	}
	return jobs, missing, err
}

// find reads the distributed jobs that a selector of labels chooses, with their pods; nodes gives the node of a step by the label of its job.
func (v *View) find(ctx context.Context, namespace, selector string, nodes func([]*corev1.Pod) map[string]string) ([]instance, []cluster.Right, error) {
	pods, missing, err := v.podsOf(ctx, namespace, selector)
	if err != nil || missing != nil {
		return nil, missing, err
	}
	byRun := map[string][]*corev1.Pod{}
	for _, pod := range pods {
		byRun[pod.Labels[labelRunID]] = append(byRun[pod.Labels[labelRunID]], pod)
	}
	byLabel := nodes(pods)
	var found []instance
	for kind, jobs := range v.jobsOf(ctx, namespace, metav1.ListOptions{LabelSelector: selector}) {
		if jobs.err != nil {
			return nil, nil, jobs.err
		}
		missing = append(missing, jobs.missing...)
		for i := range jobs.items {
			found = append(found, instanceOf(kind, &jobs.items[i], byLabel, byRun[jobs.items[i].GetLabels()[labelRunID]]))
		}
	}
	slices.SortFunc(found, func(a, b instance) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	missing = append(missing, v.addGroups(ctx, namespace, found)...)
	slices.SortFunc(missing, func(a, b cluster.Right) int { return cmp.Compare(a.Resource, b.Resource) })
	return found, missing, nil
}

// podsOf lists the pods that a selector of labels chooses.
func (v *View) podsOf(ctx context.Context, namespace, selector string) (pods []*corev1.Pod, missing []cluster.Right, err error) {
	for o := (metav1.ListOptions{LabelSelector: selector, Limit: listPage}); ; {
		page, err := v.kube.CoreV1().Pods(namespace).List(ctx, o)
		if apierrors.IsForbidden(err) {
			return nil, []cluster.Right{{Verb: "list", Resource: "pods", Namespace: namespace}}, nil
		}
		if err != nil {
			return nil, nil, explain("list the pods of runs", err)
		}
		for i := range page.Items {
			pods = append(pods, &page.Items[i])
		}
		if o.Continue = page.Continue; o.Continue == "" {
			return pods, nil, nil
		}
	}
}

// nodesOfPods gives the nodes of steps by the labels of their jobs, as the pods of the steps tell.
func nodesOfPods(pods []*corev1.Pod) map[string]string {
	nodes := map[string]string{}
	for _, pod := range pods {
		if id := pod.Annotations[common.AnnotationKeyNodeID]; id != "" {
			_, value := job.Identity{Workflow: pod.Labels[common.LabelKeyWorkflow], Node: id}.Label()
			nodes[value] = id
		}
	}
	return nodes
}

// listed is the answer for one kind.
type listed struct {
	items   []unstructured.Unstructured
	missing []cluster.Right
	err     error
}

// jobsOf lists the jobs of a run, all kinds at once.
func (v *View) jobsOf(ctx context.Context, namespace string, o metav1.ListOptions) map[*job.Kind]listed {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		found = map[*job.Kind]listed{}
	)
	for _, kind := range job.Kinds() {
		wg.Go(func() {
			items, missing, err := v.list(ctx, kind.GVR(), namespace, o)
			mu.Lock()
			defer mu.Unlock()
			found[kind] = listed{items, missing, err}
		})
	}
	wg.Wait()
	return found
}

// nodesByLabel gives the node of a step by the label of its job.
func nodesByLabel(of cluster.Of) map[string]string {
	nodes := map[string]string{}
	for _, id := range of.Nodes {
		_, value := job.Identity{Workflow: of.Workflow, Node: id}.Label()
		nodes[value] = id
	}
	return nodes
}

func instanceOf(kind *job.Kind, o *unstructured.Unstructured, nodes map[string]string, all []*corev1.Pod) instance {
	label, _ := job.Identity{}.Label()
	i := instance{objects: map[cluster.Object]*unstructured.Unstructured{}}
	node := nodes[o.GetLabels()[label]]
	var pods []*corev1.Pod
	for _, pod := range all {
		if kind.PodsOf(o.GetName()).Matches(labels.Set(pod.Labels)) {
			pods = append(pods, pod)
		}
	}
	spec := specOf(node, all)
	seen := kind.Look(o, pods, spec)
	i.Job = cluster.Job{
		RunID: o.GetLabels()[labelRunID], NodeID: node, StepName: o.GetLabels()[job.LabelStep], Kind: kind.Title, Namespace: o.GetNamespace(), Name: o.GetName(), State: seen.State, Message: seen.Message,
		CreatedAt: o.GetCreationTimestamp().Time, Attempt: seen.Attempt, PodGroup: &cluster.PodGroup{Name: seen.PodGroup},
	}
	if spec != nil {
		world, asked := spec.World(), spec.Pods()
		i.Requested, i.RequestedPods = &world, &asked
		i.RanksOf = func(role string, index int) *cluster.Ranks {
			if first, last, ok := spec.Ranks(role, index); ok {
				return &cluster.Ranks{First: first, Last: last}
			}
			return nil
		}
	}
	if p := seen.Preempted; p != nil {
		i.Preemption = &cluster.Preemption{At: p.At, Kind: p.Kind, Name: p.Name, RunID: p.Run, Priority: p.Priority}
	}
	i.show(o)
	for _, m := range seen.Members {
		if i.Priority == nil { // all have the same
			i.PriorityClass, i.Priority = m.Pod.Spec.PriorityClassName, m.Pod.Spec.Priority
		}
		i.Workers = append(i.Workers, workerOf(m))
		if raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(m.Pod); err == nil {
			pod := &unstructured.Unstructured{Object: raw}
			pod.SetAPIVersion("v1")
			pod.SetKind("Pod")
			i.show(pod)
		}
	}
	return i
}

// show adds an object to those that people can look at.
func (i *instance) show(o *unstructured.Unstructured) {
	name := cluster.Object{Kind: o.GetKind(), Name: o.GetName()}
	i.Objects, i.objects[name] = append(i.Objects, name), o
}

// specOf reads what was asked for from the pod of the step's launcher; nil when that is gone.
func specOf(node string, pods []*corev1.Pod) *job.Spec {
	for _, pod := range pods {
		if node == "" || pod.Annotations[common.AnnotationKeyNodeID] != node {
			continue
		}
		for i := range pod.Spec.Containers {
			if words := launched(&pod.Spec.Containers[i]); words != nil {
				words = slices.Clone(words)
				for w := range words {
					words[w] = inContainer.Replace(words[w])
				}
				if spec, err := job.Parse(words); err == nil {
					return spec
				}
			}
		}
	}
	return nil
}

func workerOf(m job.Member) cluster.Worker {
	pod := m.Pod
	w := cluster.Worker{
		Pod: pod.Name, Role: m.Role, Index: m.Index, State: string(pod.Status.Phase), Message: m.Message, Node: pod.Spec.NodeName, Address: pod.Status.PodIP,
		CreatedAt: pod.CreationTimestamp.Time,
	}
	if m.IsRank {
		w.Ranks = &cluster.Ranks{First: m.First, Last: m.Last}
	}
	if pod.DeletionTimestamp != nil {
		w.State = "Terminating"
	}
	for _, c := range pod.Status.ContainerStatuses {
		w.Restarts += c.RestartCount
		switch {
		case c.State.Running != nil:
			w.StartedAt = c.State.Running.StartedAt.Time
		case c.State.Terminated != nil:
			w.StartedAt, w.FinishedAt = c.State.Terminated.StartedAt.Time, c.State.Terminated.FinishedAt.Time
		}
	}
	return w
}

// addGroups finds the gangs of jobs. A job without one has none.
func (v *View) addGroups(ctx context.Context, namespace string, jobs []instance) (missing []cluster.Right) {
	if len(jobs) == 0 {
		return nil
	}
	items, missing, err := v.list(ctx, podGroupResource, namespace, metav1.ListOptions{})
	if err != nil {
		v.log.DebugContext(ctx, "the pod groups of jobs are not shown", "error", err)
	}
	for i := range jobs {
		name := jobs[i].PodGroup.Name
		jobs[i].PodGroup = nil
		for g := range items {
			// Volcano names the gang of a Job after it in one of two ways, by its version.
			if own := items[g].GetName(); own == name || own == jobs[i].Name || strings.HasPrefix(own, jobs[i].Name+"-") && ownedBy(&items[g], jobs[i].Name) {
				group := groupOf(read[volcanoGroup](&items[g]), nil)
				group.RunID = jobs[i].RunID
				jobs[i].PodGroup = &group
				jobs[i].show(&items[g])
			}
		}
	}
	return missing
}

func ownedBy(o *unstructured.Unstructured, name string) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Name == name })
}
