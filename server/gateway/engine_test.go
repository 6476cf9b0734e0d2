package gateway_test

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"google.golang.org/grpc/metadata"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
)

// apiOnlyEngine reads manifests far enough for the API to have something to show, and remembers what it was asked to do.
type apiOnlyEngine struct {
	mu        sync.Mutex
	submitted []string
	stopped   []string
	headers   metadata.MD // of the last call that made a run
	refuse    error       // of every run
}

type workflow struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name,omitempty"`
		GenerateName string `json:"generateName,omitempty"`
	} `json:"metadata"`
	Spec struct {
		Entrypoint string `json:"entrypoint"`
		Arguments  struct {
			Parameters []struct {
				Name  string  `json:"name"`
				Value *string `json:"value,omitempty"`
			} `json:"parameters"`
		} `json:"arguments"`
	} `json:"spec"`
}

func parse(manifest []byte) (workflow, error) {
	var w workflow
	if err := yaml.Unmarshal(manifest, &w); err != nil || w.Kind != "Workflow" {
		return w, apierr.New(apierr.Invalid, "the manifest is not a Workflow")
	}
	return w, nil
}

func (e *apiOnlyEngine) Inspect(_ context.Context, manifest []byte) (pipeline.Spec, error) {
	w, err := parse(manifest)
	if err != nil {
		return pipeline.Spec{}, err
	}
	spec := pipeline.Spec{Name: strings.TrimSuffix(w.Metadata.GenerateName, "-")}
	for _, p := range w.Spec.Arguments.Parameters {
		known := pipeline.Parameter{Name: p.Name, HasDefault: p.Value != nil}
		if p.Value != nil {
			known.Value = *p.Value
		}
		spec.Parameters = append(spec.Parameters, known)
	}
	node := pipeline.GraphNode{ID: w.Spec.Entrypoint, Name: w.Spec.Entrypoint, Type: "Container", Template: w.Spec.Entrypoint}
	spec.Graph = pipeline.Graph{Nodes: []pipeline.GraphNode{node}, Parameters: spec.Parameters}
	return spec, nil
}

func (e *apiOnlyEngine) Prepare(ctx context.Context, manifest []byte, o run.Options) (run.Prepared, error) {
	e.mu.Lock()
	e.headers, _ = metadata.FromIncomingContext(ctx)
	e.mu.Unlock()
	if e.refuse != nil {
		return run.Prepared{}, e.refuse
	}
	w, err := parse(manifest)
	if err != nil {
		return run.Prepared{}, err
	}
	known := map[string]bool{}
	for _, p := range w.Spec.Arguments.Parameters {
		known[p.Name] = true
	}
	for _, p := range o.Parameters {
		if !known[p.Name] {
			return run.Prepared{}, apierr.New(apierr.Invalid, "Unrecognized input parameter: %s", p.Name)
		}
	}
	w.Metadata.Name, w.Metadata.GenerateName = w.Metadata.GenerateName+"abcde", ""
	raw, err := json.Marshal(w)
	return run.Prepared{Name: w.Metadata.Name, ServiceAccount: cmp.Or(o.ServiceAccount, "pipeline-runner"), Workflow: raw, Parameters: o.Parameters}, err
}

func (e *apiOnlyEngine) Again(workflow []byte, _ int64, from run.From) (run.Again, error) {
	return run.Again{Workflow: workflow, Parameters: from.Parameters}, nil
}

func (e *apiOnlyEngine) Submit(_ context.Context, workflow []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.submitted = append(e.submitted, string(workflow))
	return nil
}

func (e *apiOnlyEngine) Terminate(_ context.Context, _, workflow string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = append(e.stopped, workflow)
	return nil
}

func (e *apiOnlyEngine) DeleteWorkflow(context.Context, string, string) error { return nil }
