package engine

import (
	"path"
	"regexp"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/server/pipeline"
)

// maxGraph bounds a graph: templates that use templates twice over grow without end. Beyond it, sub-graphs stay closed.
const maxGraph = 2000

// launcherImage is the last part, without tag, of the image whose steps run distributed jobs.
const launcherImage = "argosy-launcher"

// exitName is the node of the exit handler.
const exitName = "onExit"

// graphOf lays out what the entry point would run.
func graphOf(wf *wfv1.Workflow) pipeline.Graph {
	b := &graphBuilder{wf: wf}
	if root := wf.GetTemplateByName(wf.Spec.Entrypoint); root != nil {
		if isGroup(root) {
			b.expand("", root, []string{root.Name})
		} else {
			b.add(pipeline.GraphNode{Name: root.Name}, root, nil)
		}
	}
	if exit := wf.GetTemplateByName(wf.Spec.OnExit); exit != nil {
		b.add(pipeline.GraphNode{Name: exitName}, exit, nil)
	}
	return pipeline.Graph{Nodes: b.nodes, Edges: b.edges}
}

type graphBuilder struct {
	wf    *wfv1.Workflow
	nodes []pipeline.GraphNode
	edges []pipeline.GraphEdge
}

// expand adds the tasks of a DAG or Steps template under a parent; above names the templates that it lies in.
func (b *graphBuilder) expand(parent string, t *wfv1.Template, above []string) {
	switch {
	case t.DAG != nil:
		for i := range t.DAG.Tasks {
			task := &t.DAG.Tasks[i]
			for _, before := range dependencies(task) {
				b.edges = append(b.edges, pipeline.GraphEdge{From: path.Join(parent, before), To: path.Join(parent, task.Name)})
			}
			node := pipeline.GraphNode{Name: task.Name, Parent: parent, Loop: task.ShouldExpand(), When: task.When}
			node.Template = refName(task.Template, task.TemplateRef)
			b.add(node, b.template(task.Template, task.Inline), above)
		}
	case len(t.Steps) > 0:
		var before []string
		for _, group := range t.Steps {
			var now []string
			for i := range group.Steps {
				step := &group.Steps[i]
				node := pipeline.GraphNode{Name: step.Name, Parent: parent, Loop: step.ShouldExpand(), When: step.When}
				node.Template = refName(step.Template, step.TemplateRef)
				b.add(node, b.template(step.Template, step.Inline), above)
				now = append(now, path.Join(parent, step.Name))
				for _, from := range before {
					b.edges = append(b.edges, pipeline.GraphEdge{From: from, To: path.Join(parent, step.Name)})
				}
			}
			before = now
		}
	}
}

// add adds a node that runs a template and, when it is a group that does not lie in itself, what is in it.
func (b *graphBuilder) add(node pipeline.GraphNode, t *wfv1.Template, above []string) {
	node.ID = path.Join(node.Parent, node.Name)
	if t == nil { // it lies in the cluster, not in the manifest
		node.Type = "TemplateRef"
		b.nodes = append(b.nodes, node)
		return
	}
	node.Type = typeOf(t)
	if t.Name != "" {
		node.Template = t.Name
	}
	b.nodes = append(b.nodes, node)
	if isGroup(t) && len(b.nodes) < maxGraph && !slices.Contains(above, t.Name) {
		b.expand(node.ID, t, append(above[:len(above):len(above)], t.Name))
	}
}

func (b *graphBuilder) template(name string, inline *wfv1.Template) *wfv1.Template {
	if inline != nil {
		return inline
	}
	return b.wf.GetTemplateByName(name)
}

func refName(template string, ref *wfv1.TemplateRef) string {
	if ref != nil {
		return ref.Name + "/" + ref.Template
	}
	return template
}

func isGroup(t *wfv1.Template) bool { return t.DAG != nil || len(t.Steps) > 0 }

func typeOf(t *wfv1.Template) string {
	if t.Container != nil {
		if kind := jobKind(t); kind != "" {
			return kind
		}
	}
	return string(t.GetType())
}

// jobKinds are the launcher's commands and the kinds of job that they run.
var jobKinds = map[string]string{
	"mpijob": "MPIJob", "tfjob": "TFJob", "pytorchjob": "PyTorchJob", "xgboostjob": "XGBoostJob", "paddlejob": "PaddleJob",
	"jaxjob": "JAXJob", "mxjob": "MXJob", "trainjob": "TrainJob", "volcanojob": "VolcanoJob", "job": "Job",
}

// jobKind tells steps that run distributed jobs by the image and the first argument that the compiler writes; it is
// empty for other steps.
func jobKind(t *wfv1.Template) string {
	image, _, _ := strings.Cut(path.Base(t.Container.Image), ":")
	command := slices.Concat(t.Container.Command, t.Container.Args)
	if len(command) > 0 && path.Base(command[0]) == launcherImage {
		command, image = command[1:], launcherImage
	}
	if image != launcherImage || len(command) == 0 {
		return ""
	}
	if command[0] == "arena" {
		for word, kind := range map[string]string{"mpijob": "MPIJob", "job": "TFJob"} {
			if slices.Contains(command, word) {
				return kind
			}
		}
	}
	return jobKinds[command[0]]
}

// taskName finds the names of tasks in a depends expression such as "a && (b.Succeeded || c.Failed)".
var taskName = regexp.MustCompile(`[a-zA-Z0-9_][-a-zA-Z0-9_]*(?:\.[A-Z][a-zA-Z]+)?`)

func dependencies(t *wfv1.DAGTask) []string {
	if t.Depends == "" {
		return t.Dependencies
	}
	var names []string
	for _, match := range taskName.FindAllString(t.Depends, -1) {
		name, _, _ := strings.Cut(match, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
