package compiler

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Version is that of the form of the workflows, written into each as annotation argosy.dev/sdk_version.
const Version = "0.1.0"

// serviceAccount is the one that Kubeflow Pipelines runs workflows with.
const serviceAccount = "pipeline-runner"

// Compile returns the pipeline as an Argo Workflow in YAML. The error is dsl.Faults where the pipeline has mistakes.
func Compile(p *dsl.Pipeline) ([]byte, error) {
	g, err := p.Graph()
	if err != nil {
		return nil, err
	}
	return CompileGraph(g)
}

// CompileGraph returns a recorded graph, such as Pipeline.Graph gives, as an Argo Workflow in YAML. The error joins
// what is wrong with a graph that was put together by hand, as graph.Pipeline.Check says it.
func CompileGraph(g *graph.Pipeline) ([]byte, error) {
	if g == nil {
		return nil, errors.New("there is no pipeline to compile")
	}
	if err := g.Check(); err != nil {
		return nil, fmt.Errorf("compiling pipeline %q: %w", g.Name, err)
	}
	wf, err := lower(g)
	if err != nil {
		return nil, fmt.Errorf("compiling pipeline %q: %w", g.Name, err)
	}
	return emit(wf), nil
}

// pipelineSpec is what Kubeflow Pipelines' servers and UIs read from the annotation of the same name.
type pipelineSpec struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Inputs      []inputSpec `json:"inputs,omitempty"`
}

type inputSpec struct {
	Name        string     `json:"name"`
	Type        graph.Type `json:"type"`
	Description string     `json:"description,omitempty"`
	Default     *string    `json:"default,omitempty"`
	Optional    bool       `json:"optional"`
	// Beside what Kubeflow Pipelines writes: the limits of a number, which Argosy's server checks.
	Minimum json.Number `json:"minimum,omitempty"`
	Maximum json.Number `json:"maximum,omitempty"`
}

func annotations(g *graph.Pipeline) (map[string]text, error) {
	spec := pipelineSpec{Name: g.Name, Description: g.Description}
	for _, p := range g.Params {
		in := inputSpec{Name: p.Name, Type: p.Type, Description: p.Description, Minimum: json.Number(p.Min), Maximum: json.Number(p.Max)}
		if !p.Required {
			in.Default, in.Optional = &p.Default, true
		}
		spec.Inputs = append(spec.Inputs, in)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(spec); err != nil {
		return nil, err
	}
	return map[string]text{
		"pipelines.kubeflow.org/pipeline_spec": text(strings.TrimSpace(b.String())),
		"argosy.dev/sdk_version":               text(Version),
	}, nil
}

// sanitize makes a name for Kubernetes objects out of a name for people.
func sanitize(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	const most = 50 // a run's name is also the value of labels, which have at most 63 characters
	s := b.String()
	if len(s) > most {
		s = s[:most]
	}
	if s = strings.TrimRight(s, "-"); s == "" {
		return "pipeline" // a name in another script than Latin
	}
	return s
}
