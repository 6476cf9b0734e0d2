package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/cluster"
)

// Events implements cluster.Source. The API server can select the events of one object alone, and a run has many objects: the
// events of the namespace are read and those of others left out.
func (v *View) Events(ctx context.Context, of cluster.Of) ([]cluster.Event, []cluster.Right, error) {
	belongs := belonging(of)
	told := map[cluster.Event]*cluster.Event{}
	for o := (metav1.ListOptions{Limit: listPage}); ; {
		page, err := v.kube.CoreV1().Events(of.Namespace).List(ctx, o)
		if apierrors.IsForbidden(err) {
			return nil, []cluster.Right{{Verb: "list", Resource: "events", Namespace: of.Namespace}}, nil
		}
		if err != nil {
			return nil, nil, explain("list the events of the run", err)
		}
		for i := range page.Items {
			if node, ok := belongs(&page.Items[i].InvolvedObject); ok {
				tell(told, &page.Items[i], node)
			}
		}
		if o.Continue = page.Continue; o.Continue == "" {
			break
		}
	}
	var events []cluster.Event
	for _, event := range told {
		events = append(events, *event)
	}
	slices.SortFunc(events, func(a, b cluster.Event) int {
		return cmp.Or(b.LastAt.Compare(a.LastAt), b.FirstAt.Compare(a.FirstAt), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return events, nil, nil
}

// belonging finds the node of a run that an object belongs to, if any. Objects that are gone have events too: the names of
// a step's pod are known, and those of its job and of all that the job makes hold the label of the step.
func belonging(of cluster.Of) func(*corev1.ObjectReference) (node string, ok bool) {
	labels := nodesByLabel(of)
	return func(o *corev1.ObjectReference) (string, bool) {
		if o.Kind == "Workflow" {
			return "", o.Name == of.Workflow
		}
		if node, ok := of.Pods[o.Name]; ok {
			return node, true
		}
		if o.Kind == "PersistentVolumeClaim" && strings.HasPrefix(o.Name, of.Workflow+"-") {
			return "", true
		}
		for part := range strings.SplitSeq(o.Name, "-") {
			if node, ok := labels[part]; ok {
				return node, true
			}
		}
		return "", false
	}
}

// tell adds an event to those that say the same.
func tell(told map[cluster.Event]*cluster.Event, e *corev1.Event, node string) {
	key := cluster.Event{
		Object: cluster.Object{Kind: e.InvolvedObject.Kind, Name: e.InvolvedObject.Name}, NodeID: node,
		Type: e.Type, Reason: e.Reason, Message: strings.TrimSpace(e.Message), Source: cmp.Or(e.Source.Component, e.ReportingController),
	}
	first := firstTime(e.FirstTimestamp.Time, e.EventTime.Time, e.CreationTimestamp.Time)
	last := firstTime(e.LastTimestamp.Time, first)
	count := max(e.Count, 1)
	if e.Series != nil {
		count, last = max(e.Series.Count, count), firstTime(e.Series.LastObservedTime.Time, last)
	}
	have := told[key]
	if have == nil {
		event := key
		event.FirstAt, event.LastAt = first, last
		have = &event
		told[key] = have
	}
	have.Count += count
	if first.Before(have.FirstAt) {
		have.FirstAt = first
	}
	if last.After(have.LastAt) {
		have.LastAt = last
	}
}

// firstTime is the first of the times that is set.
func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
