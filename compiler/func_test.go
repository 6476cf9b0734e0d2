package compiler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

type trainIn struct {
	Data  dsl.File[dsl.Dataset]
	Rate  dsl.Value[float64]
	Tags  dsl.Value[[]string]
	Limit dsl.Value[time.Duration]
	Noisy dsl.Value[bool]
	Note  dsl.Value[string] `dsl:",optional"`
}

type trainOut struct {
	*dsl.Step
	Model dsl.File[dsl.Model]
	Loss  dsl.Value[float64] `dsl:"final-loss"`
	Seen  dsl.Value[[]string]
}

// trainFunc copies the data in capitals: inputs and outputs of all kinds.
var trainFunc = dsl.Func("train", func(_ context.Context, in trainIn, out *trainOut) error {
	data, err := os.ReadFile(in.Data.Path())
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return errors.New("the data is empty")
	}
	if in.Noisy.Get() {
		data = append(data, '!')
	}
	out.Loss.Put(in.Rate.Get() / in.Limit.Get().Seconds())
	if in.Note.IsSet() {
		out.Seen.Put(append(in.Tags.Get(), in.Note.Get()))
	}
	return os.WriteFile(out.Model.Path(), []byte(strings.ToUpper(string(data))), 0o600)
})

func functions() *dsl.Pipeline {
	p := dsl.New("functions", dsl.Program(dsl.Lit("registry.example.com/team/pipelines:v1"), "/pipelines"))
	data := dsl.Import[dsl.Dataset](p, dsl.FromText(dsl.Lit("some data")))
	in := trainIn{data, dsl.Param(p, "rate", 0.5), dsl.Lit([]string{"a", "b"}), dsl.Lit(2 * time.Second), dsl.Lit(true), dsl.Lit("x=y")}
	one := trainFunc.Add(p, in)
	trainFunc.Add(p, in, dsl.After(one.Step), dsl.Limits(dsl.Resources{Memory: dsl.Lit("1Gi")}))
	dsl.Run(p, "show", dsl.Container{Image: alpine, Args: dsl.Args(one.Model, one.Loss, one.Seen)})
	return p
}

// A step starts the program with the arguments that are in the workflow; there the function gets what was wired.
func TestFunctionsRunWithWhatWasWired(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(functions())
	require.NoError(t, err)
	c := validate(t, manifest).GetTemplateByName("train").Container
	require.Equal(t, []string{"/pipelines", "argosy-func", "functions", "train"}, c.Command)

	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	require.NoError(t, os.WriteFile(data, []byte("some data"), 0o600))
	var args []string
	for _, arg := range c.Args {
		arg = given(t, arg, map[string]string{"inputs.parameters.rate": "0.5"})
		arg = strings.ReplaceAll(arg, "/tmp/inputs/1-data", data)
		args = append(args, strings.ReplaceAll(arg, "/tmp/output-", folder+"/out/"))
	}
	require.NoError(t, functions().RunFunc(t.Context(), "train", args))
	for name, want := range map[string]string{"model": "SOME DATA!", "final-loss": "0.25", "seen": `["a","b","x=y"]`} {
		got, err := os.ReadFile(filepath.Join(folder, "out", name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), name)
	}

	wrong := func(change func(string) string) error {
		var changed []string
		for _, arg := range args {
			changed = append(changed, change(arg))
		}
		return functions().RunFunc(t.Context(), "train", changed)
	}
	require.ErrorContains(t, wrong(func(s string) string { return strings.ReplaceAll(s, "rate=0.5", "rate=fast") }), `function train: input rate is "fast": it must be Float`)
	require.ErrorContains(t, wrong(func(s string) string { return strings.ReplaceAll(s, "note=", "other=") }), "function train: it did not set its output Seen")
	require.ErrorContains(t, wrong(func(s string) string { return strings.ReplaceAll(s, "seen=", "other=") }), "function train: it is not said where output Seen goes")
	require.ErrorContains(t, wrong(func(s string) string { return strings.ReplaceAll(s, "-in", "in") }), `argument "in": functions take -in NAME=VALUE and -out NAME=FILE`)
	require.ErrorContains(t, wrong(func(s string) string { return strings.ReplaceAll(s, "data="+data, "data=/no/such") }), "no such file")
	require.EqualError(t, functions().RunFunc(t.Context(), "no", nil), `pipeline "functions" has no function "no": is this another version of the program?`)
}

// Without an image of its own, the program is kept where the steps of the embedded cluster find it, by its contents.
func TestProgramsAreKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	type none struct{}
	p := dsl.New("kept")
	dsl.Func("hello", func(context.Context, none, *none) error { return nil }).Add(p, none{})
	manifest, err := compiler.Compile(p)
	require.NoError(t, err)
	tmpl := validate(t, manifest).GetTemplateByName("hello")
	c := tmpl.Container
	require.Equal(t, "host", c.Image)
	require.Equal(t, []string{"/argosy/program", "argosy-func", "kept", "hello"}, c.Command)
	require.Equal(t, []corev1.VolumeMount{{Name: tmpl.Volumes[0].Name, MountPath: "/argosy/program", ReadOnly: true}}, c.VolumeMounts)
	kept := tmpl.Volumes[0].HostPath.Path
	own, err := os.Executable()
	require.NoError(t, err)
	want, err := os.ReadFile(own)
	require.NoError(t, err)
	got, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.True(t, string(want) == string(got))
	info, err := os.Stat(kept)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
	again, err := compiler.Compile(p)
	require.NoError(t, err)
	require.Equal(t, string(manifest), string(again))
}
