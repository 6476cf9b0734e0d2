// Package manifest analyses Workflow manifests of any origin without running them: it finds the faults of one, with their places, and the
// differences between two.
package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/workflow/validate"
	"gopkg.in/yaml.v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/pipeline"
)

// Fault is one thing that is wrong in a manifest. Line and Column begin at 1; 0 means the manifest as a whole.
type Fault struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"` // as in spec.templates[train].container.image
	Message string `json:"message"`
	// Warning is set for what may be right: it could not be checked here.
	Warning bool `json:"warning,omitempty"`
}

// maxFaults is how many faults of one manifest are looked for.
const maxFaults = 100

// Lint returns the faults of a manifest: in its YAML, in the names and types of its fields, and those of Argo's own validation. Argo stops
// at the first fault, so Lint repairs it in memory and validates again.
func Lint(manifest []byte) []Fault { return lint(manifest, maxFaults) }

// Faults returns the first faults of a manifest that have a place; the server says them of an upload that it refuses.
func Faults(manifest []byte, most int) []pipeline.Fault {
	var faults []pipeline.Fault
	for _, f := range lint(manifest, most) {
		if f.Warning || f.Line == 0 {
			continue
		}
		if faults = append(faults, pipeline.Fault{Line: f.Line, Column: f.Column, Path: f.Path, Message: f.Message}); len(faults) == most {
			break
		}
	}
	return faults
}

// lint runs Argo's validation at most so often.
func lint(manifest []byte, most int) []Fault {
	root, faults := read(manifest)
	if len(faults) > 0 {
		return faults
	}
	if f, another := anotherKind(root); another {
		return []Fault{f} // its fields are those of that kind
	}
	faults = append(faults, checkFields(root)...)
	wf, err := engine.Parse(manifest)
	switch {
	case err != nil && !wrong(faults): // else the error is one of those found, without its place
		faults = append(faults, at(root, "", explain(err)))
	case err == nil:
		faults = append(faults, references(root)...)
		faults = append(faults, checkPods(root)...)
		faults = append(faults, checkGangs(root)...)
		wrong, closed := checkExpressions(root)
		if faults = append(faults, wrong...); closed {
			faults = append(faults, validateAll(wf, root, most)...)
		}
	}
	return tidy(faults)
}

// anotherKind finds a manifest of something that Kubernetes has beside Workflows.
func anotherKind(root *yaml.Node) (Fault, bool) {
	switch kind, version := child(root, "kind"), child(root, "apiVersion"); {
	case text(kind) != "" && text(kind) != "Workflow":
		return at(kind, "kind", fmt.Sprintf("it is of kind %q; it must be of kind Workflow", text(kind))), true
	case text(kind) != "" && text(version) != "" && text(version) != wfv1.SchemeGroupVersion.String():
		return at(version, "apiVersion", fmt.Sprintf("its apiVersion is %q; it must be %s", text(version), wfv1.SchemeGroupVersion)), true
	}
	return Fault{}, false
}

// wrong says whether there is more than warnings.
func wrong(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return !f.Warning })
}

func tidy(faults []Fault) []Fault {
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return slices.Compact(faults)
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// read parses the YAML of a manifest and gives its first document.
func read(manifest []byte) (*yaml.Node, []Fault) {
	var document yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(manifest)).Decode(&document)
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0:
		return nil, []Fault{{Message: "the manifest is empty"}}
	case err != nil:
		text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
		if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
			line, _ = strconv.Atoi(text[m[2]:m[3]])
			text = text[m[1]:]
		}
		return nil, []Fault{{Line: line, Column: min(line, 1), Message: "not valid YAML: " + text}}
	}
	if root := document.Content[0]; root.Kind == yaml.MappingNode {
		return root, nil
	}
	return nil, []Fault{{Line: 1, Column: 1, Message: "not a Workflow, which is a mapping with apiVersion, kind, metadata and spec"}}
}

// explain is an error without what is said of uploads.
func explain(err error) string {
	return strings.TrimPrefix(err.Error(), "the manifest cannot be used: ")
}

func at(n *yaml.Node, path, message string) Fault {
	if n == nil {
		return Fault{Path: path, Message: message}
	}
	return Fault{Line: n.Line, Column: n.Column, Path: path, Message: message}
}

// references finds what lies in the cluster that the workflow will run in, and can be checked only there.
func references(root *yaml.Node) []Fault {
	var faults []Fault
	walk(root, "", func(n *yaml.Node, path string) {
		if ref := child(n, "templateRef"); ref != nil {
			f := at(ref, path+".templateRef", fmt.Sprintf("template %s of WorkflowTemplate %s lies in the cluster: whether it is there, and fits, can be checked only there", text(child(ref, "template")), text(child(ref, "name"))))
			f.Warning = true
			faults = append(faults, f)
		}
	})
	if ref := child(child(root, "spec"), "workflowTemplateRef"); ref != nil {
		f := at(ref, "spec.workflowTemplateRef", fmt.Sprintf("WorkflowTemplate %s lies in the cluster: whether it is there, and fits, can be checked only there", text(child(ref, "name"))))
		f.Warning = true
		faults = append(faults, f)
	}
	return faults
}

// validateAll runs Argo's validation until it finds nothing more that can be told apart from what it found before.
func validateAll(wf *wfv1.Workflow, root *yaml.Node, most int) []Fault {
	if wf.Spec.WorkflowTemplateRef != nil {
		return nil
	}
	wf = wf.DeepCopy()
	engine.Supply(wf)
	forgetReferences(wf)
	var faults []Fault
	seen := map[string]bool{}
	for range most {
		err := validateOnce(wf.DeepCopy())
		if err == nil {
			break
		}
		message := err.Error()
		if seen[message] {
			break // it could not be mended
		}
		seen[message] = true
		faults = append(faults, locate(root, wf, once(message)))
		if !mend(wf, message) {
			break
		}
	}
	return faults
}

var twice = regexp.MustCompile(`^(templates\.[^ ]+) (templates\.[^ :.]+)`)

// once takes the name away that Argo puts before what it says of a template that nothing runs.
func once(message string) string {
	if m := twice.FindStringSubmatch(message); m != nil && m[1] == m[2] {
		return message[len(m[1])+1:]
	}
	return message
}

func validateOnce(wf *wfv1.Workflow) (err error) {
	defer func() { // Argo's validation may panic on a hostile manifest
		if r := recover(); r != nil {
			err = fmt.Errorf("Argo's validation cannot cope with the workflow: %v", r) //nolint:staticcheck // a name
		}
	}()
	return engine.Validate(absent{}, absentInCluster{}, wf, validate.ValidateOpts{Lint: true})
}

// forgetReferences makes Argo pass over templates that lie in the cluster, as it passes over those whose name is known
// only later.
func forgetReferences(wf *wfv1.Workflow) {
	forget := func(ref *wfv1.TemplateRef) {
		if ref != nil {
			ref.Template += "-placeholder"
		}
	}
	for i := range wf.Spec.Templates {
		t := &wf.Spec.Templates[i]
		if t.DAG != nil {
			for j := range t.DAG.Tasks {
				forget(t.DAG.Tasks[j].TemplateRef)
			}
		}
		for j := range t.Steps {
			for k := range t.Steps[j].Steps {
				forget(t.Steps[j].Steps[k].TemplateRef)
			}
		}
	}
}

// absent is a cluster without WorkflowTemplates.
type absent struct{}

func (absent) Get(name string) (*wfv1.WorkflowTemplate, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "workflowtemplates"}, name)
}

type absentInCluster struct{}

func (absentInCluster) Get(name string) (*wfv1.ClusterWorkflowTemplate, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "clusterworkflowtemplates"}, name)
}

var unresolved = regexp.MustCompile(`failed to resolve \{\{(.*?)\}\}`)

// mend takes out of the workflow what Argo refused, so that it finds the next fault.
func mend(wf *wfv1.Workflow, message string) bool {
	t := blamed(wf, responsible(message))
	if t == nil {
		return false
	}
	if m := unresolved.FindStringSubmatch(message); m != nil && replaceTag(t, m[1]) {
		return true
	}
	body := wfv1.Template{Name: t.Name, Inputs: t.Inputs, Outputs: t.Outputs}
	body.Container = stub()
	for i := range body.Outputs.Parameters {
		body.Outputs.Parameters[i].ValueFrom = &wfv1.ValueFrom{Path: "/x"}
	}
	for i := range body.Outputs.Artifacts {
		a := &body.Outputs.Artifacts[i]
		*a = wfv1.Artifact{Name: a.Name, Path: "/x", GlobalName: a.GlobalName}
	}
	if t.Container != nil && t.Container.Image == body.Container.Image {
		body.Inputs, body.Outputs = wfv1.Inputs{}, wfv1.Outputs{} // the fault is in these
	}
	*t = body
	return true
}
