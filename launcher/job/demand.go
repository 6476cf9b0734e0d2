package job

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/launcher/pending"
)

const (
	// AnnotationScalesUp of a pod, when it is true, tells that the cluster adds nodes when pods ask for more.
	AnnotationScalesUp = "argosy.dev/scales-up"
	// AnnotationParameters of a pod names the pipeline's parameters that set resources, as a JSON object by resource.
	AnnotationParameters = "argosy.dev/parameters"

	surveyTimeout = 10 * time.Second
)

// Demand is what a job needs of a cluster. Its pods are needed together, unless the user says that each is to start as it finds
// room.
func (s *Spec) Demand(job *unstructured.Unstructured) capacity.Demand {
	d := capacity.Demand{Together: s.Gang == nil || *s.Gang, Queue: s.volcanoQueue()}
	if s.Kind == &trainJob {
		d.Groups = s.nodes()
	} else {
		spec, _, _ := unstructured.NestedMap(job.Object, "spec")
		d.Groups = groups("", spec)
	}
	if len(d.Groups) == 1 && d.Groups[0].Replicas == 1 { // the only pod needs no name
		d.Groups[0].Name = ""
	}
	return d
}

// volcanoQueue is the queue that the job names, as far as Volcano places its pods; empty otherwise. Operators have Volcano place those of their
// kinds. A job that names none may get one from its namespace or from Volcano's configuration, which the launcher does not see.
func (s *Spec) volcanoQueue() string {
	if s.Scheduler == "" && s.Kind != &singleJob {
		return s.Queue
	}
	return QueueOf(s.Scheduler, map[string]string{AnnotationQueue: s.Queue})
}

// QueueOf is the queue of Volcano that a pod with these annotations names; empty where it names none or another scheduler places it.
func QueueOf(scheduler string, annotations map[string]string) string {
	if scheduler != schedulerVolcano {
		return ""
	}
	return annotations[AnnotationQueue]
}

// groups finds the pods in a job's specification: whatever its kind, they are templates, and beside each stands how many.
func groups(name string, of map[string]any) (all []capacity.Group) {
	if template, ok := of["template"].(map[string]any); ok {
		g := capacity.Group{Name: strings.ToLower(name), Replicas: 1}
		if n, ok := of["replicas"].(int64); ok {
			g.Replicas = int(n)
		}
		if own, ok := of["name"].(string); ok {
			g.Name = own
		}
		text, err := json.Marshal(template["spec"])
		if err == nil && json.Unmarshal(text, &g.Pod) == nil {
			return []capacity.Group{g}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		switch value := of[key].(type) {
		case map[string]any:
			all = append(all, groups(key, value)...)
		case []any:
			for _, item := range value {
				if m, ok := item.(map[string]any); ok {
					all = append(all, groups(key, m)...)
				}
			}
		}
	}
	return all
}

// fits refuses a job that the cluster can never hold, before it is created. One that is there already goes on: it may run.
func (l *Launcher) fits(ctx context.Context, want *unstructured.Unstructured) error {
	if l.Survey == nil {
		return nil
	}
	d, scalesUp := l.Spec.Demand(want), false
	if l.ID.Pod != nil {
		d.Parameters, scalesUp = ParametersOf(l.ID.Pod), l.ID.Pod.Annotations[AnnotationScalesUp] == "true"
	}
	bounded, cancel := context.WithTimeout(ctx, surveyTimeout)
	defer cancel()
	queue, err := l.Survey.Queue(bounded, d.Queue)
	l.unchecked("queue "+d.Queue, "queues.scheduling.volcano.sh", err)
	short := queue.Short(d)
	if queue != nil {
		if v := pending.Queue(queue.Name, queue.State); v.Cause != "" {
			l.out.say("the job will wait: %s", v.Text)
		}
	}
	if short == nil && !scalesUp { // more nodes do not raise the limit of a queue
		short, err = l.Survey.Short(bounded, l.ID.Namespace, d)
		l.unchecked("the cluster", "nodes", err)
	}
	if short == nil {
		return nil
	}
	if job, err := l.Jobs.Get(bounded, want.GetName(), metav1.GetOptions{}); err == nil && !l.Spec.Kind.read(job).failed {
		return nil
	}
	return short
}

// unchecked says why it is not known whether the job fits into something.
func (l *Launcher) unchecked(into, kind string, err error) {
	switch {
	case apierrors.IsForbidden(err):
		l.out.say("whether the job fits into %s is not checked: the launcher's service account needs list of %s", into, kind)
	case err != nil:
		l.out.say("whether the job fits into %s is not checked: %v", into, err)
	}
}

// ParametersOf reads which of the pipeline's parameters set a pod's resources.
func ParametersOf(pod *corev1.Pod) map[corev1.ResourceName]string {
	var p map[corev1.ResourceName]string
	if err := json.Unmarshal([]byte(pod.Annotations[AnnotationParameters]), &p); err != nil {
		return nil
	}
	return p
}
