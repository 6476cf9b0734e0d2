package kfparena

import (
	"errors"
	"strings"

	"github.com/go-python/gpython/ast"
)

// given is an argument of a call.
type given struct {
	value value
	at    ast.Ast
}

// call makes a step, orders steps, formats a text, or refuses.
func (s *scope) call(e *ast.Call) (value, error) {
	if e.Starargs != nil || e.Kwargs != nil {
		return nil, s.fault(e, "arguments by * and ** are not read")
	}
	if n, ok := e.Func.(*ast.Name); ok && s.lookUp(string(n.Id)) == nil {
		return s.builtin(e, string(n.Id))
	}
	f, err := s.eval(e.Func)
	if err != nil {
		return nil, err
	}
	switch f := f.(type) {
	case *module:
		if name, ok := strings.CutPrefix(f.name, "arena."); ok {
			return s.operate(e, name)
		}
		return nil, s.fault(e, "%s: only steps of arena can be imported. Compile the pipeline with KFP's SDK, and argosy decompile turns the package into Go", f.name)
	case *method:
		return s.callMethod(e, f)
	case *function:
		return nil, s.fault(e, "calls of functions of the file are not followed: write what %s does where it is called", f.name)
	}
	return nil, s.fault(e, "%s cannot be called", described(f))
}

// builtin is str, int or float.
func (s *scope) builtin(e *ast.Call, name string) (value, error) {
	if name != "str" && name != "print" {
		return nil, s.fault(e, "%s cannot be called here", name)
	}
	args, err := s.all(e.Args)
	switch {
	case err != nil:
		return nil, err
	case name == "print":
		return none{}, nil
	case len(args) != 1 || len(e.Keywords) > 0:
		return nil, s.fault(e, "str takes one value")
	}
	t, err := written(args[0])
	return t, s.located(e, err)
}

func (s *scope) callMethod(e *ast.Call, m *method) (value, error) {
	args, err := s.arguments(e)
	if err != nil {
		return nil, err
	}
	var v value
	switch of := m.of.(type) {
	case *operation:
		return s.order(e, of, m.name, args)
	case text:
		v, err = textMethod(of, m.name, args)
	case *list:
		v, err = listMethod(of, m.name, args)
	}
	if errors.Is(err, errNoMethod) {
		return nil, s.fault(e, "%s has no method %s that is read here", described(m.of), m.name)
	}
	return v, s.located(e, err)
}

func (s *scope) arguments(e *ast.Call) (arguments, error) {
	args := arguments{named: map[string]value{}}
	var err error
	if args.list, err = s.all(e.Args); err != nil {
		return args, err
	}
	for _, k := range e.Keywords {
		if args.named[string(k.Arg)], err = s.eval(k.Value); err != nil {
			return args, err
		}
	}
	return args, nil
}

// order is op.after(...).
func (s *scope) order(e *ast.Call, op *operation, name string, args arguments) (value, error) {
	if name != "after" {
		return nil, s.fault(e, "%s sets an option of arena's launcher pod, which does not exist here: leave it out, or set the option of the step in Go", name)
	}
	for _, a := range args.list {
		other, ok := a.(*operation)
		if !ok {
			return nil, s.fault(e, "after takes steps, and this is %s", described(a))
		}
		op.after = append(op.after, other)
	}
	return op, nil
}

var errNoMethod = errors.New("no such method")

func textMethod(of text, name string, args arguments) (value, error) {
	known, constantText := of.known()
	switch {
	case name == "format":
		return braces(of, args)
	case name == "strip" && constantText && len(args.list) == 0:
		return constant(strings.TrimSpace(known)), nil
	case name == "join" && len(args.list) == 1:
		l, ok := args.list[0].(*list)
		if !ok {
			return nil, errNoMethod
		}
		var all []text
		for i, item := range l.items {
			t, ok := item.(text)
			if !ok {
				return nil, errNoMethod
			}
			if i > 0 {
				all = append(all, of)
			}
			all = append(all, t)
		}
		return join(all...)
	}
	return nil, errNoMethod
}

func listMethod(of *list, name string, args arguments) (value, error) {
	if name != "append" && name != "extend" || len(args.list) != 1 {
		return nil, errNoMethod
	}
	more := args.list
	if l, ok := args.list[0].(*list); ok && name == "extend" {
		more = l.items
	}
	longer, err := extended(of, more)
	if err != nil {
		return nil, err
	}
	of.items = longer.items
	return none{}, nil
}
