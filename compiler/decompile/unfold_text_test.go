package decompile_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

var tag = regexp.MustCompile(`\{\{(=?)(.*?)\}\}`)

// fill puts values into a text.
func fill(text string, values map[string]string) string {
	return tag.ReplaceAllStringFunc(text, func(found string) string {
		m := tag.FindStringSubmatch(found)
		if m[1] == "=" {
			return expression(m[2], values)
		}
		return valueOf(strings.TrimSpace(m[2]), values)
	})
}

var member = regexp.MustCompile(`[a-z]+(?:\.[-_a-zA-Z0-9]+|\['[^']*'\])+|\bitem\b`)

// expression puts values into an expression. One that is a value alone is that value.
func expression(text string, values map[string]string) string {
	text = strings.TrimSpace(text)
	if text == `fromJSON("\"" + item + "\"")` {
		return valueOf("(text of item)", values)
	}
	var b strings.Builder
	for i, quoted := range strings.Split(text, `"`) { // values stand outside of quotes
		if i > 0 {
			b.WriteByte('"')
		}
		if i%2 == 1 {
			b.WriteString(strings.NewReplacer(`\x7b`, "{", `\x7d`, "}").Replace(quoted))
			continue
		}
		b.WriteString(member.ReplaceAllStringFunc(quoted, func(p string) string {
			v := valueOf(strings.NewReplacer("['", ".", "']", "").Replace(p), values)
			if p != text && !strings.HasPrefix(v, "<") { // a constant
				return strconv.Quote(v)
			}
			return v
		}))
	}
	return b.String()
}

func valueOf(path string, values map[string]string) string {
	if v, ok := values[path]; ok {
		return v
	}
	return "<" + path + ">"
}

var (
	ofNumbers = regexp.MustCompile(`^asFloat\((.*)\) (==|!=|<=|>=|<|>) (\S+)$`)
	ofBools   = regexp.MustCompile(`^lower\((.*)\) (==|!=) "(.*)"$`)
	ofTexts   = regexp.MustCompile(`^(.*) (==|!=|<=|>=|<|>) "(.*)"$`)
	pasted    = regexp.MustCompile(`^\s*(['"]?)(.*?)(['"]?)\s*(==|!=|<=|>=|<|>)\s*(['"]?)(.*?)(['"]?)\s*$`)
)

// questions are the comparisons of a when, in one form.
func questions(when string, values map[string]string) []string {
	if own, ok := strings.CutPrefix(when, "{{="); ok {
		text := expression(strings.TrimSuffix(own, "}}"), values)
		if m := ofNumbers.FindStringSubmatch(text); m != nil {
			return []string{question("number", m[1], m[2], m[3])}
		}
		if m := ofBools.FindStringSubmatch(text); m != nil {
			return []string{question("bool", m[1], m[2], m[3])}
		}
		if m := ofTexts.FindStringSubmatch(text); m != nil {
			return []string{question("text", m[1], m[2], m[3])}
		}
		return []string{text}
	}
	var out []string
	for part := range strings.SplitSeq(when, "&&") {
		m := pasted.FindStringSubmatch(part)
		if m == nil {
			return []string{when}
		}
		left, op, right := m[2], m[4], m[6]
		if strings.Contains(right, "{{") {
			left, right = right, left
			op = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
		}
		kind := "text"
		if m[1] == "" && m[5] == "" {
			switch {
			case regexp.MustCompile(`^-?[0-9.]+$`).MatchString(right):
				kind = "number"
			case right == "true" || right == "false":
				kind = "bool"
			}
		}
		out = append(out, question(kind, fill(left, values), op, right))
	}
	return out
}

func question(kind, left, op, right string) string {
	if n, err := strconv.ParseFloat(right, 64); kind == "number" && err == nil {
		right = strconv.FormatFloat(n, 'g', -1, 64)
	}
	if kind == "text" {
		if s, err := strconv.Unquote(`"` + right + `"`); err == nil {
			right = s
		}
	}
	if s, err := strconv.Unquote(left); err == nil { // a constant
		left = s
	}
	return fmt.Sprintf("%s %s %s %q", kind, left, op, right)
}

// located is the place of an artifact that no step leaves.
func located(t *testing.T, a wfv1.Artifact, values map[string]string) string {
	place := a.ArtifactLocation.DeepCopy()
	if place.Raw == nil && place.HTTP == nil && place.Git == nil && place.S3 == nil {
		return ""
	}
	as := a.GetArchive()
	text, err := json.Marshal(place)
	require.NoError(t, err)
	if place.Raw != nil { // a text is no archive
		return "<imported " + fill(kubernetes(string(text), nil), values) + ">"
	}
	return fmt.Sprintf("<imported %s none %v>", fill(kubernetes(string(text), nil), values), as.None != nil)
}

// hiddenBrace stands for a brace that the compiler hides from Argo in a variable, until the values are in their places.
const hiddenBrace = "\u2983"

// literal is a value whose dollars are kept from Kubernetes, as text or in JSON.
var literal = regexp.MustCompile(`\{\{=sprig\.replace\(\\?"\$\\?", \\?"\$\$\\?", (.*?)\)\}\}`)

// kubernetes is a text as Kubernetes reads it for a container with these variables. Values are left as they are, as the DSL
// has it, whether or not the workflow takes care of the dollars in them.
func kubernetes(text string, env map[string]bool) string {
	text = literal.ReplaceAllString(text, "{{=$1}}")
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '$' && i+1 < len(text) && text[i+1] == '$' {
			b.WriteByte('$')
			i++
			continue
		}
		if text[i] == '$' && i+1 < len(text) && text[i+1] == '(' {
			name, _, closed := strings.Cut(text[i+2:], ")")
			if closed && regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`).MatchString(name) && isKnown(name, env) {
				b.WriteString(cmp.Or(map[string]string{"ARGOSY_BRACE": hiddenBrace}[name], "<variable "+name+">"))
				i += len(name) + 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// isKnown says whether a container has a variable, or may be given it by Kubernetes.
func isKnown(name string, env map[string]bool) bool {
	if before, listed := env[name]; listed {
		return before
	}
	return env != nil && strings.ToUpper(name) == name
}

func envNames(c *corev1.Container) map[string]bool {
	names := map[string]bool{}
	for _, e := range c.Env {
		names[e.Name] = true
	}
	return names
}
