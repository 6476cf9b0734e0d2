package compiler_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/util/template"
	argo "github.com/argoproj/argo-workflows/v3/workflow/validate"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// oneByOne guards Argo's validation, which counts in a global variable.
var oneByOne sync.Mutex

type reporter interface {
	require.TestingT
	Helper()
}

// validate decodes a workflow strictly into Argo's own types and has Argo validate it.
func validate(t reporter, manifest []byte) *wfv1.Workflow {
	t.Helper()
	var wf wfv1.Workflow
	require.NoError(t, yaml.UnmarshalStrict(manifest, &wf), "%s", manifest)
	oneByOne.Lock()
	defer oneByOne.Unlock()
	require.NoError(t, argo.ValidateWorkflow(nil, nil, &wf, nil, argo.ValidateOpts{Lint: true}), "%s", manifest)
	return &wf
}

// Every text arrives in Argo as it was written, whatever it looks like in YAML.
func TestTextsArriveAsWritten(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(escapes())
	require.NoError(t, err)
	g, err := escapes().Graph()
	require.NoError(t, err)
	var want []string
	for _, arg := range g.Nodes[0].Container.Args {
		var s string
		for _, part := range arg {
			if s += part.Text; part.Ref != nil {
				s += "|"
			}
		}
		want = append(want, s)
	}
	odd := validate(t, manifest).GetTemplateByName("odd")
	require.Equal(t, corev1.EnvVar{Name: "ARGOSY_BRACE", Value: "{"}, odd.Container.Env[0])
	for i, arg := range odd.Container.Args {
		filled := given(t, arg, map[string]string{"inputs.parameters.yes": "|"})
		require.NotContains(t, filled, "{{", "nothing that Argo would take for a variable")
		require.Equal(t, want[i], expand(filled, map[string]string{"ARGOSY_BRACE": "{"}))
	}
	require.Equal(t, []corev1.EnvVar{{Name: "ARGOSY_BRACE", Value: "{"}, {Name: "A", Value: "$(ARGOSY_BRACE){ a }}"}}, odd.Sidecars[0].Env)
	wf := validate(t, manifest)
	require.Equal(t, "pipeline-", wf.GenerateName)
}

// Conditions are answered by Argo's own evaluation, in two steps as the controller takes them: first with what is
// known of the workflow as a whole, then with the values.
func TestConditionsAsArgoSeesThem(t *testing.T) {
	t.Parallel()
	text := func(cond func(dsl.Value[string]) dsl.Cond) func(*dsl.Pipeline) dsl.Cond {
		return func(p *dsl.Pipeline) dsl.Cond { return cond(dsl.Param(p, "x-y", "")) }
	}
	number := func(cond func(dsl.Value[float64]) dsl.Cond) func(*dsl.Pipeline) dsl.Cond {
		return func(p *dsl.Pipeline) dsl.Cond { return cond(dsl.Param(p, "x-y", 0.0)) }
	}
	flag := func(p *dsl.Pipeline) dsl.Cond { return dsl.Eq(dsl.Param(p, "x-y", false), true) }
	is := text(func(v dsl.Value[string]) dsl.Cond { return dsl.Eq(v, `a "b" \ 'c' ü`) })
	isNot := text(func(v dsl.Value[string]) dsl.Cond { return dsl.Ne(v, "a") })
	less := number(func(v dsl.Value[float64]) dsl.Cond { return dsl.Lt(v, 1e-3) })
	more := number(func(v dsl.Value[float64]) dsl.Cond { return dsl.Ge(v, -1e21) })
	joined := text(func(v dsl.Value[string]) dsl.Cond { return dsl.Eq(dsl.Sprintf("<%v>", v), "<1>") })

	for _, test := range []struct {
		name  string
		cond  func(*dsl.Pipeline) dsl.Cond
		value string
		want  string
	}{
		{"text is", is, `a "b" \ 'c' ü`, "true"},
		{"text differs", is, `a`, "false"},
		{"text that would break out of quotes", isNot, `a" == "a`, "true"},
		{"text is not", isNot, "a", "false"},
		{"small number", less, "5e-05", "true"},
		{"as large", less, "0.001", "false"},
		{"number with a sign", more, "-7.5", "true"},
		{"whole number", more, "3", "true"},
		{"Python's True", flag, "True", "true"},
		{"JSON's true", flag, "true", "true"},
		{"false", flag, "False", "false"},
		{"text around a value", joined, "1", "true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := dsl.New("p")
			p.If(test.cond(p), func() { dsl.Run(p, "s", dsl.Container{Image: alpine}) })
			manifest, err := compiler.Compile(p)
			require.NoError(t, err)
			when := validate(t, manifest).GetTemplateByName("p").DAG.Tasks[0].When

			quoted, err := json.Marshal(when)
			require.NoError(t, err)
			early, err := template.Replace(string(quoted), map[string]any{"workflow.name": "w"}, true)
			require.NoError(t, err)
			late, err := template.Replace(early, map[string]any{"inputs.parameters.x-y": test.value}, false)
			require.NoError(t, err)
			require.Equal(t, `"`+test.want+`"`, late)
		})
	}
}

// given is a text into which Argo has put values.
func given(t reporter, text string, values map[string]string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	all := map[string]any{}
	for name, value := range values {
		all[name] = value
	}
	filled, err := template.Replace(string(quoted), all, false)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(filled), &text))
	return text
}

// expand reads an argument as Kubernetes does: $(NAME) is a variable where it is defined, and $$ is $.
func expand(s string, env map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		name, _, closed := strings.Cut(s[i+1:], ")")
		value, defined := env[strings.TrimPrefix(name, "(")]
		switch {
		case s[i+1] == '$':
			b.WriteByte('$')
			i++
		case s[i+1] == '(' && closed && defined:
			b.WriteString(value)
			i += len(name) + 1
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}

// Kubernetes reads $(NAME) and $$ in arguments and variables, and Argo {{: what is written arrives, whatever is defined.
func TestDollarsAndBracesArriveAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		written := rapid.StringMatching(`[${}()HOME x]{0,12}`).Draw(t, "text")
		p := dsl.New("p")
		v := dsl.Param(p, "v", "1")
		dsl.Run(p, "s", dsl.Container{
			Image:   alpine,
			Command: dsl.Args("echo", written),
			Args:    dsl.Args(dsl.Sprintf("%s%v%s", written, v, written), dsl.Sprintf("%s<%v>", written, dsl.EnvOf("HOME"))),
			Env:     dsl.Env{"TEXT": dsl.Lit(written)},
		})
		manifest, err := compiler.Compile(p)
		require.NoError(t, err)
		c := validate(t, manifest).GetTemplateByName("s").Container
		env := map[string]string{"HOME": "/root", "HOMEHOME": "/", "": "nothing", "ARGOSY_BRACE": "{"}
		require.Equal(t, written, expand(c.Command[1], env))
		require.Equal(t, written, expand(c.Env[len(c.Env)-1].Value, env))
		for _, text := range []string{c.Command[1], c.Env[len(c.Env)-1].Value} {
			require.NotContains(t, text, "{{")
		}
		for _, value := range []string{"1", "(HOME)", ")", "{", "$", "$$", "$(HOME)", "$$(HOME)$", "\n<\"é\x01\U0010ffff"} {
			with := given(t, c.Args[0], map[string]string{"inputs.parameters.v": value})
			require.NotContains(t, with, "{{")
			require.Equal(t, written+value+written, expand(with, env))
		}
		require.Equal(t, written+"</root>", expand(c.Args[1], env))
	})
}
