package engine

import (
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	sigsyaml "sigs.k8s.io/yaml"
)

// What pods refer to, as Kubernetes names it in its messages.
const (
	kindSecret    = "secret"
	kindConfigMap = "configmap"
	kindClaim     = "persistentvolumeclaim"
	kindImage     = "image"
)

// object is something that a pod refers to.
type object struct{ kind, name string }

// needed is an object that a step needs.
type needed struct {
	step string
	object
}

// refer notes what the pod of a step refers to, as far as the names are known before it runs.
func (w *walker) refer(step string, pod *corev1.PodSpec, s scope) {
	needs(pod, func(kind, name string) {
		text, known := filledIn(name, s.values)
		r := needed{step, object{kind, text}}
		if known && text != "" && !strings.Contains(text, "{{") && !slices.Contains(w.references, r) {
			w.references = append(w.references, r)
		}
	})
}

// needs gives what a pod cannot start without.
func needs(pod *corev1.PodSpec, of func(kind, name string)) {
	must := func(optional *bool) bool { return optional == nil || !*optional }
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		of(kindImage, c.Image)
		for _, from := range c.EnvFrom {
			if r := from.SecretRef; r != nil && must(r.Optional) {
				of(kindSecret, r.Name)
			}
			if r := from.ConfigMapRef; r != nil && must(r.Optional) {
				of(kindConfigMap, r.Name)
			}
		}
		for _, v := range c.Env {
			if v.ValueFrom == nil {
				continue
			}
			if r := v.ValueFrom.SecretKeyRef; r != nil && must(r.Optional) {
				of(kindSecret, r.Name)
			}
			if r := v.ValueFrom.ConfigMapKeyRef; r != nil && must(r.Optional) {
				of(kindConfigMap, r.Name)
			}
		}
	}
	for _, v := range pod.Volumes {
		if r := v.Secret; r != nil && must(r.Optional) {
			of(kindSecret, r.SecretName)
		}
		if r := v.ConfigMap; r != nil && must(r.Optional) {
			of(kindConfigMap, r.Name)
		}
		if r := v.PersistentVolumeClaim; r != nil {
			of(kindClaim, r.ClaimName)
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if r := source.Secret; r != nil && must(r.Optional) {
				of(kindSecret, r.Name)
			}
			if r := source.ConfigMap; r != nil && must(r.Optional) {
				of(kindConfigMap, r.Name)
			}
		}
	}
}

// objects are those that steps make. An empty name stands for any: it is not known before the step runs.
type objects map[object]bool

func (o objects) has(one object) bool { return o[one] || o[object{kind: one.kind}] }

// made gives what steps of the Workflow make of what other steps may refer to.
func (w *walker) made() objects {
	made := objects{}
	for i := range w.wf.Spec.Templates {
		t := &w.wf.Spec.Templates[i]
		if t.Resource == nil || t.Resource.Action == "delete" || t.Resource.Action == "get" {
			continue
		}
		for _, o := range w.makes(t) {
			made[o] = true
		}
	}
	return made
}

func (w *walker) makes(t *wfv1.Template) []object {
	var head struct {
		Kind     string
		Metadata struct{ Name string }
	}
	text, known := filledIn(t.Resource.Manifest, w.globals.values)
	if err := sigsyaml.Unmarshal([]byte(text), &head); err != nil || strings.Contains(head.Kind, "{{") || head.Kind == "" {
		return []object{{kind: kindSecret}, {kind: kindConfigMap}, {kind: kindClaim}} // it may be anything
	}
	o := object{strings.ToLower(head.Kind), head.Metadata.Name}
	if !known && strings.Contains(o.name, "{{") {
		o.name = ""
	}
	return []object{o}
}
