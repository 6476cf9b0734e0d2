package kfparena

import (
	"slices"
	"strings"

	"github.com/go-python/gpython/ast"
)

// operation is a step: a call of one of arena's functions.
type operation struct {
	signature *signature
	at        *ast.Call
	given     map[string]given
	after     []*operation
	step      string // its name here
}

// signature is what a function of arena takes.
type signature struct {
	kind     string // of job
	args     []string
	required []string
}

// operations are the functions of arena.
var operations = map[string]*signature{
	"mpi_job_op": {
		kind: "mpi", required: []string{"name", "image", "command"},
		args: strings.Fields("name image command workers gpus cpu_limit memory_limit env annotations data sync_source rdma tensorboard tensorboard_image metrics arenaImage timeout_hours"),
	},
	"standalone_job_op": {
		kind: "job", required: []string{"name", "image", "command"},
		args: strings.Fields("name image command gpus cpu_limit memory_limit env tensorboard tensorboard_image data sync_source annotations metrics arena_image timeout_hours"),
	},
	"parameter_servers_op": {
		kind: "tf", required: []string{"name", "image", "command"},
		args: strings.Fields("name image command env data sync_source annotations workers worker_image worker_cpu worker_memory parameter_servers ps_image ps_cpu ps_memory gpus rdma tensorboard worker_port ps_port metrics arena_image timeout_hours"),
	},
	"estimator_op": {
		kind: "estimator", required: []string{"name", "image", "command"},
		args: strings.Fields("name image command chief_cpu chief_memory chief_port workers worker_image worker_cpu worker_memory parameter_servers ps_image ps_cpu ps_memory ps_port gpus rdma tensorboard worker_port annotations evaluator evaluator_cpu evaluator_memory env data sync_source metrics arena_image timeout_hours"),
	},
}

// leftOut are arguments without a field, and why.
var leftOut = map[string]string{
	"arenaImage":  "the step runs in Argosy's own launcher; LauncherImage names another one",
	"arena_image": "the step runs in Argosy's own launcher; LauncherImage names another one",
	"worker_port": "the operator gives every pod the port 2222",
	"ps_port":     "the operator gives every pod the port 2222",
	"chief_port":  "the operator gives every pod the port 2222",
}

// operate notes a step.
func (s *scope) operate(e *ast.Call, name string) (value, error) {
	sig := operations[name]
	if sig == nil {
		return nil, s.fault(e, "arena has no %s; it has estimator_op, mpi_job_op, parameter_servers_op and standalone_job_op", name)
	}
	if s.pipeline == nil {
		return nil, s.fault(e, "the step is outside of a pipeline's function")
	}
	op := &operation{signature: sig, at: e, given: map[string]given{}}
	if len(e.Args) > len(sig.args) {
		return nil, s.fault(e, "%s takes %d arguments", name, len(sig.args))
	}
	set := func(arg string, value ast.Expr) error {
		if _, twice := op.given[arg]; twice {
			return s.fault(value, "%s is given twice", arg)
		}
		v, err := s.eval(value)
		op.given[arg] = given{v, value}
		return err
	}
	for i, a := range e.Args {
		if err := set(sig.args[i], a); err != nil {
			return nil, err
		}
	}
	for _, k := range e.Keywords {
		if !slices.Contains(sig.args, string(k.Arg)) {
			return nil, s.fault(k.Value, "%s has no argument %s; it has %s", name, k.Arg, strings.Join(sig.args, ", "))
		}
		if err := set(string(k.Arg), k.Value); err != nil {
			return nil, err
		}
	}
	for _, arg := range sig.required {
		if v, ok := op.given[arg]; !ok || v.value == nil || isNothing(v.value) {
			return nil, s.fault(e, "%s needs %s", name, arg)
		}
	}
	for _, arg := range sig.args {
		if why := leftOut[arg]; why != "" && op.given[arg].at != nil {
			s.note(op.given[arg].at, "%s is left out: %s", arg, why)
		}
	}
	s.pipeline.operations = append(s.pipeline.operations, op)
	return op, nil
}

func isNothing(v value) bool {
	is, known := truth(v)
	return known && !is
}
