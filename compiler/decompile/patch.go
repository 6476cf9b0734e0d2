package decompile

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// patch reads what is merged into the pod. Resources with values that are known only when the pipeline runs, which the
// compiler writes there, go back to their containers.
func (r pods) patch(n graph.Node, t *object, s *scope) {
	text := t.text("podSpecPatch")
	if text == "" {
		return
	}
	p := n.Pod
	var patch map[string]any
	if json.Unmarshal([]byte(text), &patch) != nil {
		if !strings.Contains(text, "{{") {
			t.fault("podSpecPatch must be a JSON object in the DSL")
		}
		p.Patch = r.text(s, text)
		return
	}
	moved := r.moveResources(patch, "containers", s, func(name string) *graph.Container {
		if name == "main" {
			return n.Container
		}
		return containerNamed(p.Sidecars, name)
	})
	moved = r.moveResources(patch, "initContainers", s, func(name string) *graph.Container { return containerNamed(p.InitContainers, name) }) || moved
	if moved {
		text = encode(patch)
	}
	if len(patch) > 0 || !moved {
		p.Patch = r.text(s, text)
	}
}

func containerNamed(list []graph.Sidecar, name string) *graph.Container {
	for i := range list {
		if list[i].Name == name {
			return &list[i].Container
		}
	}
	return nil
}

// moveResources takes resources out of a patch.
func (r pods) moveResources(patch map[string]any, list string, s *scope, find func(string) *graph.Container) bool {
	entries, _ := patch[list].([]any)
	moved := false
	entries = slices.DeleteFunc(entries, func(e any) bool {
		entry, _ := e.(map[string]any)
		name, _ := entry["name"].(string)
		c := find(name)
		resources, _ := entry["resources"].(map[string]any)
		if c == nil || resources == nil {
			return false
		}
		for kind, into := range map[string]*[]graph.Pair{"requests": &c.Requests, "limits": &c.Limits} {
			pairs, _ := resources[kind].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(pairs)) {
				value, _ := pairs[key].(string)
				known := slices.ContainsFunc(*into, func(p graph.Pair) bool { return p.Name == key })
				if !strings.Contains(value, "{{") || known {
					continue
				}
				late := r.text(s, value)
				if len(late.Refs()) == 0 {
					continue
				}
				*into = append(*into, graph.Pair{Name: key, Value: late})
				sortPairs(*into)
				delete(pairs, key)
				moved = true
			}
			if pairs != nil && len(pairs) == 0 {
				delete(resources, kind)
			}
		}
		if len(resources) == 0 {
			delete(entry, "resources")
		}
		return len(entry) == 1
	})
	if patch[list] = entries; len(entries) == 0 {
		delete(patch, list)
	}
	return moved
}
