package compiler_test

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

//go:embed testdata/scripts/count.sh
var countScript string

// A script that is embedded from a file is in the workflow to the byte, as a script of Argo's or, where it is given arguments,
// as a file; and runs there as it does here.
func TestScriptsFromFiles(t *testing.T) {
	t.Parallel()
	p := dsl.New("embedded")
	word := dsl.Param(p, "word", "b")
	dsl.Run(p, "plain", dsl.Script(alpine, "sh", countScript))
	dsl.Run(p, "with-args", dsl.Script(alpine, "sh", countScript, "a", word, "c d"))
	manifest, err := compiler.Compile(p)
	require.NoError(t, err)
	wf := validate(t, manifest)
	read := func(text string) string { return expand(text, map[string]string{"HOME": "/wrong"}) }

	plain := wf.GetTemplateByName("plain").Script
	require.Equal(t, []string{"sh"}, plain.Command)
	require.Equal(t, countScript, read(plain.Source))

	tmpl := wf.GetTemplateByName("with-args")
	file := tmpl.Inputs.Artifacts[0]
	require.Equal(t, []string{"sh", file.Path}, tmpl.Container.Command)
	require.Equal(t, countScript, read(file.Raw.Data))
	var args []string
	for _, arg := range tmpl.Container.Args {
		args = append(args, read(given(t, arg, map[string]string{"inputs.parameters.word": "$b"})))
	}
	require.Equal(t, []string{"a", "$b", "c d"}, args)

	arrived := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(arrived, []byte(read(file.Raw.Data)), 0o600))
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{arrived}, args...)...)
	cmd.Env = []string{"HOME=/home/x"}
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "3 words, HOME is /home/x, $(HOME)\n", string(out))
}
