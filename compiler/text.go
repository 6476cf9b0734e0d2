package compiler

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// references returns what a node itself refers to, each once and in order; not what the nodes inside it do.
func references(n graph.Node) []graph.Ref {
	var refs []graph.Ref
	for _, t := range n.Texts() {
		for _, p := range t {
			if p.Ref != nil && !slices.Contains(refs, *p.Ref) {
				refs = append(refs, *p.Ref)
			}
		}
	}
	return refs
}

// source says where a value is to be found: at a path of Argo's variables, such as tasks.fit.outputs.parameters.loss,
// or as the result of an expression, where what lies at the path is not yet the value itself.
type source struct{ path, expression string }

// tag is the source as it stands in text.
func (s source) tag() text {
	if s.expression != "" {
		return text("{{=" + s.expression + "}}")
	}
	return text("{{" + s.path + "}}")
}

// literal is the source as it stands in text that Kubernetes reads once the value is there: what is a $ then, it leaves alone.
func (s source) literal() text { return tagged(`sprig.replace("$", "$$", ` + s.operand() + `)`) }

// operand is the source as it stands in an expression.
func (s source) operand() string {
	if s.expression != "" {
		return s.expression
	}
	return member(s.path)
}

// itemText is a loop's item that is text. Up to 3.7.9 Argo leaves the escapes of JSON in it, 3.7.18 does not: what is the inside of a
// JSON string is read as one. So there a text whose backslashes all look like escapes of JSON, such as a\tb, loses them; any other
// text arrives as it is.
const itemText = `(item matches "^([^\"\\\\[:cntrl:]]|\\\\([\"\\\\/bfnrt]|u[0-9a-fA-F]{4}))*$" ? fromJSON("\"" + item + "\"") : item)`

// item is the source of a loop's current item. Argo leaves the escapes of JSON in fields that are text.
func item(r graph.Ref, t graph.Type) source {
	path := "item"
	if r.Field != "" {
		path, t = "item."+r.Field, r.FieldType
	}
	switch {
	case t != graph.String:
		return source{path: path}
	case r.Field == "":
		return source{path, itemText}
	}
	return source{path, `fromJSON("\"" + ` + member(path) + ` + "\"")`}
}

// gathered is the source of a list of the values that an output of a loop had. Argo makes every value a text,
// or, if all of them look like JSON lists or objects, none.
func gathered(path string, t graph.Type) source {
	list := member(path)
	switch t {
	case graph.Integer, graph.Float:
		return source{path, `"[" + join(fromJSON(` + list + `), ",") + "]"`}
	case graph.Bool: // Python writes True
		return source{path, `lower("[" + join(fromJSON(` + list + `), ",") + "]")`}
	case graph.String:
		return source{path, `toJson(map(fromJSON(` + list + `), type(#) == "string" ? # : toJson(#)))`}
	}
	return source{path: path}
}

// tagged is an expression as it stands in text.
func tagged(expression string) text { return text("{{=" + expression + "}}") }

// operand writes a text as an expression.
func operand(t graph.Text, where func(graph.Ref) source) string {
	operands := make([]string, len(t))
	for i, p := range t {
		switch {
		case p.Ref == nil:
			operands[i] = quote(p.Text)
		case p.Ref.Variable != "":
			operands[i] = member(p.Ref.Variable)
		default:
			operands[i] = where(*p.Ref).operand()
		}
	}
	if len(operands) == 0 {
		return quote("")
	}
	return strings.Join(operands, " + ")
}

// condition writes a comparison as one of Argo's expressions. Pasting the values into the text of the condition,
// the older way, would let a value with a quote in it change the question.
func condition(c graph.Cond, where func(graph.Ref) source) string {
	left := operand(c.Left, where)
	switch c.Type {
	case graph.Integer, graph.Float:
		return fmt.Sprintf("asFloat(%s) %s %s", left, c.Op, c.Right)
	case graph.Bool: // Python writes True
		return fmt.Sprintf("lower(%s) %s %s", left, c.Op, quote(c.Right))
	}
	return fmt.Sprintf("%s %s %s", left, c.Op, quote(c.Right))
}

// quote writes text as a constant of an expression. A brace in it could end the expression, so none is left.
func quote(s string) string {
	return strings.NewReplacer("{", `\x7b`, "}", `\x7d`).Replace(strconv.Quote(s))
}

var identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// member turns a.b-c.d into a['b-c'].d, since a dash is a minus in an expression. Dots stay where they can: Argo
// knows by workflow.status, so spelt, that an expression must wait for the end.
func member(path string) string {
	var b strings.Builder
	for i, name := range strings.Split(path, ".") {
		switch {
		case i == 0:
			b.WriteString(name)
		case identifier.MatchString(name):
			b.WriteString("." + name)
		default:
			b.WriteString("['" + name + "']")
		}
	}
	return b.String()
}
