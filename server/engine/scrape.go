package engine

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/template"
)

// scrapeRules finds what the steps of a workflow look for in their output: the metrics among the arguments of our launcher.
type scrapeRules struct {
	wf         *wfv1.Workflow
	byTemplate map[string][]string // as they are written, with parameters in them
}

// of gives the rules of a node, as the launcher reads them.
func (s scrapeRules) of(n *wfv1.NodeStatus) []string {
	if n.Type != wfv1.NodeTypePod {
		return nil
	}
	name := n.TemplateName
	if n.TemplateRef != nil {
		name = n.TemplateRef.Name + "/" + n.TemplateRef.Template
	}
	written, known := s.byTemplate[name]
	if !known {
		written = rulesIn(s.template(n))
		s.byTemplate[name] = written
	}
	if len(written) == 0 {
		return nil
	}
	values := s.values(n)
	var rules []string
	for _, r := range written {
		if r = filled(r, values); r != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// job gives the kind of distributed job that a node runs, now; empty for other nodes.
func (s scrapeRules) job(n *wfv1.NodeStatus) string {
	if n.Type != wfv1.NodeTypePod || n.Phase != wfv1.NodeRunning {
		return ""
	}
	if t := s.template(n); t != nil && t.Container != nil {
		return jobKind(t)
	}
	return ""
}

// inContainer is what Kubernetes makes of an argument, as far as our compiler writes it: $$ for $, and a brace that Argo must
// not see.
var inContainer = strings.NewReplacer("$$", "$", "$(ARGOSY_BRACE)", "{")

// filled is a rule with the values of the run, as Argo and then Kubernetes put them in; nothing where one is missing.
func filled(rule string, values map[string]string) string {
	rule, ok := filledIn(rule, values)
	if !ok {
		return "" // Argo could not run the step either
	}
	return strings.TrimSpace(inContainer.Replace(rule))
}

// filledIn puts values in a text as Argo does; not ok where one is missing.
func filledIn(text string, values map[string]string) (string, bool) {
	if !strings.Contains(text, "{{") {
		return text, true
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return text, false
	}
	given := make(map[string]any, len(values))
	for name, value := range values {
		given[name] = value
	}
	replaced, err := template.Replace(string(quoted), given, true)
	if err != nil || json.Unmarshal([]byte(replaced), &text) != nil {
		return text, false
	}
	return text, !strings.Contains(text, "{{")
}

func (s scrapeRules) template(n *wfv1.NodeStatus) *wfv1.Template {
	if n.TemplateRef == nil {
		if t := s.wf.GetTemplateByName(n.TemplateName); t != nil {
			return t
		}
	}
	scope, resource := n.GetTemplateScope()
	return s.wf.GetStoredTemplate(scope, resource, n)
}

// values are those of the parameters that may stand in a rule.
func (s scrapeRules) values(n *wfv1.NodeStatus) map[string]string {
	values := map[string]string{}
	add := func(scope string, ps []wfv1.Parameter) {
		for _, p := range ps {
			if p.Value != nil {
				values[scope+p.Name] = p.Value.String()
			}
		}
	}
	if n.Inputs != nil {
		add("inputs.parameters.", n.Inputs.Parameters)
	}
	add("workflow.parameters.", s.wf.Spec.Arguments.Parameters)
	return values
}

// rulesIn takes the metrics out of the arguments of a template that runs our launcher.
func rulesIn(t *wfv1.Template) (rules []string) {
	if t == nil || t.Container == nil {
		return nil
	}
	words := slices.Concat(t.Container.Command, t.Container.Args)
	if !slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == launcherImage }) {
		return nil
	}
	for i, w := range words {
		if w == "--" { // what follows is the user's program
			break
		}
		w, isFlag := strings.CutPrefix(w, "--metric")
		w = strings.TrimPrefix(w, "-name") // as kfp-arena's early releases write it
		switch {
		case !isFlag:
		case w == "" && i+1 < len(words):
			rules = append(rules, words[i+1])
		case strings.HasPrefix(w, "="):
			rules = append(rules, w[1:])
		}
	}
	return rules
}
