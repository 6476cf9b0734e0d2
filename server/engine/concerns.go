package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	containerimage "github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/pending"
	"github.com/argosy-ml/argosy/server/run"
)

// maxConcerns is how many things one check tells of, and maxAsked how many objects it looks for.
const (
	maxConcerns = 20
	maxAsked    = 50
)

// concerns finds references of steps to missing objects, invalid image names, queues that take no gangs, and steps that exceed a quota. It
// skips what the server cannot read or may not read: these are warnings and never keep a run from starting.
func (e *Engine) concerns(ctx context.Context, w *walker) (found []run.Concern) {
	bounded, cancel := context.WithTimeout(ctx, warnTimeout)
	defer cancel()
	tell := func(step, why string) {
		c := run.Concern{Step: step, Why: why}
		if len(found) < maxConcerns && !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	for _, c := range w.deadlocks {
		tell(c.Step, c.Why)
	}
	made := w.made()
	missing := map[object]bool{}
	for _, r := range w.references {
		if r.kind == kindImage {
			if _, err := containerimage.ParseReference(r.name); err != nil {
				tell(r.step, fmt.Sprintf("%q is not the name of an image: correct it in the step", r.name))
			}
			continue
		}
		if made.has(r.object) {
			continue
		}
		is, asked := missing[r.object]
		if !asked && len(missing) < maxAsked {
			is = apierrors.IsNotFound(e.look(bounded, w.wf.Namespace, r.object))
			missing[r.object] = is
		}
		if is {
			tell(r.step, fmt.Sprintf("%s %q not found: create it in namespace %s, and the step goes on", r.kind, r.name, w.wf.Namespace))
		}
	}
	for _, d := range w.found {
		if queue, err := e.recent.Queue(bounded, d.Queue); err == nil && queue != nil {
			if v := pending.Queue(queue.Name, queue.State); v.Cause != "" {
				tell(d.step, v.Text)
			}
		}
	}
	quotas, err := e.kube.CoreV1().ResourceQuotas(w.wf.Namespace).List(bounded, metav1.ListOptions{})
	if err != nil {
		return found
	}
	for _, d := range w.found {
		for i := range quotas.Items {
			if why := exceeds(d, &quotas.Items[i]); why != "" {
				tell(d.step, why)
			}
		}
	}
	return found
}

// look reads an object that a step refers to; its contents are of no concern.
func (e *Engine) look(ctx context.Context, namespace string, o object) (err error) {
	core := e.kube.CoreV1()
	switch o.kind {
	case kindSecret:
		_, err = core.Secrets(namespace).Get(ctx, o.name, metav1.GetOptions{})
	case kindConfigMap:
		_, err = core.ConfigMaps(namespace).Get(ctx, o.name, metav1.GetOptions{})
	case kindClaim:
		_, err = core.PersistentVolumeClaims(namespace).Get(ctx, o.name, metav1.GetOptions{})
	}
	return err
}

// exceeds says how a step asks for more than a quota of its namespace allows in all; empty when it does not. A quota for some pods
// only is passed over.
func exceeds(d stepDemand, quota *corev1.ResourceQuota) string {
	if len(quota.Spec.Scopes) > 0 || quota.Spec.ScopeSelector != nil {
		return ""
	}
	asks := asked(d)
	for _, of := range slices.Sorted(maps.Keys(quota.Spec.Hard)) {
		wants, allows := asks[of], quota.Spec.Hard[of]
		if wants.Cmp(allows) > 0 {
			return fmt.Sprintf("asks %s of %s; the quota %s of namespace %s allows %s: ask for less, or raise the quota",
				wants.String(), of, quota.Name, quota.Namespace, allows.String())
		}
	}
	return ""
}

// asked is what a step's pods count in a quota when all that are needed together are there.
func asked(d stepDemand) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, g := range d.Groups {
		pods := int64(g.Replicas)
		if !d.Together {
			pods = min(pods, 1)
		}
		one := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
		for i := range g.Pod.Containers {
			r := &g.Pod.Containers[i].Resources
			for of, q := range r.Limits {
				plus(one, "limits."+of, q, 1)
				if _, set := r.Requests[of]; !set { // as Kubernetes fills it in
					plus(one, "requests."+of, q, 1)
				}
			}
			for of, q := range r.Requests {
				plus(one, "requests."+of, q, 1)
			}
		}
		for _, of := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if q, ok := one["requests."+of]; ok {
				one[of] = q
			}
		}
		for of, q := range one {
			plus(total, of, q, pods)
		}
	}
	return total
}

func plus(to corev1.ResourceList, of corev1.ResourceName, q resource.Quantity, times int64) {
	sum := to[of]
	q = q.DeepCopy()
	q.Mul(times)
	sum.Add(q)
	to[of] = sum
}
