package decompile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// scope is what the names in a template stand for.
type scope struct {
	inputs map[string]graph.Text // parameters of the template
	files  map[string]file       // artifacts of the template
	tasks  map[string]outputs    // of tasks beside each other
	item   *item                 // of the loop that a task is
	loop   string                // the loop around the template
	env    map[string]bool       // variables of the container, if any; nil where Kubernetes does not read the text at all
	at     *yaml.Node            // for faults
	path   string
}

// file is an artifact: one of a step or of the sub-pipeline, or data from elsewhere.
type file struct {
	ref      *graph.Ref
	imported *graph.Import
	optional bool // the step may leave none
}

// outputs are what a task gives.
type outputs struct {
	params map[string]graph.Text
	files  map[string]file
	lost   string // why it gives nothing
}

// item is what a loop goes through, and how it is read.
type item struct {
	loop          string
	quoted, plain bool  // as a text whose escapes are taken back, or as it is
	constants     []any // the items, where they are known
}

// field is a field of the item, if there may be one. It is handed on as it is where its type is not known.
func (i *item) field(name string) (graph.Text, bool) {
	kind := graph.List
	for k, v := range i.constants {
		object, _ := v.(map[string]any)
		value, there := object[name]
		if !there {
			return nil, false
		}
		own := kindOf(value)
		if k > 0 && own != kind || own == graph.String && !simple([]any{value}) {
			own = graph.List
		}
		kind = own
	}
	return refText(graph.Ref{Loop: i.loop, Field: name, FieldType: kind}), fileName.MatchString(name)
}

func (s *scope) within(o *object) *scope {
	inner := *s
	inner.at, inner.path = o.node, o.path
	return &inner
}

var (
	stringItem   = `(item matches "^([^\"\\\\[:cntrl:]]|\\\\([\"\\\\/bfnrt]|u[0-9a-fA-F]{4}))*$" ? fromJSON("\"" + item + "\"") : item)`
	stringField  = regexp.MustCompile(`^fromJSON\("\\"" \+ item(\.[_a-zA-Z][_a-zA-Z0-9]*|\['[-_a-zA-Z0-9]+'\]) \+ "\\""\)$`)
	numberList   = regexp.MustCompile(`^"\[" \+ join\(fromJSON\(([^()]+)\), ","\) \+ "\]"$`)
	boolList     = regexp.MustCompile(`^lower\("\[" \+ join\(fromJSON\(([^()]+)\), ","\) \+ "\]"\)$`)
	stringList   = regexp.MustCompile(`^toJson\(map\(fromJSON\(([^()]+)\), type\(#\) == "string" \? # : toJson\(#\)\)\)$`)
	durationCall = regexp.MustCompile(`^int\(duration\((.+)\)\.Seconds\(\)\)$`)
	literalCall  = regexp.MustCompile(`^sprig\.replace\("\$", "\$\$", (.+)\)$`)
	bracket      = regexp.MustCompile(`\['([^']*)'\]`)
	builtIn      = regexp.MustCompile(`^(workflow\.(name|namespace|uid|mainEntrypoint|serviceAccountName|status|failures|creationTimestamp|creationTimestamp\.[-a-zA-Z0-9]+|duration|priority|labels\.[-_.a-zA-Z0-9]+|annotations\.[-_.a-zA-Z0-9]+)|pod\.name|retries|lastRetry\.[a-zA-Z]+|tasks\.name|steps\.name|node\.name)$`)
)

// dollarless are the variables of Argo that never hold a dollar, so that it does not matter whether it is kept from Kubernetes.
var dollarless = regexp.MustCompile(`^(workflow\.(name|namespace|uid|mainEntrypoint|serviceAccountName|status|creationTimestamp|duration|priority)|pod\.name|retries|tasks\.name|steps\.name|node\.name)$`)

// path turns a['b-c'].d into a.b-c.d.
func path(member string) string { return bracket.ReplaceAllString(member, ".$1") }

func refText(r graph.Ref) graph.Text { return graph.Text{{Ref: &r}} }

// expression resolves what stands in {{=...}}, as the compiler writes it: values and constants put together with +.
func (r *raiser) expression(s *scope, text string) (graph.Text, bool) {
	text = strings.TrimSpace(text)
	if text == stringItem {
		if s.item == nil {
			return nil, false
		}
		s.item.quoted = true
		return refText(graph.Ref{Loop: s.item.loop}), true
	}
	if m := stringField.FindStringSubmatch(text); m != nil && s.item != nil {
		return refText(graph.Ref{Loop: s.item.loop, Field: strings.TrimPrefix(path(m[1]), "."), FieldType: graph.String}), true
	}
	switch {
	case text == indexOfItem && s.loop != "":
		return refText(graph.Ref{Loop: s.loop, Index: true}), true
	case text == wordOfCall && r.sub != "":
		return refText(graph.Ref{Call: true}), true
	}
	for _, list := range []struct {
		form *regexp.Regexp
		kind graph.Type
	}{{numberList, graph.Float}, {boolList, graph.Bool}, {stringList, graph.String}} {
		if m := list.form.FindStringSubmatch(text); m != nil {
			v, ok := r.resolve(s, path(m[1]))
			r.types.collected(r.sub, v, list.kind)
			return v, ok
		}
	}
	operands := plus(text)
	if len(operands) == 1 {
		if constant, ok := unquote(text); ok {
			return graph.Text{{Text: constant}}, true
		}
		v, ok := r.resolve(s, path(text))
		r.types.plain(r.sub, v)
		return v, ok
	}
	var out graph.Text
	for _, operand := range operands {
		v, ok := r.expression(s, operand)
		if !ok {
			return nil, false
		}
		out = join(out, v)
	}
	return out, true
}

// unquote reads a constant of an expression.
func unquote(text string) (string, bool) {
	if len(text) < 2 || strings.Contains(text, "{{") { // which Argo would fill in first
		return "", false
	}
	if text[0] == '\'' && text[len(text)-1] == '\'' && !strings.ContainsAny(text[1:len(text)-1], `'\"`) {
		return text[1 : len(text)-1], true
	}
	if text[0] != '"' {
		return "", false
	}
	constant, err := strconv.Unquote(text)
	return constant, err == nil && !strings.Contains(constant, "{{")
}

// join puts texts together; constants beside each other become one.
func join(a, b graph.Text) graph.Text {
	out := append(graph.Text{}, a...)
	for _, p := range b {
		if last := len(out) - 1; p.Ref == nil && last >= 0 && out[last].Ref == nil {
			out[last].Text += p.Text
			continue
		}
		out = append(out, p)
	}
	return out
}

// resolve finds what a path of Argo's variables stands for.
func (r *raiser) resolve(s *scope, p string) (graph.Text, bool) {
	parts := strings.Split(p, ".")
	switch {
	case p == "item" && s.item != nil:
		s.item.plain = true
		return refText(graph.Ref{Loop: s.item.loop}), true
	case strings.HasPrefix(p, "item.") && s.item != nil:
		return s.item.field(strings.TrimPrefix(p, "item."))
	case strings.HasPrefix(p, "inputs.parameters."):
		v, ok := s.inputs[strings.TrimPrefix(p, "inputs.parameters.")]
		return v, ok
	case strings.HasPrefix(p, "workflow.parameters."):
		name := strings.TrimPrefix(p, "workflow.parameters.")
		return refText(graph.Ref{Param: name}), r.params[name]
	case len(parts) >= 5 && (parts[0] == "tasks" || parts[0] == "steps") && parts[2] == "outputs" && parts[3] == "parameters":
		v, ok := s.tasks[parts[1]].params[strings.Join(parts[4:], ".")]
		return v, ok
	case builtIn.MatchString(p):
		return refText(graph.Ref{Variable: p}), true
	}
	return nil, false
}

// why says why a variable cannot be used.
func (s *scope) why(tag string) string {
	p := path(strings.TrimSpace(strings.TrimPrefix(tag, "=")))
	parts := strings.Split(p, ".")
	switch {
	case strings.HasPrefix(p, "item."):
		return "the items have no such field, or its name holds more than letters, digits, - and _"
	case len(parts) > 3 && (parts[0] == "tasks" || parts[0] == "steps") && s.tasks[parts[1]].lost != "":
		return s.tasks[parts[1]].lost
	case len(parts) == 4 && parts[2] == "outputs" && parts[3] == "result":
		return "the DSL has no output for what a program prints: write it to a file"
	case len(parts) == 3 && (parts[2] == "status" || parts[2] == "exitCode" || parts[2] == "id" || parts[2] == "ip" || parts[2] == "startedAt" || parts[2] == "finishedAt"):
		return "what Argo knows of another step cannot be used in the DSL"
	case strings.HasPrefix(p, "workflow.outputs."):
		return "global outputs have no place in the DSL"
	case strings.HasPrefix(p, "inputs.parameters."), strings.HasPrefix(p, "workflow.parameters."), strings.HasPrefix(p, "inputs.artifacts."):
		return "it is not there"
	}
	return "it cannot be expressed in the DSL, or is not there"
}

// text reads a text with variables in it.
func (r *raiser) text(s *scope, text string) graph.Text {
	var out graph.Text
	constant := "" // which Kubernetes reads in one piece
	flush := func() {
		if s.env != nil {
			out = join(out, variables(constant, s.env))
		} else if constant != "" {
			out = join(out, graph.Text{{Text: constant}})
		}
		constant = ""
	}
	for {
		before, rest, found := strings.Cut(text, "{{")
		constant += before
		if !found {
			break
		}
		tag, after, closed := strings.Cut(rest, "}}")
		v, ok := r.tag(s, tag)
		if !closed || !ok {
			r.fault(s.at, s.path, "{{%s}}: %s", tag, s.why(tag))
			return graph.Text{{Text: ""}}
		}
		text = after
		if s.env != nil && literalTag(tag) {
			if slices.ContainsFunc(v.Refs(), func(r graph.Ref) bool { return r.Variable != "" && !dollarless.MatchString(r.Variable) }) {
				r.fault(s.at, s.path, "{{%s}}: a variable of Argo's stands as it is in the DSL", tag)
			}
			flush()
			out = join(out, v)
			r.literal.note(s, v)
			continue
		}
		for _, p := range v { // Kubernetes reads the constants as they are pasted
			if p.Ref == nil {
				constant += p.Text
				continue
			}
			if s.env != nil && p.Ref.Variable == "" && p.Ref.Env == "" && strings.HasSuffix(constant, "$$") {
				r.fault(s.at, s.path, "$$ right before {{%s}} cannot be expressed in the DSL", tag)
			}
			flush()
			out = join(out, graph.Text{p})
		}
		if s.env != nil {
			r.pasted.note(s, v)
		}
	}
	flush()
	if out == nil {
		return graph.Text{{Text: ""}}
	}
	return out
}

func (r *raiser) tag(s *scope, tag string) (graph.Text, bool) {
	if e, is := strings.CutPrefix(tag, "="); is {
		if s.env != nil && literalTag(tag) {
			e = literalCall.FindStringSubmatch(e)[1]
		}
		return r.expression(s, e)
	}
	v, ok := r.resolve(s, strings.TrimSpace(tag))
	r.types.plain(r.sub, v)
	return v, ok
}

// literalTag says whether a tag keeps its value from Kubernetes, as each value arrives in the DSL.
func literalTag(tag string) bool {
	e, is := strings.CutPrefix(tag, "=")
	return is && literalCall.MatchString(e)
}

// places are where values stand that Kubernetes reads, or that are kept from it.
type places []*scope

func (p *places) note(s *scope, v graph.Text) {
	if slices.ContainsFunc(v.Refs(), func(r graph.Ref) bool { return r.Variable == "" && r.Env == "" }) {
		*p = append(*p, s)
	}
}

// settlePasting finds whether Kubernetes reads the values in commands and variables, which the DSL says once for all.
func (r *raiser) settlePasting() {
	r.g.Settings.Pasted = len(r.pasted) > 0
	if len(r.pasted) > 0 && len(r.literal) > 0 {
		r.fault(r.pasted[0].at, r.pasted[0].path, "a value stands here as it is, and elsewhere in sprig.replace: in the DSL all values do, by dsl.PasteValues, or none does")
	}
}

// optional is a field with variables in it, or nil where it is not there.
func (r *raiser) optional(s *scope, o *object, key string) graph.Text {
	if n := o.get(key); n != nil {
		return r.text(s, o.text(key))
	}
	return nil
}

// brace is the variable in which the compiler hides a brace from Argo.
const brace = "ARGOSY_BRACE"

var envName = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// variables finds $(NAME) in a text and removes the escapes that keep Kubernetes from expanding it. A name that is not among
// the container's variables stays as it is, unless Kubernetes or an image may define it.
func variables(text string, env map[string]bool) graph.Text {
	var out graph.Text
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		if text[i+1] == '$' {
			b.WriteByte('$')
			i++
			continue
		}
		if end := strings.IndexByte(text[i:], ')'); text[i+1] == '(' && end > 2 {
			name := text[i+2 : i+end]
			if name == brace {
				b.WriteByte('{')
				i += end
				continue
			}
			if isVariable(name, env) {
				if b.Len() > 0 {
					out = append(out, graph.Part{Text: b.String()})
					b.Reset()
				}
				out = append(out, graph.Part{Ref: &graph.Ref{Env: name}})
				i += end
				continue
			}
		}
		b.WriteByte('$')
	}
	if b.Len() > 0 {
		out = append(out, graph.Part{Text: b.String()})
	}
	return out
}

// isVariable says whether Kubernetes may know the variable where the text stands. One that comes later in the list it does
// not know yet.
func isVariable(name string, env map[string]bool) bool {
	if before, listed := env[name]; listed && name != "" {
		return before
	}
	return envName.MatchString(name) && len(env) > 0 && (env[""] || name == strings.ToUpper(name))
}

// plus cuts an expression at the + that are in neither quotes nor parentheses.
func plus(text string) []string {
	var parts []string
	depth, start := 0, 0
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == '+' && depth == 0:
			parts = append(parts, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

// artifact finds the artifact that {{tasks.a.outputs.artifacts.b}} or {{inputs.artifacts.b}} stands for.
func (r *raiser) artifact(s *scope, text string) (file, bool) {
	p := path(strings.TrimSpace(strings.TrimPrefix(strings.Trim(text, "{} "), "=")))
	parts := strings.Split(p, ".")
	var f file
	ok := false
	if name, input := strings.CutPrefix(p, "inputs.artifacts."); input {
		f, ok = s.files[name]
	} else if len(parts) >= 5 && (parts[0] == "tasks" || parts[0] == "steps") && parts[2] == "outputs" && parts[3] == "artifacts" {
		f, ok = s.tasks[parts[1]].files[strings.Join(parts[4:], ".")]
	}
	if f.optional {
		r.fault(s.at, s.path, "%s: a file that a step may leave or not cannot be given to others in the DSL", text)
	}
	return f, ok
}
