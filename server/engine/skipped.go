package engine

import (
	"fmt"
	"regexp"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
)

// evaluated is what Argo says about a step whose condition did not hold: with the values in place, which of an expression is only false.
var evaluated = regexp.MustCompile(`^when '(.*)' evaluated false$`)

// skipped says which condition of a step did not hold, in the words of the pipeline.
func skipped(wf *wfv1.Workflow, n *wfv1.NodeStatus) string {
	said := evaluated.FindStringSubmatch(n.Message)
	if said == nil {
		return n.Message
	}
	condition := conditionOf(wf, n)
	switch {
	case condition == "":
		return n.Message
	case said[1] == "false" || said[1] == condition:
		return fmt.Sprintf("skipped: %s was false", condition)
	}
	return fmt.Sprintf("skipped: %s was false (%s)", condition, said[1])
}

// conditionOf finds the condition of a node's task in the template that the node lies in.
func conditionOf(wf *wfv1.Workflow, n *wfv1.NodeStatus) string {
	outer := wf.GetTemplateByName(wf.Status.Nodes[n.BoundaryID].TemplateName)
	if outer == nil {
		return ""
	}
	name, _, _ := strings.Cut(n.DisplayName, "(") // of a pass of a loop
	if outer.DAG != nil {
		for _, t := range outer.DAG.Tasks {
			if t.Name == name {
				return readable(t.When)
			}
		}
	}
	for _, group := range outer.Steps {
		for _, s := range group.Steps {
			if s.Name == name {
				return readable(s.When)
			}
		}
	}
	return ""
}

var (
	tag        = regexp.MustCompile(`\{\{=?\s*(.*?)\s*\}\}`)
	conversion = regexp.MustCompile(`\b(?:asFloat|asInt|lower|string)\(([^()]*)\)`)
	output     = regexp.MustCompile(`\b(?:tasks|steps)(?:\.([-\w]+)|\['([^']+)'\])\.outputs\.(?:parameters|artifacts)(?:\.([-\w]+)|\['([^']+)'\])`)
	input      = regexp.MustCompile(`\b(?:inputs|workflow)\.parameters(?:\.([-\w]+)|\['([^']+)'\])`)
)

// readable takes out of a condition what only Argo needs: {{=asFloat(inputs.parameters.count) > 5}} is count > 5.
func readable(condition string) string {
	condition = tag.ReplaceAllString(condition, "$1")
	condition = output.ReplaceAllString(condition, "$1$2.$3$4")
	condition = input.ReplaceAllString(condition, "$1$2")
	return conversion.ReplaceAllString(condition, "$1")
}
