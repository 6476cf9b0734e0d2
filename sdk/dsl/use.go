package dsl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// use turns a value into plain data for node n, making n wait for what the value needs. What names the place of
// the value within the step, for messages.
func (p *Pipeline) use(n *node, what string, v AnyValue) graph.Text {
	for _, r := range v.recorded().refs() {
		switch {
		case r.Env != "":
			p.fault(n.At, n.stepName(), "%s: dsl.EnvOf is for Command, Args and Env only", what)
			return nil
		case r.File:
			p.fault(n.At, n.stepName(), "%s is a file: files can stand in Command, Args and Env only", what)
			return nil
		}
	}
	return p.write(n, what, v, p.checkConstant)
}

// useArg is use for Command, Args and Env, where the environment of the container can be read.
func (p *Pipeline) useArg(n *node, what string, v AnyValue) graph.Text {
	return p.write(n, what, v, p.checkWord)
}

func (p *Pipeline) write(n *node, what string, v AnyValue, check func(n *node, what, s string, beforeRef bool)) graph.Text {
	if !v.IsSet() {
		return nil
	}
	t := v.recorded()
	if t.name != "" {
		what = t.name
	}
	p.report(n, what, t)
	out := make(graph.Text, 0, len(t.parts))
	for i, part := range t.parts {
		if part.ref == nil {
			check(n, what, part.constant, i+1 < len(t.parts))
			out = append(out, graph.Part{Text: part.constant})
			continue
		}
		if part.ref.File {
			if at, ok := p.place(n, what, part.ref, ""); ok {
				out = append(out, graph.Part{Text: at})
			}
			continue
		}
		if p.checkRef(n, what, part.ref) {
			r := part.ref.Ref
			out = append(out, graph.Part{Ref: &r})
		}
	}
	return out
}

// checkConstant refuses text that Argo would change. Argo writes references as {{...}} and knows no way to quote them; only
// in the words of a command can braces be hidden from it.
func (p *Pipeline) checkConstant(n *node, what, s string, beforeRef bool) {
	switch {
	case strings.Contains(s, "{{"):
		p.fault(n.At, n.stepName(), "%s holds {{, which Argo would take for a variable: use dsl.Argo for a variable; other text with {{ can stand in Command, Args and Env only", what)
	case beforeRef && strings.HasSuffix(s, "{"):
		p.fault(n.At, n.stepName(), "%s has { right before a value, which Argo cannot read: put something between them", what)
	default:
		p.checkWord(n, what, s, beforeRef)
	}
}

// checkWord refuses text that cannot arrive at all.
func (p *Pipeline) checkWord(n *node, what, s string, _ bool) {
	if strings.Contains(s, notYet) {
		p.fault(n.At, n.stepName(), "%s was formatted with package fmt, and a value in it is known only when the pipeline runs: use dsl.Sprintf", what)
	} else if err := checkText(s); err != nil {
		p.fault(n.At, n.stepName(), "%s %v", what, err)
	}
}

// checkText refuses text that cannot stand in YAML or on a command line.
func checkText(s string) error {
	switch {
	case strings.Contains(s, "\x00"):
		return errors.New("holds a NUL character")
	case !utf8.ValidString(s):
		return errors.New("is not valid UTF-8")
	}
	return nil
}

// checkParameter refuses text that Argo cannot carry in a parameter. It puts parameters into a template with Go's
// quoting, where JSON's is needed, and for a few unprintable characters they differ.
func checkParameter(s string) error {
	if strings.Contains(s, "{{") {
		return errors.New("holds {{, which Argo would take for a variable")
	}
	if err := checkText(s); err != nil {
		return err
	}
	for _, r := range s {
		if quoted := strconv.QuoteRune(r); strings.HasPrefix(quoted, `'\`) && !strings.ContainsRune(`\nrtbfu'`, rune(quoted[2])) {
			return fmt.Errorf("holds the unprintable character %U, which Argo cannot carry in a parameter", r)
		}
	}
	return nil
}

func (p *Pipeline) checkRef(n *node, what string, r *ref) bool {
	switch {
	case r.source != nil:
		p.fault(n.At, n.stepName(), "%s: %s can only be the whole value of an environment variable", what, r.describe())
		return false
	case r.Variable != "", r.Env != "":
		return true
	case r.pipeline != p:
		p.fault(n.At, n.stepName(), "%s uses %s of another pipeline (%q)", what, r.describe(), r.pipeline.Name())
		return false
	case r.ownPath != "":
		p.fault(n.At, n.stepName(), "%s reads the step's own output %s: use dsl.Path for the file to write it to", what, r.Output)
		return false
	case r.scope != nil && !r.scope.holds(n.scope):
		p.fault(n.At, n.stepName(), "%s uses %s outside %s%s", what, r.describe(), r.scope.describe(), r.wayOut(n.scope.whole()))
		return false
	}
	if r.producer != nil {
		if err := n.wait(r.producer); err != nil {
			p.fault(n.At, n.stepName(), "%s uses %s: %v", what, r.describe(), err)
			return false
		}
	}
	return true
}

// wayOut says how a value may leave its scope for the pipeline, exit or sub-pipeline in.
func (r *ref) wayOut(in *scope) string {
	switch r.scope.kind {
	case eachScope:
		if r.File {
			return ": use dsl.CollectFiles to get a folder of all of them"
		}
		return ": use dsl.Collect to get the list of all its values"
	case ifScope, elseScope:
		return ", which may not have run: use dsl.OneOf to get the value of the branch that did"
	case subScope:
		return ": only what it returns can be used outside"
	case rootScope:
		if in.kind == subScope {
			return ": pass it to the sub-pipeline as an input"
		}
		return ": exit steps may use parameters only, since the others may have failed"
	}
	return ""
}

func (r *ref) describe() string {
	switch {
	case r.Param != "":
		return "parameter " + r.Param
	case r.Input != "":
		return "input " + r.Input
	case r.Step != "" && r.producer != nil && r.producer.If != nil:
		return "a value of the If at " + place(r.producer.At)
	case r.Step != "":
		return "output " + r.Output + " of step " + r.Step
	case r.Loop != "":
		return "the item"
	case r.source != nil && r.source.Secret != nil:
		return "dsl.Secret"
	case r.source != nil && r.source.ConfigMap != nil:
		return "dsl.ConfigMap"
	case r.source != nil:
		return "dsl.FieldRef"
	}
	return r.Variable
}

// stepName returns the name for messages: groups have none that the user gave.
func (n *node) stepName() string {
	if n.inner != nil {
		return ""
	}
	return n.Name
}
