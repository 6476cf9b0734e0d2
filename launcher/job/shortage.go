package job

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/pending"
)

// shortage is what schedulers say is missing for a job's pods to be placed.
type shortage struct {
	names []string // of the resources; empty when they do not tell
	none  bool     // some pod has no place
	gang  bool     // all pods are placed together or none is
	users string   // who has what is missing
	other string   // what else keeps nodes from taking a pod
}

// shortageOf reads what schedulers said; nil when it is not room that is missing.
func shortageOf(said []string) *shortage {
	var s shortage
	for _, message := range said {
		size := pending.Gang(message)
		s.none, s.gang = s.none || size > 0, s.gang || size > 1
		s.other = cmp.Or(s.other, pending.Causes(message))
		for _, name := range pending.Lacking(message) {
			if !slices.Contains(s.names, name) {
				s.names = append(s.names, name)
			}
		}
	}
	if !s.none && len(s.names) == 0 {
		return nil
	}
	slices.Sort(s.names)
	return &s
}

// text says what the job needs, and who has it.
func (s *shortage) text(spec *Spec) string {
	names := s.names
	if len(names) == 0 {
		names = []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), gpuResource}
	}
	var roles []string
	for _, r := range spec.Roles {
		if want := r.wants(names, spec.GPUTopology); len(want) > 0 && r.Replicas > 0 {
			role := fmt.Sprintf("%d %s with %s", r.Replicas, plural(r.Replicas, r.Name), strings.Join(want, " and "))
			if r.Replicas > 1 {
				role += " each"
			}
			roles = append(roles, role)
		}
	}
	text := "needs " + cmp.Or(strings.Join(roles, " and "), fmt.Sprintf("room for %d pods", spec.Pods()))
	if s.gang && spec.Pods() > 1 {
		text += " at once"
	}
	switch {
	case s.users != "":
		return text + "; " + s.users
	case len(s.names) > 0:
		return text + "; the cluster has too little " + strings.Join(s.names, " and ") + " free"
	case s.other != "":
		return text + "; no node takes one (" + s.other + ")"
	}
	return text + "; the cluster has no room for that yet"
}

// scarce is the resource to ask for who has it: one that is missing, or else what clusters have least of.
func (s *shortage) scarce(spec *Spec) string {
	switch {
	case len(s.names) > 0:
		return s.names[0]
	case slices.ContainsFunc(spec.Roles, func(r Role) bool { return r.GPUs > 0 }) && !spec.GPUTopology:
		return gpuResource
	}
	return string(corev1.ResourceCPU)
}

// wants says how much of these resources each pod of the role asks for.
func (r *Role) wants(names []string, linked bool) (amounts []string) {
	gpus := gpuResource
	if linked {
		gpus = linkedGPUs
	}
	for _, name := range names {
		q := map[string]resource.Quantity{
			string(corev1.ResourceCPU): r.CPU, string(corev1.ResourceMemory): r.Memory, gpus: *resource.NewQuantity(int64(r.GPUs), resource.DecimalSI),
		}[name]
		if !q.IsZero() {
			amounts = append(amounts, pending.Amount(name, q))
		}
	}
	return amounts
}

// usersOf says which other jobs and workflows of the namespace have how much of a resource, those with the most first.
func usersOf(name string, pods []corev1.Pod, own map[string]bool) string {
	const most = 3
	sums, all := map[string]resource.Quantity{}, resource.Quantity{}
	for _, p := range pods {
		if own[p.Name] || p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		sum := sums[userOf(&p)]
		for _, c := range p.Spec.Containers {
			q := c.Resources.Requests[corev1.ResourceName(name)]
			sum.Add(q)
			all.Add(q)
		}
		if !sum.IsZero() {
			sums[userOf(&p)] = sum
		}
	}
	if all.IsZero() {
		return ""
	}
	users := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		x, y := sums[a], sums[b]
		return cmp.Or(y.Cmp(x), cmp.Compare(a, b))
	})
	more := ""
	if n := len(users); n > most {
		users, more = users[:most], fmt.Sprintf(" and %d more", n-most)
	}
	verb := "are"
	if all.CmpInt64(1) == 0 || strings.HasSuffix(pending.Amount(name, all), "memory") {
		verb = "is"
	}
	return fmt.Sprintf("%s %s in use by %s%s", pending.Amount(name, all), verb, strings.Join(users, ", "), more)
}

// userOf names who a pod works for: its job, its workflow, or itself.
func userOf(p *corev1.Pod) string {
	for _, label := range []string{"training.kubeflow.org/job-name", "volcano.sh/job-name", labelJobSet, "batch.kubernetes.io/job-name", "workflows.argoproj.io/workflow"} {
		if name := p.Labels[label]; name != "" {
			return name
		}
	}
	return p.Name
}

// users names the pods that hold what the job needs. Errors are ignored: the rest of the sentence is useful without it.
func (l *Launcher) users(ctx context.Context, s state, name string) string {
	list, err := l.Pods.List(ctx, metav1.ListOptions{ResourceVersion: "0"}) // what the API server has at hand will do
	if err != nil {
		return ""
	}
	own := map[string]bool{}
	for _, p := range s.pods {
		own[p.Name] = true
	}
	return usersOf(name, list.Items, own)
}
