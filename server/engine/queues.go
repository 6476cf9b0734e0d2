package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/server/cluster"
)

// What Volcano's scheduler works with. https://volcano.sh/en/docs/queue/, https://volcano.sh/en/docs/podgroup/
var (
	volcano           = schema.GroupVersion{Group: "scheduling.volcano.sh", Version: "v1beta1"}
	queueResource     = volcano.WithResource("queues")
	podGroupResource  = volcano.WithResource("podgroups")
	waitingGroups     = []string{"", "Pending", "Inqueue"}
	podGroupCondition = "Unschedulable"
)

// volcanoQueue and volcanoGroup are Volcano's types of these names, as far as they are shown.
type volcanoQueue struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Weight               int32
		Parent               string
		Capability, Deserved corev1.ResourceList
	}
	Status struct {
		State     string
		Allocated corev1.ResourceList
	}
}

type volcanoGroup struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		MinMember    int32
		Queue        string
		MinResources corev1.ResourceList
	}
	Status struct {
		Phase                      string
		Running, Succeeded, Failed int32
		Conditions                 []struct{ Type, Status, Message string }
	}
}

// list reads all objects of a kind. The list is nil on a cluster without that kind; missing names the right that a reader lacks.
func (v *View) list(ctx context.Context, kind schema.GroupVersionResource, namespace string, o metav1.ListOptions) (items []unstructured.Unstructured, missing []cluster.Right, err error) {
	items = []unstructured.Unstructured{}
	for o.Limit = listPage; ; {
		page, err := v.dynamic.Resource(kind).Namespace(namespace).List(ctx, o)
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil, nil
		case apierrors.IsForbidden(err):
			return nil, []cluster.Right{{Verb: "list", Resource: kind.GroupResource().String(), Namespace: namespace}}, nil
		case err != nil:
			return nil, nil, explain("list "+kind.GroupResource().String(), err)
		}
		items = append(items, page.Items...)
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return items, nil, nil
		}
	}
}

func (v *View) podGroups(ctx context.Context) (groups []volcanoGroup, missing []cluster.Right, err error) {
	items, missing, err := v.list(ctx, podGroupResource, metav1.NamespaceAll, metav1.ListOptions{})
	for i := range items {
		groups = append(groups, read[volcanoGroup](&items[i]))
	}
	return groups, missing, err
}

// read makes a type of what the API says. What cannot be read is left out: it is only shown.
func read[T any](o *unstructured.Unstructured) (t T) {
	if text, err := o.MarshalJSON(); err == nil {
		_ = json.Unmarshal(text, &t)
	}
	return t
}

// queues reads Volcano's queues, with the gangs that wait in them; runs gives the run of a gang by what owns it.
func (v *View) queues(ctx context.Context, groups []volcanoGroup, runs map[types.UID]string) (queues []cluster.Queue, missing []cluster.Right, err error) {
	items, missing, err := v.list(ctx, queueResource, "", metav1.ListOptions{})
	if items != nil {
		queues = make([]cluster.Queue, 0, len(items))
	}
	for i := range items {
		q := read[volcanoQueue](&items[i])
		queue := cluster.Queue{
			Name: q.Name, State: cmp.Or(q.Status.State, "Unknown"), Parent: q.Spec.Parent, Weight: max(q.Spec.Weight, 1),
			Capability: capacity.Amounts(q.Spec.Capability), Deserved: capacity.Amounts(q.Spec.Deserved), Allocated: capacity.Amounts(q.Status.Allocated),
		}
		for _, g := range groups {
			switch group := groupOf(g, runs); {
			case cmp.Or(g.Spec.Queue, "default") != q.Name:
			case slices.Contains(waitingGroups, g.Status.Phase):
				queue.Waiting = append(queue.Waiting, group)
			case g.Status.Phase == "Running":
				queue.Running++
			}
		}
		slices.SortFunc(queue.Waiting, func(a, b cluster.PodGroup) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Name, b.Name))
		})
		queues = append(queues, queue)
	}
	return queues, missing, err
}

func groupOf(g volcanoGroup, runs map[types.UID]string) cluster.PodGroup {
	group := cluster.PodGroup{
		Namespace: g.Namespace, Name: g.Name, RunID: g.Labels[labelRunID], Phase: cmp.Or(g.Status.Phase, "Pending"), Queue: cmp.Or(g.Spec.Queue, "default"),
		MinAvailable: g.Spec.MinMember, Running: g.Status.Running, Succeeded: g.Status.Succeeded, Failed: g.Status.Failed,
		CreatedAt: g.CreationTimestamp.Time, Requested: capacity.Amounts(g.Spec.MinResources),
	}
	for _, o := range g.OwnerReferences {
		group.RunID = cmp.Or(group.RunID, runs[o.UID])
	}
	for _, c := range g.Status.Conditions {
		if c.Type == podGroupCondition && c.Status == string(corev1.ConditionTrue) && slices.Contains(waitingGroups, g.Status.Phase) {
			group.Message = c.Message
		}
	}
	return group
}

// runsByOwner tells to which run the owner of a pod belongs: a gang has the same owner.
func runsByOwner(pods []*corev1.Pod) map[types.UID]string {
	runs := map[types.UID]string{}
	for _, pod := range pods {
		for _, o := range pod.OwnerReferences {
			if id := pod.Labels[labelRunID]; id != "" {
				runs[o.UID] = id
			}
		}
	}
	return runs
}
