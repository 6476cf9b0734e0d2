package compiler

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// prepare notes what is to be known of a sub-pipeline before its templates are written.
func (l *lowering) prepare(sub graph.Sub) {
	l.findLoops(sub.Nodes, nil)
	l.findExports(sub.Nodes)
	for _, o := range sub.Outputs {
		l.export(o.From.Refs())
	}
	for _, in := range sub.Inputs {
		l.inputs[graph.Ref{Input: in.Name, File: in.File}], l.inputUsed[in.Name] = in.Name, true
	}
}

// subPipeline adds the templates of a sub-pipeline, once for all its calls.
func (l *lowering) subPipeline(sub graph.Sub) error {
	var exports []export
	for _, o := range sub.Outputs {
		exports = append(exports, export{o.Name, o.From, o.File})
	}
	var inputs []graph.Ref
	for _, in := range sub.Inputs {
		inputs = append(inputs, graph.Ref{Input: in.Name, File: in.File})
	}
	at := len(l.templates)
	if _, err := l.dag(l.called[sub.Name], sub.Nodes, exports, map[graph.Ref]source{{Call: true}: word()}); err != nil {
		return err
	}
	l.templates[at].Inputs = l.declare(inputs) // all of them, used or not
	return nil
}

// callArguments passes what a call of a sub-pipeline says.
func (l *lowering) callArguments(c *graph.Call, where func(graph.Ref) source) parameters {
	var out parameters
	files := map[string]bool{}
	for _, in := range l.subs[c.Sub].Inputs {
		files[in.Name] = in.File
	}
	for _, a := range c.Args {
		value := render(a.Value, where)
		refs := a.Value.Refs()
		switch {
		case len(refs) == 1 && isFolder(refs[0]):
			out.Artifacts = append(out.Artifacts, l.collected(a.Name, refs[0], where))
		case a.Import != nil:
			imported := locate(a.Import, func(t graph.Text) text { return l.renderArg(t, where) })
			imported.Name = a.Name
			out.Artifacts = append(out.Artifacts, imported)
		case files[a.Name]:
			out.Artifacts = append(out.Artifacts, artifact{Name: a.Name, From: value})
		default:
			out.Parameters = append(out.Parameters, parameter{Name: a.Name, Value: &value})
		}
	}
	return out
}

// locate returns an artifact that lies elsewhere. It arrives as it is: only what steps have left is unpacked.
func locate(i *graph.Import, fill func(graph.Text) text) artifact {
	asItIs := &archive{None: &struct{}{}}
	switch {
	case len(i.HTTP) > 0:
		return artifact{HTTP: &httpFile{fill(i.HTTP)}, Archive: asItIs}
	case len(i.Git) > 0:
		return artifact{Git: &gitFile{fill(i.Git), fill(i.Revision)}}
	case len(i.Key) > 0:
		return artifact{S3: &s3File{fill(i.Key)}}
	}
	return artifact{Raw: &rawFile{fill(i.Raw)}, Archive: asItIs}
}

// files says where the artifacts that the template has as inputs go.
func (l *lowering) files(p *pod, files []graph.File) {
	for i, f := range files {
		if f.Import != nil {
			a := locate(f.Import, p.arg)
			a.Name, a.Path = fmt.Sprintf("import-%d", i+1), text(f.Path)
			p.t.Inputs.Artifacts = append(p.t.Inputs.Artifacts, a)
			continue
		}
		from := f.From.Refs()[0]
		if isFolder(from) {
			a := l.collected(l.input(from), from, l.source)
			a.Path = text(f.Path)
			p.t.Inputs.Artifacts = append(p.t.Inputs.Artifacts, a)
			continue
		}
		at := l.input(from)
		for j := range p.t.Inputs.Artifacts {
			if a := &p.t.Inputs.Artifacts[j]; a.Name == at && a.Path == "" {
				a.Path = text(f.Path)
			}
		}
	}
}

// main sets what the step itself runs: a container, or a script. Argo hands scripts and the like to its executor in an
// environment variable, where Kubernetes reads $(NAME) and $$ as in any.
func (p *pod) main(c *graph.Container) {
	out := p.container("containers", "main", c)
	switch {
	case len(c.Source) == 0:
		p.t.Container = &out
	case len(c.Args) == 0:
		p.t.Script = &script{out, p.arg(c.Source)}
	default: // Argo gives a script no arguments, but puts them before it
		const file = "/tmp/argosy/script"
		p.t.Inputs.Artifacts = append(p.t.Inputs.Artifacts, artifact{
			Name: "script", Path: file, Raw: &rawFile{p.arg(c.Source)}, Archive: &archive{None: &struct{}{}},
		})
		out.Command = append(out.Command, file)
		p.t.Container = &out
	}
}

// componentSpec is what Kubeflow Pipelines' UI reads of a step from the annotation of the same name.
type componentSpec struct {
	Name    string          `json:"name"`
	Outputs []componentPort `json:"outputs"`
}

type componentPort struct {
	Name string     `json:"name"`
	Type graph.Type `json:"type"`
}

// describe notes the kinds of the files that a step leaves, which Argo has no place for.
func (t *template) describe(n graph.Node) error {
	spec := componentSpec{Name: n.Name}
	for _, o := range n.Container.Outputs {
		spec.Outputs = append(spec.Outputs, componentPort{o.Name, o.Type})
	}
	kinds := false
	for _, a := range n.Container.Artifacts {
		if a.Kind != "" {
			kinds = true
			spec.Outputs = append(spec.Outputs, componentPort{a.Name, a.Kind})
		}
	}
	if !kinds {
		return nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(spec); err != nil {
		return err
	}
	t.Metadata.Annotations = note(t.Metadata.Annotations, "pipelines.kubeflow.org/component_spec", strings.TrimSpace(b.String()))
	return nil
}
