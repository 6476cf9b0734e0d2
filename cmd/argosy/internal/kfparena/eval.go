package kfparena

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/go-python/gpython/ast"
	"github.com/go-python/gpython/py"
)

// eval gives the value of an expression.
func (s *scope) eval(e ast.Expr) (value, error) {
	switch e := e.(type) {
	case *ast.Str:
		return s.literal(e, string(e.S))
	case *ast.Num:
		v, err := number(e)
		return v, s.located(e, err)
	case *ast.NameConstant:
		return nameConstant(e.Value), nil
	case *ast.Name:
		return s.name(e)
	case *ast.List:
		items, err := s.all(e.Elts)
		return &list{items}, err
	case *ast.Tuple:
		items, err := s.all(e.Elts)
		return tuple(items), err
	case *ast.BinOp:
		return s.binary(e)
	case *ast.UnaryOp:
		return s.unary(e)
	case *ast.Attribute:
		return s.attribute(e)
	case *ast.Subscript:
		return s.subscript(e)
	case *ast.Call:
		return s.call(e)
	}
	return nil, s.fault(e, "this kind of expression is not read: use texts, numbers, lists, names, parameters and calls of arena")
}

// number is a number that fits into 64 bits.
func number(e *ast.Num) (value, error) {
	switch n := e.N.(type) {
	case py.Int:
		return int64(n), nil
	case py.Float:
		return float64(n), nil
	}
	return nil, errors.New("a step cannot have this kind of number")
}

func nameConstant(c ast.Singleton) value {
	if b, ok := c.(py.Bool); ok {
		return bool(b)
	}
	return none{}
}

func (s *scope) all(es []ast.Expr) ([]value, error) {
	items := make([]value, 0, len(es))
	for _, e := range es {
		v, err := s.eval(e)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return items, nil
}

// literal is a text, in which formatted ones stand between marks.
func (s *scope) literal(at ast.Ast, raw string) (value, error) {
	var out []text
	for raw != "" {
		before, rest, found := strings.Cut(raw, string(formattedStart))
		out = append(out, constant(before))
		if !found {
			break
		}
		inside, after, _ := strings.Cut(rest, string(formattedEnd))
		t, err := fill(constant(inside), s.embedded)
		if err != nil {
			return nil, s.located(at, err)
		}
		out = append(out, t)
		raw = after
	}
	t, err := join(out...)
	return t, s.located(at, err)
}

// embedded is the value of an expression in the braces of a formatted text.
func (s *scope) embedded(source string) (value, error) {
	e, err := parseExpression(source)
	if err != nil {
		return nil, fmt.Errorf("{%s} cannot be read: %w", source, err)
	}
	v, err := s.eval(e)
	if f := (*Fault)(nil); errors.As(err, &f) {
		return nil, errors.New(f.Message) // its line is one of the expression
	}
	return v, err
}

func (s *scope) name(e *ast.Name) (value, error) {
	switch v := s.lookUp(string(e.Id)).(type) {
	case nil:
		return nil, s.fault(e, "the name %s is not known here", e.Id)
	case *unknown:
		return nil, s.fault(e, "%s %s", e.Id, v.why)
	default:
		return v, nil
	}
}

func (s *scope) binary(e *ast.BinOp) (value, error) {
	left, err := s.eval(e.Left)
	if err != nil {
		return nil, err
	}
	right, err := s.eval(e.Right)
	if err != nil {
		return nil, err
	}
	v, err := operate(e.Op, left, right)
	return v, s.located(e, err)
}

// operate adds texts and lists, formats texts, and counts with whole numbers.
func operate(op ast.OperatorNumber, left, right value) (value, error) {
	switch a := left.(type) {
	case text:
		if b, ok := right.(text); ok && op == ast.Add {
			return join(a, b)
		}
		if op == ast.Modulo {
			return percent(a, right)
		}
	case *list:
		if b, ok := right.(*list); ok && op == ast.Add {
			return extended(a, b.items)
		}
	case int64:
		if b, ok := right.(int64); ok {
			return count(op, a, b)
		}
	}
	return nil, fmt.Errorf("%s and %s cannot be put together here", described(left), described(right))
}

// maxItems is the length of the longest list.
const maxItems = 1000

func extended(l *list, more []value) (*list, error) {
	if len(l.items)+len(more) > maxItems {
		return nil, fmt.Errorf("the list has more than %d items", maxItems)
	}
	return &list{append(append([]value{}, l.items...), more...)}, nil
}

// count is the result of +, -, * and // for whole numbers.
func count(op ast.OperatorNumber, a, b int64) (value, error) {
	const limit = math.MaxInt32
	if a > limit || a < -limit || b > limit || b < -limit {
		return nil, errors.New("the number is too large")
	}
	switch op {
	case ast.Add:
		return a + b, nil
	case ast.Sub:
		return a - b, nil
	case ast.Mult:
		return a * b, nil
	case ast.FloorDiv:
		if b > 0 && a >= 0 {
			return a / b, nil
		}
	}
	return nil, errors.New("numbers can be put together by +, - and *, and by // above 0")
}

func (s *scope) unary(e *ast.UnaryOp) (value, error) {
	v, err := s.eval(e.Operand)
	if err != nil {
		return nil, err
	}
	if e.Op == ast.USub {
		switch n := v.(type) {
		case int64:
			return -n, nil
		case float64:
			return -n, nil
		}
	}
	return nil, s.fault(e, "this operator is not read")
}

// attribute is a part of a module, the outputs of a step, or a method.
func (s *scope) attribute(e *ast.Attribute) (value, error) {
	of, err := s.eval(e.Value)
	if err != nil {
		return nil, err
	}
	name := string(e.Attr)
	switch of := of.(type) {
	case *module:
		return &module{of.name + "." + name}, nil
	case *operation:
		if name == "outputs" {
			return outputs{of}, nil
		}
		if name == "output" {
			return nil, s.fault(e, "output: the step has several; use outputs['name'], outputs['workflow'], outputs['step'] or outputs['train']")
		}
		return &method{of, name}, nil
	case text, *list:
		return &method{of, name}, nil
	}
	return nil, s.fault(e, "%s has no %s here", described(of), name)
}

// outputNames are the outputs of kfp-arena's steps.
var outputNames = []string{"name", "step", "train", "workflow"}

func (s *scope) subscript(e *ast.Subscript) (value, error) {
	of, err := s.eval(e.Value)
	if err != nil {
		return nil, err
	}
	index, ok := e.Slice.(*ast.Index)
	if !ok {
		return nil, s.fault(e, "slices are not read")
	}
	key, err := s.eval(index.Value)
	if err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case outputs:
		t, _ := key.(text)
		if name, ok := t.known(); ok {
			for _, n := range outputNames {
				if n == name {
					return text{{op: of.op, output: name}}, nil
				}
			}
		}
		return nil, s.fault(e, "a step of arena has the outputs %s", strings.Join(outputNames, ", "))
	case *list:
		if i, ok := key.(int64); ok && i >= 0 && i < int64(len(of.items)) {
			return of.items[i], nil
		}
		return nil, s.fault(e, "the list has no such item")
	}
	return nil, s.fault(e, "%s has no items here", described(of))
}
