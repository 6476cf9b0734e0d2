package decompile

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

var (
	numberCondition = regexp.MustCompile(`^asFloat\((.+)\) (==|!=|<=|>=|<|>) (-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)$`)
	boolCondition   = regexp.MustCompile(`^lower\((.+)\) (==|!=) ("(?:true|false)")$`)
	textCondition   = regexp.MustCompile(`^(.+) (==|!=|<=|>=|<|>) ("(?:[^"\\]|\\.)*"|'[^'"\\]*')$`)
	oldCondition    = regexp.MustCompile(`^\s*(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+?)\s*$`)
	bareNumber      = regexp.MustCompile(`^-?[0-9]+(?:\.[0-9]+)?$`)
	bareWord        = regexp.MustCompile(`^[_a-zA-Z][-_a-zA-Z0-9]*$`)
)

// conditions are the comparisons of a task's when; all must hold.
func (r *raiser) conditions(s *scope, when string) []graph.Cond {
	if own, ok := strings.CutPrefix(when, "{{="); ok && strings.Index(own, "}}") == len(own)-2 {
		text := strings.TrimSuffix(own, "}}")
		if c, ok := r.condition(s, text); ok {
			return []graph.Cond{c}
		}
	} else if !strings.Contains(when, "||") {
		var list []graph.Cond
		for part := range strings.SplitSeq(when, "&&") {
			if inner, ok := strings.CutPrefix(strings.TrimSpace(part), "("); ok && strings.HasSuffix(inner, ")") {
				part = strings.TrimSuffix(inner, ")")
			}
			if strings.ContainsAny(part, "()") {
				break
			}
			c, ok := r.oldCondition(s, part)
			if !ok {
				break
			}
			list = append(list, c)
		}
		if len(list) == strings.Count(when, "&&")+1 {
			return list
		}
	}
	if !r.refusedWithin(s, when) {
		r.fault(s.at, s.path, "the condition %s cannot be expressed in the DSL, which compares a value with a constant", when)
	}
	return []graph.Cond{{Left: graph.Text{{Text: ""}}, Op: "==", Type: graph.String}}
}

// refusedWithin says what is wrong with the variables of a condition.
func (r *raiser) refusedWithin(s *scope, when string) bool {
	before := len(r.faults)
	for rest := when; ; {
		_, after, found := strings.Cut(rest, "{{")
		tag, next, closed := strings.Cut(after, "}}")
		if !found || !closed {
			return len(r.faults) > before
		}
		if _, ok := r.tag(s, tag); !ok && !strings.HasPrefix(tag, "=") {
			r.fault(s.at, s.path, "{{%s}}: %s", tag, s.why(tag))
		}
		rest = next
	}
}

// condition reads an expression as the compiler writes it.
func (r *raiser) condition(s *scope, text string) (graph.Cond, bool) {
	if m := numberCondition.FindStringSubmatch(text); m != nil {
		kind := graph.Float
		if fits(graph.Integer, m[3]) {
			kind = graph.Integer
		}
		left, ok := r.expression(s, m[1])
		r.types.compared(r.sub, left, kind)
		return graph.Cond{Left: left, Op: m[2], Right: m[3], Type: kind}, ok
	}
	if m := boolCondition.FindStringSubmatch(text); m != nil {
		left, ok := r.expression(s, m[1])
		r.types.compared(r.sub, left, graph.Bool)
		return graph.Cond{Left: left, Op: m[2], Right: strings.Trim(m[3], `"`), Type: graph.Bool}, ok
	}
	if m := textCondition.FindStringSubmatch(text); m != nil {
		right, constant := unquote(m[3])
		left, ok := r.expression(s, m[1])
		return graph.Cond{Left: left, Op: m[2], Right: right, Type: graph.String}, ok && constant
	}
	return graph.Cond{}, false
}

// turned are the comparisons with their sides exchanged.
var turned = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// oldCondition reads a comparison in which values are pasted as text, as Kubeflow Pipelines and Argo's users write them.
func (r *raiser) oldCondition(s *scope, text string) (graph.Cond, bool) {
	m := oldCondition.FindStringSubmatch(text)
	if m == nil {
		return graph.Cond{}, false
	}
	left, op, right := m[1], m[2], m[3]
	if strings.Contains(right, "{{") && !strings.Contains(left, "{{") {
		left, op, right = right, turned[op], left
	}
	if strings.Contains(right, "{{") || !strings.Contains(left, "{{") {
		return graph.Cond{}, false
	}
	inner, quotedLeft := bare(left)
	constant, quotedRight := bare(right)
	c := graph.Cond{Op: op, Right: constant, Type: graph.String}
	switch {
	case quotedRight || quotedLeft:
	case bareNumber.MatchString(constant):
		c.Type = graph.Float
		if _, err := strconv.Atoi(constant); err == nil {
			c.Type = graph.Integer
		}
		if !fits(c.Type, constant) {
			return c, false
		}
	case constant == "true" || constant == "false":
		c.Type = graph.Bool
	case !bareWord.MatchString(constant):
		return c, false
	}
	if c.Type == graph.Bool && op != "==" && op != "!=" || strings.ContainsAny(strings.ReplaceAll(inner, "{{", ""), `'"\`) {
		return c, false
	}
	before := len(r.faults)
	plain := *s
	plain.env = nil
	c.Left = r.text(&plain, inner)
	if c.Type != graph.String {
		r.types.compared(r.sub, c.Left, c.Type)
	}
	if len(r.faults) > before {
		r.faults = r.faults[:before]
		return c, false
	}
	return c, true
}

// bare takes the quotes from a side of a condition.
func bare(side string) (text string, quoted bool) {
	for _, q := range []string{`"`, `'`} {
		if len(side) >= 2 && strings.HasPrefix(side, q) && strings.HasSuffix(side, q) {
			return side[1 : len(side)-1], true
		}
	}
	return side, false
}
