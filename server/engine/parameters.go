package engine

import (
	"encoding/json"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// annotationSDK marks packages of Argosy's compiler.
const annotationSDK = "argosy.dev/sdk_version"

// rules are what a manifest says about the values of its parameters.
type rules []graph.Param

// rulesOf reads the choices, which any manifest may have, and the types and limits that Argosy's compiler wrote. The SDKs of KFP write
// types too, but KFP accepts any value.
func rulesOf(wf *wfv1.Workflow) rules {
	var spec struct {
		Inputs []struct {
			Name             string
			Type             any
			Minimum, Maximum json.Number
		}
	}
	if wf.Annotations[annotationSDK] != "" && json.Unmarshal([]byte(wf.Annotations[annotationSpec]), &spec) != nil {
		spec.Inputs = nil // it was edited by hand
	}
	var all rules
	for _, p := range wf.Spec.Arguments.Parameters {
		rule := graph.Param{Name: p.Name}
		for _, choice := range p.Enum {
			rule.Choices = append(rule.Choices, choice.String())
		}
		for _, in := range spec.Inputs {
			if word, ok := in.Type.(string); ok && in.Name == p.Name {
				rule.Type, rule.Min, rule.Max = graph.Type(word), in.Minimum.String(), in.Maximum.String()
			}
		}
		all = append(all, rule)
	}
	return all
}

// check refuses values that the rules do not allow, all of them at once. What Argo or a tick puts into a value later is not known yet.
func (r rules) check(values []run.Parameter) error {
	var refused []string
	for _, v := range values {
		i := slices.IndexFunc(r, func(rule graph.Param) bool { return rule.Name == v.Name })
		if i < 0 || strings.Contains(v.Value, "{{") || strings.Contains(v.Value, "[[") && r[i].Type != graph.List {
			continue
		}
		if err := r[i].Accepts(v.Value); err != nil {
			refused = append(refused, err.Error())
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return apierr.New(apierr.Invalid, "%s", strings.Join(refused, "; "))
}
