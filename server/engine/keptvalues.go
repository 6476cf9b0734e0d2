package engine

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/server/run"
)

// keptWithOthers tells which of the steps that a retry keeps used other values of the parameters that it sets.
func keptWithOthers(wf *wfv1.Workflow, before []wfv1.Parameter, given []run.Parameter, attempt int64) (warnings []string) {
	for _, p := range given {
		i := slices.IndexFunc(before, func(b wfv1.Parameter) bool { return b.Name == p.Name })
		if i < 0 || before[i].Value == nil || before[i].Value.String() == p.Value {
			continue
		}
		old := before[i].Value.String()
		if steps := stepsThatUsed(wf, p.Name, old); len(steps) > 0 {
			warnings = append(warnings, fmt.Sprintf("retry %d set %s to %q; kept steps used %q: %s", attempt, p.Name, p.Value, old, strings.Join(steps, ", ")))
		}
	}
	return warnings
}

// stepsThatUsed names the steps that have succeeded with a value of a parameter, which they were given under its own name, as all
// compilers do, or took from the workflow.
func stepsThatUsed(wf *wfv1.Workflow, name, value string) (steps []string) {
	attempts := map[string]bool{}
	for _, n := range wf.Status.Nodes {
		if n.Type == wfv1.NodeTypeRetry {
			for _, child := range n.Children {
				attempts[child] = true
			}
		}
	}
	taken := regexp.MustCompile(`workflow\.parameters(\.` + regexp.QuoteMeta(name) + `|\['` + regexp.QuoteMeta(name) + `'\])([^-_a-zA-Z0-9]|$)`)
	for id, n := range wf.Status.Nodes {
		if attempts[id] || n.Phase != wfv1.NodeSucceeded || n.Type != wfv1.NodeTypePod && n.Type != wfv1.NodeTypeRetry {
			continue
		}
		used := n.Inputs != nil && slices.ContainsFunc(n.Inputs.Parameters, func(p wfv1.Parameter) bool {
			return p.Name == name && p.Value != nil && p.Value.String() == value
		})
		if t := wf.GetTemplateByName(n.TemplateName); !used && t != nil {
			text, err := json.Marshal(t)
			used = err == nil && taken.Match(text)
		}
		if used {
			steps = append(steps, n.DisplayName)
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}
