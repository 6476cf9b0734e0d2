package sample

import (
	"context"
	"fmt"

	"github.com/argosy-ml/argosy/samples"
	"github.com/argosy-ml/argosy/server/run"
)

// gpu is the resource that the steps of samples ask for.
const gpu = "nvidia.com/gpu"

// hostImage stands for the files of the machine that an embedded cluster runs on.
const hostImage = "host"

// offer is what the cluster has for samples.
type offer struct {
	nodes   []samples.Node
	gpus    float64
	mpiJobs bool
	lacks   string // of the machine
}

func (s *Service) offered(ctx context.Context) (o offer, err error) {
	seen, err := s.c.Cluster.Overview(ctx)
	if err != nil {
		return o, err
	}
	for _, n := range seen.Nodes {
		if !n.Ready || !n.Schedulable {
			continue
		}
		o.nodes = append(o.nodes, samples.Node{MilliCPU: int64(n.Allocatable["cpu"] * 1000), Memory: int64(n.Allocatable["memory"])})
		o.gpus += n.Allocatable[gpu]
	}
	if s.c.Machine.Lacks != nil {
		if o.lacks, err = s.c.Machine.Lacks(ctx); err != nil {
			return o, err
		}
	}
	o.mpiJobs, err = s.c.Cluster.Serves(ctx, "MPIJob")
	return o, err
}

// fit chooses the parameters with which a sample runs on what is offered, or says what it lacks.
func (s *Service) fit(ctx context.Context, source samples.Sample, o offer) (Sample, error) {
	spec, err := s.c.Inspector.Inspect(ctx, source.Workflow)
	if err != nil {
		return Sample{}, fmt.Errorf("sample %s: %w", source.Name, err)
	}
	one := Sample{Name: source.Name, Description: spec.Description, Distributed: source.Distributed, workflow: source.Workflow, source: source}
	embedded := s.c.Machine.Shared != ""
	gpus := 0
	switch {
	case embedded:
		one.Parameters = append(one.Parameters, run.Parameter{Name: "image", Value: hostImage})
	case source.Distributed:
		gpus = 1 // its image is made for them
	}
	switch {
	case !source.Distributed:
		return one, nil
	case !o.mpiJobs:
		one.Lacks = "the cluster has no MPI operator: it does not know MPIJobs"
	case embedded:
		one.Lacks = o.lacks
	case float64(gpus*samples.Workers) > o.gpus:
		one.Lacks = fmt.Sprintf("it needs %d GPUs (%s), and the nodes offer %g", gpus*samples.Workers, gpu, o.gpus)
	}
	sized, _, err := samples.Size(source.Workflow, o.nodes, gpus)
	if err != nil {
		return Sample{}, err
	}
	for _, p := range sized {
		one.Parameters = append(one.Parameters, run.Parameter(p))
	}
	if embedded {
		one.Parameters = append(one.Parameters, run.Parameter{Name: "sync_source", Value: s.place(source)})
	}
	return one, nil
}
