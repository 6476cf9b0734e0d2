package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/Knetic/govaluate"
	exprenv "github.com/argoproj/argo-workflows/v3/util/expr/env"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"gopkg.in/yaml.v3"
)

// checkExpressions finds what is wrong in the small languages that Argo reads only when the workflow runs: conditions,
// expressions, and lists to loop over. A step with a malformed one fails there, or Argo silently leaves the text unchanged.
// If a variable is not closed, Argo reads on to the next closing braces, so the rest of the text cannot be checked.
func checkExpressions(root *yaml.Node) (faults []Fault, closed bool) {
	closed = true
	fault := func(n *yaml.Node, path, format string, args ...any) {
		faults = append(faults, at(n, path, fmt.Sprintf(format, args...)))
	}
	walk(child(root, "spec"), "spec", func(n *yaml.Node, path string) {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || strings.Contains(path, ".inline.") {
			return
		}
		if i := strings.LastIndex(n.Value, "{{"); i >= 0 && !strings.Contains(n.Value[i:], "}}") {
			fault(n, path, "%s: the variable is not closed by }}", n.Value[i:])
			closed = false
		}
		for _, e := range expressions(n.Value) {
			if err := checkExpression(e); err != nil {
				fault(n, path, "the expression %s: %v", e, err)
			}
		}
		switch field := path[strings.LastIndexByte(path, '.')+1:]; field {
		case "when":
			if err := checkCondition(n.Value); err != nil {
				fault(n, path, "the condition %s: %v", n.Value, err)
			}
		case "expression", "fromExpression":
			if err := checkExpression(n.Value); err != nil && !strings.Contains(n.Value, "{{") {
				fault(n, path, "the expression %s: %v", n.Value, err)
			}
		case "withParam":
			if err := checkItems(n.Value); err != nil {
				fault(n, path, "%v", err)
			}
		}
	})
	return faults, closed
}

// expressions are the {{=...}} in a text.
func expressions(text string) []string {
	var out []string
	for {
		_, rest, found := strings.Cut(text, "{{")
		tag, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			return out
		}
		if e, is := strings.CutPrefix(tag, "="); is {
			out = append(out, e)
		}
		text = after
	}
}

// functions are those of Argo's own, besides the language's.
var functions = exprenv.GetFuncMap(nil)

// checkExpression says what is wrong in an expression, whatever the variables in it will be.
func checkExpression(text string) error {
	tree, err := parser.Parse(text)
	if err != nil {
		return explainExpression(err)
	}
	var calls unknownCall
	ast.Walk(&tree.Node, &calls)
	if calls.name != "" {
		return fmt.Errorf("there is no function %s", calls.name)
	}
	_, err = expr.Compile(text, expr.Env(functions), expr.AllowUndefinedVariables())
	return explainExpression(err)
}

// explainExpression is an error in an expression in one line.
func explainExpression(err error) error {
	if e := (*file.Error)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s, at character %d", e.Message, e.Column+1)
	}
	return err
}

// unknownCall looks for a call of an unknown function.
type unknownCall struct{ name string }

// Visit is part of ast.Visitor.
func (u *unknownCall) Visit(n *ast.Node) {
	call, ok := (*n).(*ast.CallNode)
	if !ok {
		return
	}
	switch callee := call.Callee.(type) {
	case *ast.IdentifierNode:
		if functions[callee.Value] == nil {
			u.name = callee.Value
		}
	case *ast.MemberNode:
		of, isName := callee.Node.(*ast.IdentifierNode)
		name, isConstant := callee.Property.(*ast.StringNode)
		if isName && isConstant && of.Value == "sprig" {
			if sprig, _ := functions["sprig"].(map[string]any); sprig[name.Value] == nil {
				u.name = "sprig." + name.Value
			}
		}
	}
}

var tag = regexp.MustCompile(`\{\{.*?\}\}`)

// checkCondition says what is wrong in a when, once there are words, numbers or answers where its variables are.
func checkCondition(text string) error {
	var first error
	for _, value := range []string{"x", "1", "true", "'x'"} {
		_, err := govaluate.NewEvaluableExpression(tag.ReplaceAllLiteralString(text, value))
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// checkItems says what is wrong in a list to loop over that is written out.
func checkItems(text string) error {
	var items []any
	if strings.Contains(text, "{{") || strings.TrimSpace(text) == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return fmt.Errorf("it must be a JSON list, such as [\"a\", \"b\"], or a value that is one: %w", err)
	}
	return nil
}
