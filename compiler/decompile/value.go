package decompile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// value is a Go expression of type dsl.Value[kind]: its code, or the pieces that it is put together of.
type value struct {
	code     string
	kind     string
	variable string // that the code uses
	level    int    // how many loops it was collected over
	typed    bool   // the way it is collected shows its type
	pieces   []piece
}

// code is a value as Go. Its variable is needed then.
func (d *decompiler) code(v value) string {
	if v.pieces != nil {
		return d.written(v.pieces)
	}
	d.use(v.variable)
	return v.code
}

// as is a value as one of another type.
func (d *decompiler) as(v value, kind string) string {
	code := d.code(v)
	if v.kind == kind {
		return code
	}
	return "dsl.Value[" + kind + "](" + code + ")"
}

// scope is what the names in a template stand for.
type scope struct {
	inputs  map[string]value            // parameters of the template
	outputs map[string]map[string]value // of tasks beside each other
	item    *value                      // the item of the loop that a task is
	at      *yaml.Node                  // for faults
	path    string
}

var (
	stringItem   = `fromJSON("\"" + item + "\"")`
	numberList   = regexp.MustCompile(`^"\[" \+ join\(fromJSON\(([^()]+)\), ","\) \+ "\]"$`)
	boolList     = regexp.MustCompile(`^lower\("\[" \+ join\(fromJSON\(([^()]+)\), ","\) \+ "\]"\)$`)
	stringList   = regexp.MustCompile(`^toJson\(map\(fromJSON\(([^()]+)\), type\(#\) == "string" \? # : toJson\(#\)\)\)$`)
	durationCall = regexp.MustCompile(`^int\(duration\(([^()]+)\)\.Seconds\(\)\)$`)
	bracket      = regexp.MustCompile(`\['([^']*)'\]`)
	builtIn      = regexp.MustCompile(`^(workflow\.[-_.a-zA-Z0-9]+|pod\.name|retries|lastRetry\.[a-zA-Z]+|tasks\.name|steps\.name|node\.name)$`)
)

// path turns a['b-c'].d into a.b-c.d.
func path(member string) string { return bracket.ReplaceAllString(member, ".$1") }

// expression resolves what stands in {{=...}}, as the compiler writes it.
func (d *decompiler) expression(s *scope, text string) (value, bool) {
	text = strings.TrimSpace(text)
	if text == stringItem {
		if s.item != nil {
			d.kinds[s.item.variable], s.item.kind = "string", "string"
			return *s.item, true
		}
		return value{}, false
	}
	for _, list := range []struct {
		form *regexp.Regexp
		kind string
	}{{numberList, "float64"}, {boolList, "bool"}, {stringList, "string"}} {
		if m := list.form.FindStringSubmatch(text); m != nil {
			v, ok := d.reference(s, path(m[1]))
			d.note(v, list.kind)
			v.typed = true
			return v, ok
		}
	}
	return d.reference(s, path(text))
}

// reference resolves a path of Argo's variables.
func (d *decompiler) reference(s *scope, p string) (value, bool) {
	parts := strings.Split(p, ".")
	switch {
	case p == "item" && s.item != nil:
		return *s.item, true
	case strings.HasPrefix(p, "inputs.parameters."):
		v, ok := s.inputs[strings.TrimPrefix(p, "inputs.parameters.")]
		return v, ok
	case strings.HasPrefix(p, "workflow.parameters."):
		v, ok := d.params[strings.TrimPrefix(p, "workflow.parameters.")]
		return v, ok
	case len(parts) >= 5 && (parts[0] == "tasks" || parts[0] == "steps") && parts[2] == "outputs" && parts[3] == "parameters":
		v, ok := s.outputs[parts[1]][strings.Join(parts[4:], ".")]
		return v, ok
	case builtIn.MatchString(p):
		return value{code: fmt.Sprintf("dsl.Argo(%q)", p), kind: "string"}, true
	}
	return value{}, false
}

// piece is constant text, or a value where it is set.
type piece struct {
	text  string
	value *value
}

// pieces takes a text apart. Kubernetes reads $(NAME) in some of them too.
func (d *decompiler) pieces(s *scope, text string, kubernetes bool) []piece {
	var list []piece
	constant := func(t string) {
		if kubernetes {
			list = append(list, variables(t)...)
		} else if t != "" {
			list = append(list, piece{text: t})
		}
	}
	for {
		before, rest, found := strings.Cut(text, "{{")
		constant(before)
		if !found {
			return list
		}
		tag, after, closed := strings.Cut(rest, "}}")
		var v value
		ok := closed
		if closed {
			if e, is := strings.CutPrefix(tag, "="); is {
				v, ok = d.expression(s, e)
			} else {
				v, ok = d.reference(s, strings.TrimSpace(tag))
			}
		}
		if !ok {
			d.fault(s.at, s.path, "{{%s}} cannot be expressed in the DSL, or is not there", tag)
			return list
		}
		if text = after; v.pieces != nil {
			list = append(list, v.pieces...)
			continue
		}
		d.plain(v)
		list = append(list, piece{value: &v})
	}
}

// variables finds $(NAME) in a text, and takes back what was written so that it is none.
func variables(text string) []piece {
	var list []piece
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			list = append(list, piece{text: b.String()})
			b.Reset()
		}
	}
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
		if end := strings.IndexByte(text[i:], ')'); text[i+1] == '(' && end > 2 && envName.MatchString(text[i+2:i+end]) {
			flush()
			list = append(list, piece{value: &value{code: fmt.Sprintf("dsl.EnvOf(%q)", text[i+2:i+end]), kind: "string"}})
			i += end
			continue
		}
		b.WriteByte('$')
	}
	flush()
	return list
}

var envName = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// value is a text as an expression of type dsl.Value[string].
func (d *decompiler) value(s *scope, text string) string { return d.written(d.pieces(s, text, false)) }

func (d *decompiler) written(list []piece) string {
	switch {
	case len(list) == 0:
		return `dsl.Lit("")`
	case len(list) == 1 && list[0].value == nil:
		return "dsl.Lit(" + literal(list[0].text) + ")"
	case len(list) == 1:
		return d.as(*list[0].value, "string")
	}
	var layout strings.Builder
	var args []string
	for _, p := range list {
		if p.value == nil {
			layout.WriteString(strings.ReplaceAll(p.text, "%", "%%"))
			continue
		}
		layout.WriteString("%v")
		args = append(args, d.code(*p.value))
	}
	if len(args) == 0 {
		return "dsl.Lit(" + literal(strings.ReplaceAll(layout.String(), "%%", "%")) + ")"
	}
	return "dsl.Sprintf(" + literal(layout.String()) + ", " + strings.Join(args, ", ") + ")"
}

// args are texts as dsl.Args.
func (d *decompiler) args(s *scope, texts []string) string {
	list := make([]string, len(texts))
	for i, t := range texts {
		switch p := d.pieces(s, t, true); {
		case len(p) == 0:
			list[i] = `""`
		case len(p) == 1 && p[0].value == nil:
			list[i] = literal(p[0].text)
		case len(p) == 1:
			list[i] = d.code(*p[0].value)
		default:
			list[i] = d.written(p)
		}
	}
	return "dsl.Args(" + strings.Join(list, ", ") + ")"
}

// literal is a text in Go, in backquotes where that is easier to read.
func literal(s string) string {
	hard := strings.ContainsAny(s, "\"\\") && !strings.Contains(s, "\n") || strings.Count(s, "\n") > 2
	if hard && strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) && !strings.Contains(s, "\r") {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

var (
	numberCondition = regexp.MustCompile(`^asFloat\((.+)\) (==|!=|<=|>=|<|>) (-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)$`)
	boolCondition   = regexp.MustCompile(`^lower\((.+)\) (==|!=) ("(?:true|false)")$`)
	textCondition   = regexp.MustCompile(`^(.+) (==|!=|<=|>=|<|>) ("(?:[^"\\]|\\.)*")$`)
	oldCondition    = regexp.MustCompile(`^\s*['"]?(\{\{[^{}]+\}\})['"]?\s*(==|!=)\s*['"]?([^'"]*)['"]?\s*$`)
	comparers       = map[string]string{"==": "Eq", "!=": "Ne", "<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge"}
)

// condition is the question of a task's when.
func (d *decompiler) condition(s *scope, when string) string {
	text, isExpression := strings.CutPrefix(when, "{{=")
	text = strings.TrimSuffix(text, "}}")
	if isExpression {
		if m := numberCondition.FindStringSubmatch(text); m != nil {
			kind := "float64"
			if _, err := strconv.ParseInt(m[3], 10, 64); err == nil {
				kind = "int"
			}
			if left, ok := d.operands(s, m[1], kind); ok {
				return fmt.Sprintf("dsl.%s(%s, %s)", comparers[m[2]], left, m[3])
			}
		}
		if m := boolCondition.FindStringSubmatch(text); m != nil {
			if left, ok := d.operands(s, m[1], "bool"); ok {
				return fmt.Sprintf("dsl.%s(%s, %s)", comparers[m[2]], left, strings.Trim(m[3], `"`))
			}
		}
		if m := textCondition.FindStringSubmatch(text); m != nil {
			right, err := strconv.Unquote(m[3])
			if left, ok := d.operands(s, m[1], "string"); ok && err == nil {
				return fmt.Sprintf("dsl.%s(%s, %s)", comparers[m[2]], left, literal(right))
			}
		}
	} else if m := oldCondition.FindStringSubmatch(when); m != nil { // as Kubeflow Pipelines writes it
		if v, ok := d.reference(s, strings.Trim(m[1], "{} ")); ok {
			return fmt.Sprintf("dsl.%s(%s, %s)", comparers[m[2]], d.as(v, "string"), literal(m[3]))
		}
	}
	d.fault(s.at, s.path, "the condition %s cannot be expressed in the DSL", when)
	return `dsl.Cond{}`
}

// operands is the left side of a condition: values and constants put together with +.
func (d *decompiler) operands(s *scope, text, kind string) (string, bool) {
	if v, ok := d.expression(s, text); ok {
		return d.as(v, kind), true
	}
	var list []piece
	for _, operand := range plus(text) {
		if constant, err := strconv.Unquote(operand); err == nil {
			list = append(list, piece{text: constant})
			continue
		}
		v, ok := d.expression(s, operand)
		if !ok {
			return "", false
		}
		list = append(list, piece{value: &v})
	}
	return d.as(value{kind: "string", pieces: list}, kind), true
}

// plus cuts an expression at the + that are in neither quotes nor parentheses.
func plus(text string) []string {
	var parts []string
	depth, quoted, start := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
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

// constant writes the default of a parameter as a Go value whose text is the same, and its type.
func constant(kind, text string) (code, goType string) {
	same := func(v any) bool {
		out, err := json.Marshal(v)
		return err == nil && string(out) == text
	}
	switch kind {
	case "Integer":
		if n, err := strconv.Atoi(text); err == nil && same(n) {
			return text, "int"
		}
	case "Float":
		if f, err := strconv.ParseFloat(text, 64); err == nil && same(f) {
			if !strings.ContainsAny(text, ".e") {
				return "float64(" + text + ")", "float64"
			}
			return text, "float64"
		}
	case "Bool":
		if text == "true" || text == "false" {
			return text, "bool"
		}
	case "JsonArray":
		if same(json.RawMessage(text)) {
			return "json.RawMessage(" + literal(text) + ")", "json.RawMessage"
		}
	case "JsonObject":
		if same(json.RawMessage(text)) {
			return "object{json.RawMessage(" + literal(text) + ")}", "object"
		}
	}
	return literal(text), "string"
}
