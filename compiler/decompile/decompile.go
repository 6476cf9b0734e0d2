// Package decompile turns a Workflow, such as the Python SDK of Kubeflow Pipelines or this module's compiler writes, into
// Go source that compiles back to a workflow that does the same.
package decompile

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Fault is something of a workflow that cannot be written with the DSL.
type Fault struct {
	Line, Column int
	Path         string // as in spec.templates[train].hostAliases
	Message      string
}

func (f *Fault) Error() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Path, f.Message) }

// Faults are all of a workflow's, in the order of its lines.
type Faults []*Fault

func (fs Faults) Error() string {
	texts := make([]string, len(fs))
	for i, f := range fs {
		texts[i] = f.Error()
	}
	return strings.Join(texts, "\n")
}

// Source is the program for one workflow: a package main whose main calls compiler.Main. The error is Faults where the
// workflow holds what cannot be expressed.
func Source(manifest []byte) ([]byte, error) {
	name, body, err := Function(manifest)
	if err != nil {
		return nil, err
	}
	return Program([]string{name}, body)
}

// Program is the program for pipelines of which Function gave the source.
func Program(names []string, functions ...string) ([]byte, error) {
	body := strings.Join(functions, "\n")
	if strings.Contains(body, "object{") || strings.Contains(body, "[object]") {
		body = "// object is a JSON object as it is written.\ntype object struct{ json.RawMessage }\n\n" + body
	}
	var out bytes.Buffer
	out.WriteString("package main\n\nimport (\n")
	for _, p := range []struct{ path, word string }{{"encoding/json", "json."}, {"time", "time."}} {
		if strings.Contains(body, p.word) {
			fmt.Fprintf(&out, "%q\n", p.path)
		}
	}
	out.WriteString("\n\"github.com/argosy-ml/argosy/compiler\"\n\"github.com/argosy-ml/argosy/sdk/dsl\"\n)\n\n")
	out.WriteString(body)
	fmt.Fprintf(&out, "\nfunc main() { compiler.Main(%s) }\n", strings.Join(names, ", "))
	source, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the source that was made is no Go, which is a fault of this program: %w", err)
	}
	return source, nil
}

// Function is the source of the function that records the workflow as a pipeline, and its name.
func Function(manifest []byte) (name, source string, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal(manifest, &document); err != nil {
		return "", "", err
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return "", "", errors.New("it is no Workflow, which is a mapping with apiVersion, kind, metadata and spec")
	}
	d := &decompiler{
		templates: map[string]*object{}, used: map[string]bool{}, steps: map[string]bool{},
		defined: map[string][]int{}, uses: map[string]bool{}, outlives: map[string]bool{}, kinds: map[string]string{},
	}
	name = d.workflow(&object{node: document.Content[0], all: d})
	if len(d.faults) > 0 {
		slices.SortStableFunc(d.faults, func(a, b *Fault) int { return a.Line - b.Line })
		return "", "", Faults(slices.CompactFunc(d.faults, func(a, b *Fault) bool { return *a == *b }))
	}
	return name, d.out.String(), nil
}

// decompiler writes one pipeline.
type decompiler struct {
	out       strings.Builder
	faults    []*Fault
	templates map[string]*object
	params    map[string]value
	claims    map[string]string // variables of the claims that runs make
	used      map[string]bool   // identifiers of Go
	steps     map[string]bool   // names of steps
	declared  []string          // variables that outlive the group in which they are set
	inside    []string          // the templates around: to find recursion

	// Of variables: the closures they are defined in, whether they are used, whether outside of these, and of which
	// type the values are. The last three are known from the first time that the source is written.
	defined  map[string][]int
	uses     map[string]bool
	outlives map[string]bool
	kinds    map[string]string
	around   []int // closures
	closures int

	pending   []string // what the next step waits for, because the group that it begins does
	firstStep string   // the first step of the group that is written
}

// object is a mapping of which is noted what was read: what is left over cannot be expressed.
type object struct {
	node *yaml.Node
	path string
	read []string
	all  *decompiler
}

func (o *object) fault(format string, args ...any) {
	o.all.fault(o.node, o.path, format, args...)
}

func (d *decompiler) fault(n *yaml.Node, path, format string, args ...any) {
	d.faults = append(d.faults, &Fault{n.Line, n.Column, path, fmt.Sprintf(format, args...)})
}

// get reads a field; nil when it is not there or empty.
func (o *object) get(key string) *yaml.Node {
	if o == nil || o.node == nil {
		return nil
	}
	o.read = append(o.read, key)
	for i := 0; i+1 < len(o.node.Content); i += 2 {
		if o.node.Content[i].Value != key {
			continue
		}
		v := o.node.Content[i+1]
		if v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		if v.Tag == "!!null" || v.Kind != yaml.ScalarNode && len(v.Content) == 0 && key != "suspend" {
			return nil
		}
		return v
	}
	return nil
}

func (o *object) text(key string) string {
	n := o.get(key)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		o.all.fault(n, join(o.path, key), "it must be a text")
		return ""
	}
	return n.Value
}

// number reads a field that is a whole number; empty when it is not there. What is no number must not become source.
func (o *object) number(key string) string {
	text := o.text(key)
	if text == "" {
		return ""
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		o.fault("%s is %q: it must be a whole number", key, text)
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func (o *object) has(key string) bool { return o.get(key) != nil }

// object reads a field that is a mapping; it may be missing.
func (o *object) object(key string) *object {
	n := o.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		o.all.fault(n, join(o.path, key), "it must be a mapping")
		return nil
	}
	return &object{node: n, path: join(o.path, key), all: o.all}
}

// list reads a field that is a list of mappings.
func (o *object) list(key string) []*object {
	var list []*object
	n := o.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		o.all.fault(n, join(o.path, key), "it must be a list")
		return nil
	}
	for i, e := range n.Content {
		if e.Kind == yaml.AliasNode {
			e = e.Alias
		}
		name := fmt.Sprint(i)
		for j := 0; j+1 < len(e.Content); j += 2 {
			if e.Kind == yaml.MappingNode && e.Content[j].Value == "name" {
				name = e.Content[j+1].Value
			}
		}
		path := join(o.path, key) + "[" + name + "]"
		if e.Kind != yaml.MappingNode {
			o.all.fault(e, path, "it must be a mapping")
			continue
		}
		list = append(list, &object{node: e, path: path, all: o.all})
	}
	return list
}

// texts reads a field that is a list of texts.
func (o *object) texts(key string) []string {
	n := o.get(key)
	if n == nil {
		return nil
	}
	var list []string
	for _, e := range n.Content {
		if n.Kind != yaml.SequenceNode || e.Kind != yaml.ScalarNode {
			o.all.fault(e, join(o.path, key), "it must be a list of texts")
			return nil
		}
		list = append(list, e.Value)
	}
	return list
}

// pairs reads a field that is a mapping of texts, in its order.
func (o *object) pairs(key string) [][2]string {
	m := o.object(key)
	if m == nil {
		return nil
	}
	var pairs [][2]string
	for i := 0; i+1 < len(m.node.Content); i += 2 {
		k := m.node.Content[i].Value
		pairs = append(pairs, [2]string{k, m.text(k)})
	}
	return pairs
}

// finish tells what was not read.
func (o *object) finish() {
	if o == nil {
		return
	}
	for i := 0; i+1 < len(o.node.Content); i += 2 {
		if k := o.node.Content[i]; !slices.Contains(o.read, k.Value) {
			o.all.fault(k, join(o.path, k.Value), "this cannot be expressed in the DSL")
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
