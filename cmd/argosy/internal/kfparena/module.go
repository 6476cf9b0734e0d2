// Package kfparena reads pipelines that are written with kfp-arena, in Python, and gives those of sdk/train that do the same.
//
// It runs no Python. It reads the part of the language that such files are made of (calls with constants, parameters and
// texts that are formatted with them) and refuses the rest with its line. Steps keep their names, parameters their defaults.
package kfparena

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-python/gpython/ast"
)

// Fault is something of a file that is not read.
type Fault struct {
	File    string
	Line    int
	Message string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message) }

// Faults are all of a file's, in the order of its lines.
type Faults []*Fault

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// reader reads one file.
type reader struct {
	file   string
	faults Faults
	notes  Faults // what is not quite as with arena
}

// scope knows the names of the module, or of a pipeline's function.
type scope struct {
	*reader
	names    map[string]value
	outer    *scope
	pipeline *pipeline // nil in the module
}

// pipeline is one function that dsl.pipeline decorates.
type pipeline struct {
	name, description string
	line              int
	params            []*param
	operations        []*operation
}

func (r *reader) fault(at ast.Ast, format string, args ...any) error {
	return &Fault{r.file, line(at), fmt.Sprintf(format, args...)}
}

// line is where an expression or a statement begins. The parser gives some calls no line, but their parts.
func line(at ast.Ast) int {
	found := 0
	ast.Walk(at, func(a ast.Ast) bool {
		if found == 0 {
			found = a.GetLineno()
		}
		return found == 0
	})
	return max(found, 1)
}

// located is an error with the place that it belongs to; one with a place keeps it.
func (r *reader) located(at ast.Ast, err error) error {
	if f := (*Fault)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	return r.fault(at, "%s", err.Error())
}

// report notes what is wrong with a part of the file and goes on.
func (r *reader) report(at ast.Ast, err error) {
	if f := (*Fault)(nil); errors.As(r.located(at, err), &f) {
		r.faults = append(r.faults, f)
	}
}

func (r *reader) note(at ast.Ast, format string, args ...any) {
	r.notes = append(r.notes, &Fault{r.file, line(at), fmt.Sprintf(format, args...)})
}

func (s *scope) lookUp(name string) value {
	for ; s != nil; s = s.outer {
		if v, ok := s.names[name]; ok {
			return v
		}
	}
	return nil
}

// read gives the pipelines of a file.
func (r *reader) read(data []byte) ([]*pipeline, error) {
	m, err := parse(r.file, data)
	if err != nil {
		return nil, err
	}
	s := &scope{reader: r, names: map[string]value{"__file__": constant(filepath.Base(r.file))}}
	functions := s.module(m.Body)
	var all []*pipeline
	for _, f := range functions {
		if p := s.function(f); p != nil {
			all = append(all, p)
		}
	}
	if len(functions) == 0 && len(r.faults) == 0 {
		return nil, &Fault{r.file, 1, "there is no function with the decorator @dsl.pipeline"}
	}
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b *Fault) int { return a.Line - b.Line })
		return nil, r.faults
	}
	return all, nil
}

// module goes through what the file says outside of functions, and gives the pipelines' functions. What is not followed there,
// such as the compiler's call at its end, does no harm: names that it sets are refused where they are used.
func (s *scope) module(body []ast.Stmt) (functions []*ast.FunctionDef) {
	for _, stmt := range body {
		switch stmt := stmt.(type) {
		case *ast.Import:
			for _, a := range stmt.Names {
				s.imported(string(a.Name), string(a.AsName))
			}
		case *ast.ImportFrom:
			for _, a := range stmt.Names {
				s.importedFrom(string(stmt.Module), a)
			}
		case *ast.FunctionDef:
			s.names[string(stmt.Name)] = &function{string(stmt.Name)}
			if s.pipelineCall(stmt) != nil {
				functions = append(functions, stmt)
			}
		case *ast.Assign:
			if err := s.assign(stmt); err != nil {
				s.forget(stmt, "has a value that is not followed: "+message(err))
			}
		case *ast.ExprStmt:
		default:
			s.forget(stmt, "may be set in a statement that is not followed")
		}
	}
	return functions
}

func message(err error) string {
	if f := (*Fault)(nil); errors.As(err, &f) {
		return f.Message
	}
	return err.Error()
}

// imported is import a.b as c.
func (s *scope) imported(name, as string) {
	if as == "" {
		name, _, _ = strings.Cut(name, ".")
		as = name
	}
	s.names[as] = &module{name}
}

// importedFrom is from a.b import c as d.
func (s *scope) importedFrom(from string, a *ast.Alias) {
	as := string(a.AsName)
	if as == "" {
		as = string(a.Name)
	}
	if as == "*" && from == "arena" {
		for name := range operations {
			s.names[name] = &module{"arena." + name}
		}
		return
	}
	s.names[as] = &module{from + "." + string(a.Name)}
}

// forget makes the names that a statement sets unknown.
func (s *scope) forget(stmt ast.Ast, why string) {
	ast.Walk(stmt, func(a ast.Ast) bool {
		switch a := a.(type) {
		case *ast.Name:
			if a.Ctx == ast.Store {
				s.names[string(a.Id)] = &unknown{why}
			}
		case *ast.FunctionDef:
			s.names[string(a.Name)] = &function{string(a.Name)}
			return false
		}
		return true
	})
}

// pipelineCall finds the decorator of a pipeline's function.
func (s *scope) pipelineCall(f *ast.FunctionDef) *ast.Call {
	for _, d := range f.DecoratorList {
		if call, ok := d.(*ast.Call); ok && s.isPipeline(call.Func) {
			return call
		}
		if s.isPipeline(d) {
			return &ast.Call{}
		}
	}
	return nil
}

// isPipeline says whether an expression is kfp.dsl.pipeline. The parser gives a decorator's name as one word, dots and all.
func (s *scope) isPipeline(e ast.Expr) bool {
	n, ok := e.(*ast.Name)
	if !ok {
		return false
	}
	first, rest, _ := strings.Cut(string(n.Id), ".")
	m, ok := s.lookUp(first).(*module)
	if !ok {
		return false
	}
	whole := strings.TrimSuffix(m.name+"."+rest, ".")
	return whole == "kfp.dsl.pipeline" || whole == "kfp.dsl._pipeline.pipeline"
}

// function reads a pipeline's function; nil where it cannot.
func (s *scope) function(f *ast.FunctionDef) *pipeline {
	before := len(s.faults)
	p := &pipeline{name: string(f.Name), line: line(f)}
	inner := &scope{reader: s.reader, names: map[string]value{}, outer: s, pipeline: p}
	inner.decorated(s.pipelineCall(f))
	inner.parameters(f)
	inner.body(f.Body)
	if len(s.faults) > before {
		return nil
	}
	if len(p.operations) == 0 {
		s.report(f, s.fault(f, "the pipeline %s has no steps of arena", p.name))
		return nil
	}
	return p
}

// decorated reads dsl.pipeline's name and description.
func (s *scope) decorated(call *ast.Call) {
	args, err := s.arguments(call)
	s.report(call, err)
	for i, target := range []struct {
		name string
		to   *string
	}{{"name", &s.pipeline.name}, {"description", &s.pipeline.description}} {
		v, ok := args.named[target.name]
		if i < len(args.list) {
			v, ok = args.list[i], true
		}
		if t, isText := v.(text); ok && isText {
			if known, constant := t.known(); constant && known != "" {
				*target.to = known
			}
		}
	}
}

// body goes through the statements of a pipeline. After a fault it goes on, so that one import tells them all.
func (s *scope) body(body []ast.Stmt) {
	for _, stmt := range body {
		if err := s.statement(stmt); err != nil {
			s.report(stmt, err)
			s.forget(stmt, "is not known, as its line is refused")
		}
	}
}

func (s *scope) statement(stmt ast.Stmt) error {
	switch stmt := stmt.(type) {
	case *ast.Assign:
		return s.assign(stmt)
	case *ast.AugAssign:
		name, ok := stmt.Target.(*ast.Name)
		if !ok {
			return s.fault(stmt, "values are given to names only")
		}
		v, err := s.binary(&ast.BinOp{ExprBase: ast.ExprBase{Pos: ast.Pos{Lineno: stmt.GetLineno()}}, Left: name, Op: stmt.Op, Right: stmt.Value})
		if err == nil {
			s.names[string(name.Id)] = v
		}
		return err
	case *ast.ExprStmt:
		_, err := s.eval(stmt.Value)
		return err
	case *ast.Return:
		if stmt.Value == nil {
			return nil
		}
		_, err := s.eval(stmt.Value)
		return err
	case *ast.Pass:
		return nil
	case *ast.Import:
		for _, a := range stmt.Names {
			s.imported(string(a.Name), string(a.AsName))
		}
		return nil
	}
	return s.fault(stmt, "this statement is not read: loops, conditions and groups of steps are in Go what p.If, dsl.Each and p.OnExit do")
}

// assign gives a value to names.
func (s *scope) assign(stmt *ast.Assign) error {
	v, err := s.eval(stmt.Value)
	if err != nil {
		return err
	}
	for _, target := range stmt.Targets {
		name, ok := target.(*ast.Name)
		if !ok {
			return s.fault(stmt, "values are given to names only, one at a time")
		}
		s.names[string(name.Id)] = v
	}
	return nil
}
