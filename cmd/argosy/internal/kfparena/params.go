package kfparena

import (
	"github.com/go-python/gpython/ast"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// parameters reads the parameters of a pipeline's function. Their types come from their defaults, else from their annotations.
func (s *scope) parameters(f *ast.FunctionDef) {
	a := f.Args
	if a.Vararg != nil || a.Kwarg != nil || len(a.Kwonlyargs) > 0 {
		s.report(f, s.fault(f, "a pipeline with * in its parameters is not read"))
	}
	for i, arg := range a.Args {
		p := &param{name: string(arg.Arg), kind: annotated(arg.Annotation), required: true, line: arg.Lineno}
		if j := i - (len(a.Args) - len(a.Defaults)); j >= 0 {
			s.report(a.Defaults[j], s.byDefault(p, a.Defaults[j]))
		}
		s.pipeline.params = append(s.pipeline.params, p)
		s.names[string(arg.Arg)] = text{{param: p}}
	}
}

// annotated is the type that an annotation names: learning_rate: float.
func annotated(e ast.Expr) graph.Type {
	if n, ok := e.(*ast.Name); ok {
		switch n.Id {
		case "int":
			return graph.Integer
		case "float":
			return graph.Float
		case "bool":
			return graph.Bool
		}
	}
	return graph.String
}

// byDefault reads the default of a parameter. In early releases of KFP it is dsl.PipelineParam(name='workers', value=2).
func (s *scope) byDefault(p *param, e ast.Expr) error {
	if call, ok := e.(*ast.Call); ok {
		if m, err := s.outer.eval(call.Func); err == nil {
			if m, ok := m.(*module); ok && m.name == "kfp.dsl.PipelineParam" {
				return s.pipelineParam(p, call)
			}
		}
	}
	v, err := s.outer.eval(e)
	if err != nil {
		return err
	}
	return s.setDefault(p, v, e)
}

func (s *scope) pipelineParam(p *param, call *ast.Call) error {
	args, err := s.outer.arguments(call)
	if err != nil {
		return err
	}
	var values [3]value // name, operation, value
	for i, name := range []string{"name", "op_name", "value"} {
		if values[i] = args.named[name]; i < len(args.list) {
			values[i] = args.list[i]
		}
	}
	if name, ok := values[0].(text); ok {
		if known, constant := name.known(); constant && known != "" {
			p.name = known
		}
	}
	if values[2] == nil {
		return nil
	}
	return s.setDefault(p, values[2], call)
}

func (s *scope) setDefault(p *param, v value, at ast.Ast) error {
	switch v.(type) {
	case none:
		return nil // a run must set it
	case int64:
		if p.kind != graph.Float {
			p.kind = graph.Integer
		}
	case float64:
		p.kind = graph.Float
	case bool:
		p.kind = graph.Bool
	}
	t, err := written(v)
	if err != nil {
		return s.fault(at, "the default of %s is %s: it must be a text, a number, True or False", p.name, described(v))
	}
	known, constant := t.known()
	if !constant {
		return s.fault(at, "the default of %s is known only when the pipeline runs", p.name)
	}
	p.def, p.required = known, false
	return nil
}
