package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/server/cluster"
)

var _ cluster.Source = (*View)(nil)

// unended selects the pods that hold what they ask for.
const unended = "status.phase!=" + string(corev1.PodSucceeded) + ",status.phase!=" + string(corev1.PodFailed)

// listPage is how many objects one answer of the API server holds.
const listPage = 500

// Overview implements cluster.Source.
func (v *View) Overview(ctx context.Context) (o cluster.Overview, err error) {
	o.ReadAt = time.Now()
	nodes, err := v.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		o.Missing, err = append(o.Missing, cluster.Right{Verb: "list", Resource: "nodes"}), nil
	}
	if err != nil {
		return o, explain("list the nodes", err)
	}
	pods, missing, err := v.pods(ctx)
	if err != nil {
		return o, err
	}
	o.Missing = append(o.Missing, missing...)
	byNode := map[string][]*corev1.Pod{}
	for _, pod := range pods {
		byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], pod)
	}
	if nodes != nil {
		for i := range nodes.Items {
			o.Nodes = append(o.Nodes, machineOf(&nodes.Items[i], byNode[nodes.Items[i].Name]))
		}
	}
	o.Waiting = holders(byNode[""])
	groups, missing, err := v.podGroups(ctx)
	if err != nil {
		return o, err
	}
	o.Missing = append(o.Missing, missing...)
	o.Queues, missing, err = v.queues(ctx, groups, runsByOwner(pods))
	o.Missing = append(o.Missing, missing...)
	o.Versions = v.versionsNow(ctx)
	return o, err
}

// pods are those that hold or wait for room: of all namespaces, or of the server's own where it may read no others.
func (v *View) pods(ctx context.Context) (pods []*corev1.Pod, missing []cluster.Right, err error) {
	list := func(namespace string) error {
		pods = nil
		for o := (metav1.ListOptions{FieldSelector: unended, Limit: listPage}); ; {
			page, err := v.kube.CoreV1().Pods(namespace).List(ctx, o)
			if err != nil {
				return err
			}
			for i := range page.Items {
				pods = append(pods, &page.Items[i])
			}
			if o.Continue = page.Continue; o.Continue == "" {
				return nil
			}
		}
	}
	err = list(metav1.NamespaceAll)
	if apierrors.IsForbidden(err) {
		missing = append(missing, cluster.Right{Verb: "list", Resource: "pods"})
		err = list(v.namespace)
	}
	return pods, missing, explain("list the pods", err)
}

func machineOf(n *corev1.Node, pods []*corev1.Pod) cluster.Node {
	node := cluster.Node{
		Name: n.Name, Schedulable: !n.Spec.Unschedulable,
		Capacity: capacity.Amounts(n.Status.Capacity), Allocatable: capacity.Amounts(n.Status.Allocatable),
		Requested: cluster.Amounts{}, Holders: holders(pods),
	}
	node.Message = "its kubelet has not reported yet"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			node.Ready, node.Message = c.Status == corev1.ConditionTrue, ""
			if !node.Ready {
				node.Message = c.Message
			}
		}
	}
	for _, t := range n.Spec.Taints {
		text := t.Key
		if t.Value != "" {
			text += "=" + t.Value
		}
		node.Taints = append(node.Taints, fmt.Sprintf("%s:%s", text, t.Effect))
	}
	for _, h := range node.Holders {
		node.Requested.Add(h.Requested)
	}
	return node
}

// holders puts the pods of a run together, and those of a namespace that no run has. Those that ask for most come first.
func holders(pods []*corev1.Pod) (all []cluster.Holder) {
	type key struct{ run, namespace string }
	places := map[key]int{}
	for _, pod := range pods {
		k := key{run: pod.Labels[labelRunID]}
		if k.run == "" {
			k.namespace = pod.Namespace
		}
		place, known := places[k]
		if !known {
			place = len(all)
			places[k] = place
			all = append(all, cluster.Holder{RunID: k.run, Namespace: k.namespace, Requested: cluster.Amounts{}})
		}
		all[place].Pods++
		all[place].Requested.Add(capacity.Requests(&pod.Spec))
	}
	slices.SortFunc(all, func(a, b cluster.Holder) int {
		return cmp.Or(cmp.Compare(b.Requested["cpu"], a.Requested["cpu"]), cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Namespace, b.Namespace))
	})
	return all
}
