package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// checkFields compares a manifest with Argo's own types: keys that no type has, keys given twice, and values of another
// shape than the field's.
func checkFields(root *yaml.Node) []Fault {
	c := &fieldChecker{seen: map[visit]bool{}}
	if child(root, "pipelineInfo") == nil && child(root, "pipelineSpec") == nil { // KFP v2: nothing of it would fit
		c.check(root, reflect.TypeFor[wfv1.Workflow](), "")
	}
	return c.faults
}

type fieldChecker struct {
	faults []Fault
	seen   map[visit]bool // what aliases lead to again is not checked again
}

type visit struct {
	node *yaml.Node
	typ  reflect.Type
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (c *fieldChecker) check(n *yaml.Node, t reflect.Type, path string) {
	n = resolved(n)
	if n == nil || n.Tag == "!!null" || len(c.faults) >= maxFaults || c.seen[visit{n, t}] {
		return
	}
	c.seen[visit{n, t}] = true
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[wfv1.ParallelSteps]() { // written as the list inside of it
		c.check(n, reflect.TypeFor[[]wfv1.WorkflowStep](), path)
		return
	}
	if t == reflect.TypeFor[resource.Quantity]() {
		if _, err := resource.ParseQuantity(n.Value); err != nil || n.Kind != yaml.ScalarNode {
			c.refuse(n, path, "a quantity such as 500m, 2 or 10Gi")
		}
		return
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return // times and items say themselves what they take
	}
	switch t.Kind() {
	case reflect.Struct:
		c.structure(n, t, path)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return // base64
		}
		if n.Kind != yaml.SequenceNode {
			c.refuse(n, path, "a list")
			return
		}
		for i, e := range n.Content {
			c.check(e, t.Elem(), path+"["+key(e, i)+"]")
		}
	case reflect.Map:
		if n.Kind != yaml.MappingNode {
			c.refuse(n, path, "a mapping")
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			c.check(n.Content[i+1], t.Elem(), path+"."+n.Content[i].Value)
		}
	default:
		c.scalar(n, t, path)
	}
}

func (c *fieldChecker) structure(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind != yaml.MappingNode {
		c.refuse(n, path, "a mapping")
		return
	}
	fields := fieldsOf(t)
	given := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		where := strings.TrimPrefix(path+"."+k.Value, ".")
		switch typ, known := fields[k.Value]; {
		case given[k.Value]:
			c.faults = append(c.faults, at(k, where, k.Value+" is given twice"))
		case known:
			c.check(v, typ, where)
		case k.Tag == "!!merge":
			c.check(v, t, path)
		default:
			c.faults = append(c.faults, at(k, where, "there is no field "+k.Value+didYouMean(k.Value, fields)))
		}
		given[k.Value] = true
	}
}

func (c *fieldChecker) scalar(n *yaml.Node, t reflect.Type, path string) {
	tags := map[reflect.Kind][]string{
		reflect.String: {"!!str", "!!timestamp", "!!merge"}, reflect.Bool: {"!!bool"},
		reflect.Float32: {"!!float", "!!int"}, reflect.Float64: {"!!float", "!!int"},
	}[t.Kind()]
	want := map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false", reflect.Float64: "a number", reflect.Float32: "a number"}[t.Kind()]
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
		tags, want = []string{"!!int"}, "a whole number"
	}
	if want != "" && (n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag())) {
		c.refuse(n, path, want)
	}
}

func (c *fieldChecker) refuse(n *yaml.Node, path, want string) {
	got := map[yaml.Kind]string{yaml.MappingNode: "a mapping", yaml.SequenceNode: "a list"}[n.Kind]
	if n.Kind == yaml.ScalarNode {
		got = fmt.Sprintf("%q", n.Value)
		if want == "a text" {
			got += ", which YAML takes for something else: put it in quotes"
		}
	}
	c.faults = append(c.faults, at(n, path, fmt.Sprintf("it must be %s, and is %s", want, got)))
}

// fieldsOf are the keys that a type has in JSON, with those of the types embedded in it.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && (name == "" || strings.Contains(options, "inline"))
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case embedded:
			inner := f.Type
			for inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			for k, v := range fieldsOf(inner) {
				if _, own := fields[k]; !own {
					fields[k] = v
				}
			}
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	return fields
}

// didYouMean names a field that is spelt almost so.
func didYouMean(name string, fields map[string]reflect.Type) string {
	best, least := "", 3
	for candidate := range fields {
		d := distance(strings.ToLower(name), strings.ToLower(candidate))
		if d < least || d == least && best != "" && candidate < best {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance counts the letters to change, add or leave out (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := above
			if a[i] != b[j] {
				cost++
			}
			above = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
