package compiler_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// Every text is either refused or arrives in Argo as it is.
func FuzzTextsArrive(f *testing.F) {
	for _, s := range []string{"", "yes", "1e3", "0x1", "a: b", "{{x}}", "{", "}}", "\x00", "\xff", "\u0085", "\ufeff", "\r\n", "é\u2028", "\a", "\x7f", "\U000110bd", " x ", "- x", "|", "'\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words := dsl.New("words")
		dsl.Run(words, "s", dsl.Container{Image: alpine, Command: dsl.Args("x", s), Env: dsl.Env{"V": dsl.Lit(s)}})
		manifest, err := compiler.Compile(words)
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		c := validate(t, manifest).GetTemplateByName("s").Container
		env := map[string]string{"ARGOSY_BRACE": "{"}
		require.Equal(t, s, expand(c.Command[1], env))
		require.Equal(t, s, expand(c.Env[len(c.Env)-1].Value, env))

		p := dsl.New("p")
		v := dsl.Param(p, "v", s, dsl.Help(s))
		dsl.Run(p, "s", dsl.Container{Image: alpine, Args: dsl.Args(dsl.Sprintf("%v%s", v, s))})
		dsl.Each(p, dsl.Lit([]map[string]string{{s: s}}), func(dsl.Value[map[string]string]) any {
			return dsl.Each(p, dsl.Lit([]string{s}), func(item dsl.Value[string]) any {
				return dsl.Run(p, "t", dsl.Container{Image: alpine, Args: dsl.Args(item)})
			})
		})
		p.If(dsl.Eq(v, s), func() { dsl.Run(p, "u", dsl.Container{Image: alpine}) })
		manifest, err = compiler.Compile(p)
		if strings.Contains(s, "{{") || !json.Valid([]byte(strconv.Quote(s))) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		wf := validate(t, manifest)
		require.Equal(t, s+s, expand(given(t, wf.GetTemplateByName("s").Container.Args[0], map[string]string{"inputs.parameters.v": s}), env))
		require.Equal(t, s, wf.GetTemplateByName("for-loop-1").DAG.Tasks[0].WithItems[0].GetStrVal())
		object := wf.GetTemplateByName("p").DAG.Tasks[1].WithItems[0].GetMapVal()
		require.Len(t, object, 1)
		inner := object[s]
		require.Equal(t, s, inner.GetStrVal())
		require.Equal(t, s, wf.Spec.Arguments.Parameters[0].Value.String())
	})
}
