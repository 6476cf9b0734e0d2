package decompile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// reader reads the fields of a workflow and keeps the faults.
type reader struct{ faults []*Fault }

// object is a mapping that records which keys were read. Keys that stay unread have no form in the DSL.
type object struct {
	node *yaml.Node
	path string
	read []string
	all  *reader
}

func (o *object) fault(format string, args ...any) {
	o.all.fault(o.node, o.path, format, args...)
}

func (d *reader) fault(n *yaml.Node, path, format string, args ...any) {
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
	if o == nil {
		return ""
	}
	o.read = append(o.read, key)
	n, ok := field(o.node, key)
	if ok && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case !ok || n.Tag == "!!null":
		return ""
	case n.Kind != yaml.ScalarNode:
		o.all.fault(n, joinPath(o.path, key), "it must be a text")
		return ""
	case strings.Contains(n.Value, "\x00"):
		o.all.fault(n, joinPath(o.path, key), "it holds a NUL character")
		return ""
	}
	return n.Value
}

// word reads a field that is one of a few words, or not there.
func (o *object) word(key string, words ...string) string {
	text := o.text(key)
	if text != "" && !slices.Contains(words, text) {
		o.fault("%s is %q: it must be one of %s", key, text, strings.Join(words, ", "))
	}
	return text
}

// number reads a field that is a whole number; 0 when it is not there.
func (o *object) number(key string) int64 {
	text := o.text(key)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		o.fault("%s is %q: it must be a whole number", key, text)
	}
	return n
}

// given says whether a field is there, if only as an empty text. Null is as good as not there.
func (o *object) given(key string) bool {
	if o == nil {
		return false
	}
	n, ok := field(o.node, key)
	return ok && n.Tag != "!!null"
}

func (o *object) has(key string) bool { return o.get(key) != nil }

// object reads a field that is a mapping; it may be missing.
func (o *object) object(key string) *object {
	n := o.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		o.all.fault(n, joinPath(o.path, key), "it must be a mapping")
		return nil
	}
	return &object{node: n, path: joinPath(o.path, key), all: o.all}
}

// list reads a field that is a list of mappings.
func (o *object) list(key string) []*object {
	var list []*object
	n := o.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		o.all.fault(n, joinPath(o.path, key), "it must be a list")
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
		path := joinPath(o.path, key) + "[" + name + "]"
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
			o.all.fault(e, joinPath(o.path, key), "it must be a list of texts")
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
			o.all.fault(k, joinPath(o.path, k.Value), "this cannot be expressed in the DSL")
		}
	}
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// tame refuses documents that hold themselves, or are small to write and endless to read.
func tame(root *yaml.Node) error {
	const most = 1 << 20
	count := 0
	var visit func(n *yaml.Node, depth int) error
	visit = func(n *yaml.Node, depth int) error {
		if count++; count > most || depth > 1000 {
			return errors.New("its YAML refers to itself too often")
		}
		if n.Kind == yaml.AliasNode {
			return visit(n.Alias, depth+1)
		}
		for _, c := range n.Content {
			if err := visit(c, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(root, 0)
}

// jsonOf writes a YAML value as JSON, with the digits that its numbers have.
func jsonOf(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	var parts []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, e := range n.Content {
			part, err := jsonOf(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ",") + "]", nil
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			part, err := jsonOf(n.Content[i+1])
			if err != nil {
				return "", err
			}
			parts = append(parts, encode(n.Content[i].Value)+":"+part)
		}
		return "{" + strings.Join(parts, ",") + "}", nil
	}
	if (n.Tag == "!!int" || n.Tag == "!!float") && json.Valid([]byte(n.Value)) {
		return n.Value, nil
	}
	var v any = n.Value
	if n.Tag != "!!str" {
		if err := n.Decode(&v); err != nil {
			return "", err
		}
	}
	if _, err := json.Marshal(v); err != nil {
		return "", err
	}
	return encode(v), nil
}

// encode writes JSON as the compiler does, with < as it is.
func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// compact is JSON without spaces.
func compact(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// field finds a field also where it is empty.
func field(n *yaml.Node, key string) (*yaml.Node, bool) {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1], true
		}
	}
	return nil, false
}
