package bootstrap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// contentAnnotation is the hash of what a definition was made from: at a warm start, equal ones are left alone.
const contentAnnotation = "argosy.dev/content"

const (
	// largeDefinition is the size, in bytes of JSON, of a definition that is first put in outline. The kinds of distributed jobs
	// repeat the schema of a whole pod in each role; the apiserver holds every schema many times over, some 12 MB for one of them.
	largeDefinition = 32 << 10
	// outlineDepth is how deep an outline goes: to the fields of a role's pod (spec.REPLICAS.ROLE.template.spec.FIELD).
	outlineDepth = 7
)

// definition is a custom resource definition as it is embedded, or its outline.
type definition struct {
	name    string
	raw     []byte
	content string // hash of raw
}

func newDefinition(name string, raw []byte) definition {
	sum := sha256.Sum256(raw)
	return definition{name, raw, hex.EncodeToString(sum[:])}
}

// readDefinition reads a file called GROUP_PLURAL.json.
func readDefinition(file string) (definition, error) {
	raw, err := crds.ReadFile(file)
	if err != nil {
		return definition{}, err
	}
	group, plural, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".json"), "_")
	if !ok {
		return definition{}, errors.New("the file's name is not GROUP_PLURAL.json")
	}
	d := newDefinition(plural+"."+group, raw)
	var head struct {
		Metadata struct{ Name string }
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return d, err
	}
	if head.Metadata.Name != d.name {
		return d, fmt.Errorf("expected a definition named %s, found %s", d.name, head.Metadata.Name)
	}
	return d, nil
}

func (d definition) large() bool { return len(d.raw) > largeDefinition }

// object is the definition to send, marked with what it was made from.
func (d definition) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(d.raw, &o.Object); err != nil {
		panic(err) // it was read before
	}
	notes := o.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[contentAnnotation] = d.content
	o.SetAnnotations(notes)
	return o
}

// outline is the same definition with schemas that accept anything below outlineDepth.
func (d definition) outline() (definition, error) {
	var crd map[string]any
	if err := json.Unmarshal(d.raw, &crd); err != nil {
		return d, err
	}
	versions, _, err := unstructured.NestedSlice(crd, "spec", "versions")
	if err != nil {
		return d, err
	}
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok {
			if s, ok := version["schema"].(map[string]any); ok {
				s["openAPIV3Schema"] = outline(s["openAPIV3Schema"], outlineDepth)
			}
		}
	}
	if err := unstructured.SetNestedSlice(crd, versions, "spec", "versions"); err != nil {
		return d, err
	}
	raw, err := json.Marshal(crd)
	return newDefinition(d.name, raw), err
}

// outline keeps the given number of levels of a schema. Where it is cut, fields are kept as they come, of whatever type.
func outline(schema any, levels int) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	switch {
	case levels <= 1 && s["type"] == "array": // with its items: those of a list that is a map must have their keys
		return map[string]any{"type": "array", "items": map[string]any{"x-kubernetes-preserve-unknown-fields": true}}
	case levels == 0 && s["type"] == "object":
		return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	case levels == 0:
		return s
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, ok := s[key]; ok {
			s[key] = outline(below, levels-1)
		}
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for name, below := range properties {
			properties[name] = outline(below, levels-1)
		}
	}
	return s
}
