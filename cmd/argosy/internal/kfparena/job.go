package kfparena

import (
	"errors"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// eni is the annotation that asks for an elastic network interface.
const eni = "k8s.aliyun.com/eni"

// What kfp-arena does where an argument is left out.
const (
	defaultMetric = "Train-accuracy:PERCENTAGE"
	defaultTime   = 240 * time.Hour
)

// job adds the step of an operation.
func (w *writer) job(op *operation, wait []dsl.Handle) (*train.Outputs, error) {
	spec, err := w.spec(op)
	if err != nil {
		return nil, err
	}
	var opts []dsl.StepOption
	if len(wait) > 0 {
		opts = append(opts, dsl.After(wait...))
	}
	var out train.Outputs
	switch op.signature.kind {
	case "mpi":
		out = train.MPIJob(w.p, op.step, train.MPI(spec), opts...)
	case "job":
		out = train.Job(w.p, op.step, train.Single(spec), opts...)
	default:
		job, err := w.tf(op, spec)
		if err != nil {
			return nil, err
		}
		out = train.TFJob(w.p, op.step, job, opts...)
	}
	return &out, nil
}

// spec is what all kinds have.
func (w *writer) spec(op *operation) (train.Spec, error) {
	spec := train.Spec{RunningTimeout: dsl.Lit(defaultTime)}
	err := errors.Join(
		field(w, &spec.Image, op, "image", asText),
		field(w, &spec.Command, op, "command", asText),
		field(w, &spec.Workers, op, "workers", asWhole),
		field(w, &spec.GPUs, op, "gpus", asWhole),
		field(w, &spec.CPU, op, "cpu_limit", asText),
		field(w, &spec.CPU, op, "worker_cpu", asText),
		field(w, &spec.Memory, op, "memory_limit", asText),
		field(w, &spec.Memory, op, "worker_memory", asText),
		field(w, &spec.RDMA, op, "rdma", asTruth),
		field(w, &spec.Git.Repo, op, "sync_source", asText),
		field(w, &spec.TensorBoard.Enabled, op, "tensorboard", asTruth),
		field(w, &spec.TensorBoard.Image, op, "tensorboard_image", asText),
		w.timeout(op, &spec),
		w.lists(op, &spec),
	)
	if v, ok := dsl.Known(spec.Git.Repo); ok && v == "" {
		spec.Git.Repo = dsl.Value[string]{}
	}
	spec.CPU, spec.Memory = unlessNone(spec.CPU), unlessNone(spec.Memory)
	if off, ok := dsl.Known(spec.RDMA); ok && off == "false" && isNothing(op.given["rdma"].value) {
		spec.RDMA = dsl.Value[bool]{}
	}
	if isNothing(op.given["tensorboard"].value) {
		spec.TensorBoard = train.TensorBoard{}
	}
	w.code(&spec)
	return spec, err
}

// unlessNone is a quantity, or nothing for the 0 that arena takes for none.
func unlessNone(v dsl.Value[string]) dsl.Value[string] {
	if s := v.String(); v.IsSet() && (s == "0" || s == "") {
		return dsl.Value[string]{}
	}
	return v
}

func (w *writer) timeout(op *operation, spec *train.Spec) error {
	g := op.given["timeout_hours"]
	if t, ok := g.value.(text); ok {
		if _, constant := t.known(); !constant {
			spec.RunningTimeout = dsl.Value[time.Duration](dsl.Sprintf("%vh", w.value(t)))
			return nil
		}
	}
	return field(w, &spec.RunningTimeout, op, "timeout_hours", asHours)
}

// code has the branch and the commit where the launcher looks for them. They are variables of the environment with arena.
func (w *writer) code(spec *train.Spec) {
	if !spec.Git.Repo.IsSet() {
		return
	}
	for name, to := range map[string]*dsl.Value[string]{"GIT_SYNC_BRANCH": &spec.Git.Branch, "GIT_SYNC_REV": &spec.Git.Revision} {
		if v, ok := spec.Env[name]; ok {
			*to = v
			delete(spec.Env, name)
		}
	}
}

// lists reads env, data, annotations and metrics.
func (w *writer) lists(op *operation, spec *train.Spec) error {
	env, err := w.pairs(op, "env")
	if err != nil {
		return err
	}
	spec.Env = env
	if spec.Annotations, err = w.pairs(op, "annotations"); err != nil {
		return err
	}
	if v, ok := spec.Annotations[eni]; ok && v.String() == "true" {
		delete(spec.Annotations, eni) // the network brings it
		spec.Network = dsl.Lit(train.ENI)
	}
	data, err := w.texts(op, "data")
	if err != nil {
		return err
	}
	for _, t := range data {
		// arena leaves out what has no path, which is how a pipeline goes without a volume
		if known, constant := t.known(); constant && !strings.Contains(known, ":") {
			continue
		}
		spec.Data = append(spec.Data, w.value(t))
	}
	return w.metrics(op, spec)
}

// metrics reads NAME:FORMAT. With arena a format stays in force for those after it that name none.
func (w *writer) metrics(op *operation, spec *train.Spec) error {
	all, err := w.texts(op, "metrics")
	if err != nil {
		return err
	}
	if op.given["metrics"].at == nil {
		all = []text{constant(defaultMetric)}
	}
	format := train.Format("")
	for _, t := range all {
		known, isConstant := t.known()
		if !isConstant {
			spec.Metrics = append(spec.Metrics, train.Metric{NameFrom: w.value(t)})
			continue
		}
		name, own, found := strings.Cut(known, ":")
		if found {
			format = train.Format(strings.ToUpper(own))
		}
		if format != "" && format != train.Raw && format != train.Percentage {
			return w.fault(op.given["metrics"].at, "metrics: %q: the format must be RAW or PERCENTAGE", known)
		}
		if name != "" {
			spec.Metrics = append(spec.Metrics, train.Metric{Name: name, Format: format})
		}
	}
	return nil
}

// tf is a job with parameter servers, and in estimator mode with a chief.
func (w *writer) tf(op *operation, spec train.Spec) (train.TF, error) {
	job := train.TF{Spec: spec}
	err := errors.Join(
		field(w, &job.PS.Replicas, op, "parameter_servers", asWhole),
		field(w, &job.PS.Image, op, "ps_image", asText),
		field(w, &job.PS.CPU, op, "ps_cpu", asText),
		field(w, &job.PS.Memory, op, "ps_memory", asText),
		field(w, &job.Worker.Image, op, "worker_image", asText),
		field(w, &job.Chief.CPU, op, "chief_cpu", asText),
		field(w, &job.Chief.Memory, op, "chief_memory", asText),
		field(w, &job.Evaluator.CPU, op, "evaluator_cpu", asText),
		field(w, &job.Evaluator.Memory, op, "evaluator_memory", asText),
	)
	for _, r := range []*train.Role{&job.PS, &job.Worker, &job.Chief, &job.Evaluator} {
		r.Image, r.CPU, r.Memory = unlessNone(r.Image), unlessNone(r.CPU), unlessNone(r.Memory)
	}
	if op.signature.kind == "estimator" {
		job.Chief.Replicas = dsl.Lit(1)
		g := op.given["evaluator"]
		on, known := truth(g.value)
		switch t, _ := g.value.(text); {
		case g.at == nil:
		case !known || len(pieces(t)) > 0:
			err = errors.Join(err, w.fault(g.at, "evaluator must be True or False"))
		case on:
			job.Evaluator.Replicas = dsl.Lit(1)
		}
		if !job.Evaluator.Replicas.IsSet() {
			job.Evaluator = train.Role{}
		}
	}
	return job, err
}
