package manifest

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/server/engine"
)

// checkPods finds faults that Argo overlooks and Kubernetes refuses when the pods are created: unknown policies, and mounts
// of undeclared volumes.
func checkPods(root *yaml.Node) []Fault {
	var faults []Fault
	spec := child(root, "spec")
	shared := append(namesIn(child(spec, "volumes")), claimsIn(child(spec, "volumeClaimTemplates"))...)
	patched := text(child(spec, "podSpecPatch")) != ""
	templates := child(spec, "templates")
	if templates == nil {
		return nil
	}
	for i, t := range templates.Content {
		t = resolved(t)
		volumes := append(namesIn(child(t, "volumes")), shared...)
		free := patched || text(child(t, "podSpecPatch")) != "" // which may bring volumes
		walk(t, "spec.templates["+key(t, i)+"]", func(n *yaml.Node, path string) {
			if policy := child(n, "imagePullPolicy"); policy != nil && child(n, "image") != nil {
				policies := []string{"", string(corev1.PullAlways), string(corev1.PullIfNotPresent), string(corev1.PullNever)}
				if !slices.Contains(policies, policy.Value) && !strings.Contains(policy.Value, "{{") {
					faults = append(faults, at(policy, path+".imagePullPolicy", fmt.Sprintf("it must be Always, IfNotPresent or Never, and is %q", policy.Value)))
				}
			}
			mounts := child(n, "volumeMounts")
			if mounts == nil || free {
				return
			}
			for j, m := range mounts.Content {
				name := child(m, "name")
				if name != nil && !slices.Contains(volumes, name.Value) && !strings.Contains(name.Value, "{{") {
					faults = append(faults, at(name, fmt.Sprintf("%s.volumeMounts[%s]", path, key(resolved(m), j)), fmt.Sprintf("there is no volume %q in the template or the workflow", name.Value)))
				}
			}
		})
	}
	return faults
}

// checkGangs warns of distributed jobs, written by hand, whose gang can never be complete.
func checkGangs(root *yaml.Node) (faults []Fault) {
	templates := child(child(root, "spec"), "templates")
	if templates == nil {
		return nil
	}
	for i, t := range templates.Content {
		made := child(child(t, "resource"), "manifest")
		if why := engine.Deadlock(text(made)); why != "" {
			f := at(made, "spec.templates["+key(resolved(t), i)+"].resource.manifest", why)
			f.Warning = true
			faults = append(faults, f)
		}
	}
	return faults
}

func namesIn(list *yaml.Node) []string {
	var names []string
	if list = resolved(list); list != nil && list.Kind == yaml.SequenceNode {
		for _, n := range list.Content {
			names = append(names, text(child(n, "name")))
		}
	}
	return names
}

func claimsIn(list *yaml.Node) []string {
	var names []string
	if list = resolved(list); list != nil && list.Kind == yaml.SequenceNode {
		for _, n := range list.Content {
			names = append(names, text(child(child(n, "metadata"), "name")))
		}
	}
	return names
}
