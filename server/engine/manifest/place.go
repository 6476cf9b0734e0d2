package manifest

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"gopkg.in/yaml.v3"
	corev1 "k8s.io/api/core/v1"
)

// stub is a container that nothing is wrong with.
func stub() *corev1.Container {
	return &corev1.Container{Image: "argosy.invalid/stub", Command: []string{"true"}}
}

// blamed is the template that a message of Argo's is about: the innermost of those it names.
func blamed(wf *wfv1.Workflow, message string) *wfv1.Template {
	best, bestAt, bestLength := -1, -1, 0
	for i := range wf.Spec.Templates {
		name := wf.Spec.Templates[i].Name
		where := lastName(message, "templates."+name)
		if where > bestAt || where >= 0 && where == bestAt && len(name) > bestLength {
			best, bestAt, bestLength = i, where, len(name)
		}
	}
	if best < 0 {
		return nil
	}
	return &wf.Spec.Templates[best]
}

// lastName finds the last place of a name in a text where the name does not go on.
func lastName(text, name string) int {
	for end := len(text); ; {
		i := strings.LastIndex(text[:end], name)
		if i < 0 {
			return -1
		}
		rest := text[i+len(name):]
		if rest == "" || !strings.ContainsRune("-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", rune(rest[0])) {
			return i
		}
		end = i + len(name) - 1
	}
}

// replaceTag puts a constant in place of a variable that is not there.
func replaceTag(t *wfv1.Template, tag string) bool {
	before, err := json.Marshal(t)
	if err != nil {
		return false
	}
	quoted, err := json.Marshal("{{" + tag + "}}")
	if err != nil {
		return false
	}
	after := strings.ReplaceAll(string(before), strings.Trim(string(quoted), `"`), "x")
	mended := wfv1.Template{}
	if after == string(before) || json.Unmarshal([]byte(after), &mended) != nil {
		return false
	}
	*t = mended
	return true
}

var (
	listed = regexp.MustCompile(`^\.(tasks|steps|inputs\.parameters|inputs\.artifacts|outputs\.parameters|outputs\.artifacts)(?:\[(\d+)\])?\.?([-_a-zA-Z0-9]*)`)
	quoted = regexp.MustCompile(`'([^']+)'`)
	field  = regexp.MustCompile(`^\.([a-zA-Z]+)`)
)

// locate finds the place of what Argo complains of: the template that it names, then the task or parameter within, then
// the text that it quotes.
func locate(root *yaml.Node, wf *wfv1.Workflow, whole string) Fault {
	message := responsible(whole)
	node, path, rest := root, "", message
	if t := blamed(wf, message); t != nil {
		if n := named(child(child(root, "spec"), "templates"), t.Name); n != nil {
			node, path = n, "spec.templates["+t.Name+"]"
			rest = message[lastName(message, "templates."+t.Name)+len("templates."+t.Name):]
		}
	} else if i := strings.Index(message, "spec."); i >= 0 {
		rest = message[i+len("spec"):]
		node, path = child(root, "spec"), "spec"
	}
	node, path, rest = descend(node, path, rest)
	for _, words := range []string{tagOf(message), firstQuoted(rest), dependencyOf(message)} {
		if words == "" {
			continue
		}
		if n := holding(node, words); n != nil {
			return at(n, path, whole)
		}
	}
	return at(node, path, whole)
}

// descend follows the dots of a message as far as they lead.
func descend(node *yaml.Node, path, rest string) (*yaml.Node, string, string) {
	for {
		if m := listed.FindStringSubmatch(rest); m != nil {
			list, where := node, path
			for part := range strings.SplitSeq(m[1], ".") {
				list, where = child(list, part), where+"."+part
				if part == "tasks" && list == nil {
					list, where = child(child(node, "dag"), part), path+".dag.tasks"
				}
			}
			if list == nil {
				return node, path, rest
			}
			if m[2] != "" {
				i, _ := strconv.Atoi(m[2])
				if i < len(list.Content) {
					list, where = list.Content[i], where+"["+m[2]+"]"
				}
			}
			if n := named(list, m[3]); n != nil && m[3] != "name" {
				list, where = n, where+"["+m[3]+"]"
			}
			node, path, rest = list, where, rest[len(m[0]):]
			continue
		}
		m := field.FindStringSubmatch(rest)
		if m == nil {
			return node, path, rest
		}
		next := child(node, m[1])
		if next == nil {
			return node, path, rest
		}
		node, path, rest = next, path+"."+m[1], rest[len(m[0]):]
	}
}

func tagOf(message string) string {
	if m := unresolved.FindStringSubmatch(message); m != nil {
		return "{{" + m[1] + "}}"
	}
	return ""
}

var (
	notSupplied = regexp.MustCompile(`^(templates\.\S+) templates\.\S+ inputs\.\S+ was not supplied`)
	dependency  = regexp.MustCompile(`invalid dependency (\S+)$`)
)

// responsible is what a message says of a task, where it names the task's template last: it is for the task to supply
// inputs.
func responsible(message string) string {
	if m := notSupplied.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return message
}

func dependencyOf(message string) string {
	if m := dependency.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

func firstQuoted(message string) string {
	if m := quoted.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// holding finds the scalar with a text in it: one that is all of it before one that only holds it.
func holding(n *yaml.Node, words string) *yaml.Node {
	var whole, part *yaml.Node
	walk(n, "", func(n *yaml.Node, _ string) {
		switch {
		case n.Kind != yaml.ScalarNode:
		case n.Value == words && whole == nil:
			whole = n
		case strings.Contains(n.Value, words) && part == nil:
			part = n
		}
	})
	if whole != nil {
		return whole
	}
	return part
}

// walk visits a node and all below it. Aliases are not followed: what they stand for is visited where it is written.
func walk(n *yaml.Node, path string, visit func(*yaml.Node, string)) {
	if n == nil {
		return
	}
	visit(n, path)
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			walk(n.Content[i+1], strings.TrimPrefix(path+"."+n.Content[i].Value, "."), visit)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			walk(c, path+"["+key(c, i)+"]", visit)
		}
	}
}

// key is what an element of a list is called by: its name, or its number.
func key(n *yaml.Node, i int) string {
	if name := text(child(n, "name")); name != "" {
		return name
	}
	return strconv.Itoa(i)
}

// child is the value of a key, also behind an alias or a merge.
func child(n *yaml.Node, name string) *yaml.Node {
	n = resolved(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return resolved(n.Content[i+1])
		}
	}
	return nil
}

// named is the element of a list that has the name; steps lie one list deeper.
func named(list *yaml.Node, name string) *yaml.Node {
	if list == nil || name == "" {
		return nil
	}
	for _, n := range list.Content {
		if n = resolved(n); n == nil {
			continue
		}
		if text(child(n, "name")) == name {
			return n
		}
		if n.Kind == yaml.SequenceNode {
			if inner := named(n, name); inner != nil {
				return inner
			}
		}
	}
	return nil
}

func resolved(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func text(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}
