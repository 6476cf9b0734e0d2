package compiler

import (
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// render writes a text as Argo reads it.
func render(t graph.Text, where func(graph.Ref) source) text {
	return renderWith(t, func(r graph.Ref) text { return where(r).tag() }, func(s string, _, _ bool) string { return s })
}

// renderArg writes a text that Kubernetes reads too: there $(NAME) is an environment variable and $$ is $.
func (s *shared) renderArg(t graph.Text, where func(graph.Ref) source) text {
	return renderWith(t, s.value(where), func(t string, _, beforeRef bool) string { return escape(t, beforeRef && !s.pasted, nil) })
}

// value writes references where Kubernetes reads the text.
func (s *shared) value(where func(graph.Ref) source) func(graph.Ref) text {
	return func(r graph.Ref) text {
		if s.pasted {
			return where(r).tag()
		}
		return where(r).literal()
	}
}

// brace is an environment variable that holds a brace. Argo takes {{ for the beginning of a variable, and has no way to
// quote it; but Argo is done with a text when Kubernetes puts the environment in.
const brace = "ARGOSY_BRACE"

// renderWord writes a text of a command or an environment variable, in which braces may stand too.
func (s *shared) renderWord(t graph.Text, where func(graph.Ref) source) text {
	return renderWith(t, s.value(where), func(t string, afterRef, beforeRef bool) string {
		return escape(t, beforeRef && !s.pasted, func(i int) bool { return hides(t, i, afterRef, beforeRef) })
	})
}

// hides says whether a character must be hidden from Argo.
func hides(s string, i int, afterRef, beforeRef bool) bool {
	last := i+1 == len(s)
	return s[i] == '{' && (last && beforeRef || !last && s[i+1] == '{' || i == 0 && afterRef)
}

// escape writes constant text so that Kubernetes leaves it as it is, and Argo does not see the braces that are hidden.
func escape(s string, beforeRef bool, hidden func(int) bool) string {
	if !strings.ContainsAny(s, "${") {
		return s
	}
	if hidden == nil {
		hidden = func(int) bool { return false }
	}
	var b strings.Builder
	for i := range len(s) {
		switch last := i+1 == len(s); {
		case hidden(i):
			b.WriteString("$(" + brace + ")")
		case s[i] == '$' && (last && beforeRef || !last && (s[i+1] == '$' || s[i+1] == '(' || hidden(i+1))):
			b.WriteString("$$")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func renderWith(t graph.Text, value func(graph.Ref) text, constant func(s string, afterRef, beforeRef bool) string) text {
	if s, ok := t.Constant(); ok {
		return text(constant(s, false, false))
	}
	var b strings.Builder
	for i, p := range t {
		switch {
		case p.Ref == nil:
			b.WriteString(constant(p.Text, i > 0, i+1 < len(t)))
		case p.Ref.Env != "":
			b.WriteString("$(" + p.Ref.Env + ")")
		case p.Ref.Variable != "":
			b.WriteString("{{" + p.Ref.Variable + "}}")
		default:
			b.WriteString(string(value(*p.Ref)))
		}
	}
	return text(b.String())
}
