package compiler_test

import (
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

type scoreIn struct {
	Model dsl.File[dsl.Dataset]
	Data  dsl.File[dsl.Dataset]
	Name  dsl.Value[string]
	Limit dsl.Value[string]
}

type scoreOut struct {
	*dsl.Step
	Report dsl.File[dsl.Dataset]
	Score  dsl.Value[float64]
}

var score = dsl.Define("score", func(in scoreIn, out scoreOut) dsl.Container {
	return dsl.Container{
		Image:   alpine,
		Command: dsl.Args("score", "--name", in.Name, dsl.Sprintf("--limit=%v", in.Limit), "--report", dsl.Path(out.Report)),
		Args:    dsl.Args(in.Model, in.Data, in.Limit),
		Env:     dsl.Env{"NAME": in.Name, "MODE": dsl.Lit("all"), "KEY": dsl.Secret("login", "key")},
	}
})

// shared adds components often: with constants, values and files; in a loop and a sub-pipeline; with words that no argument can
// carry, and with other resources.
func shared() *dsl.Pipeline {
	p := dsl.New("shared")
	limit := dsl.Param(p, "limit", "10")
	first := prepare.Add(p, struct{ Raw dsl.File[dsl.Dataset] }{dsl.Import[dsl.Dataset](p, dsl.FromHTTP(dsl.Lit("https://example.com/data.csv")))})
	one := score.Add(p, scoreIn{first.Train, first.Test, dsl.Lit("$one"), limit})
	two := score.Add(p, scoreIn{first.Train, one.Report, dsl.Sprintf("%v-%v", limit, "two"), dsl.Lit("20")})
	score.Add(p, scoreIn{first.Train, two.Report, dsl.Lit("{{three}}"), limit})
	score.Add(p, scoreIn{first.Train, two.Report, dsl.Argo("pod.name"), limit})
	score.Add(p, scoreIn{first.Train, two.Report, dsl.Lit("large"), limit}, dsl.Limits(dsl.Resources{Memory: dsl.Lit("1Gi")}))
	score.Add(p, scoreIn{first.Train, two.Report, dsl.Lit("large"), limit}, dsl.Limits(dsl.Resources{Memory: dsl.Lit("1Gi")}))
	dsl.Each(p, dsl.Lit([]string{"a", "b"}), func(name dsl.Value[string]) any {
		return score.Add(p, scoreIn{first.Train, first.Test, name, limit})
	})
	type in struct{ Model, Data dsl.File[dsl.Dataset] }
	type out struct{ *dsl.Step }
	dsl.Sub(p, "inside", in{first.Train, first.Test}, func(in in) out {
		return out{score.Add(p, scoreIn{in.Model, in.Data, dsl.Lit("inside"), limit}).Step}
	})
	for _, name := range []string{"step-1", "step-2", "other-1"} {
		dsl.Run(p, name, dsl.Container{Image: alpine, Command: dsl.Args("echo", "-n"), Args: dsl.Args("this is", name)})
	}
	return p
}

// Steps are one template where they differ in nothing but what arguments carry, and their names in nothing but a number.
func TestSharedTemplates(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(shared())
	require.NoError(t, err)
	wf := validate(t, manifest)
	templates := map[string]string{} // by tasks
	arguments := map[string]map[string]string{}
	for _, tmpl := range wf.Spec.Templates {
		if tmpl.DAG == nil {
			continue
		}
		for _, task := range tmpl.DAG.Tasks {
			at := strings.TrimPrefix(tmpl.Name+"/", "shared/") + task.Name
			templates[at], arguments[at] = task.Template, argumentsOf(task.Arguments)
		}
	}
	require.Equal(t, map[string]string{
		"prepare": "prepare", "inside": "inside", "for-loop-1": "for-loop-1",
		"score": "score", "score-2": "score", "score-3": "score-3", "score-4": "score-4", "score-5": "score-2", "score-6": "score-2", "for-loop-1/score-7": "score", "inside/score": "score",
		"step-1": "step", "step-2": "step", "other-1": "other-1",
	}, templates)
	require.Equal(t, map[string]string{
		"name": "$one", "limit": "{{inputs.parameters.limit}}",
		"model": "{{tasks.prepare.outputs.artifacts.train}}", "data": "{{tasks.prepare.outputs.artifacts.test}}",
	}, arguments["score"])
}

func argumentsOf(a wfv1.Arguments) map[string]string {
	out := map[string]string{}
	for _, p := range a.Parameters {
		out[p.Name] = p.Value.String()
	}
	for _, f := range a.Artifacts {
		out[f.Name] = f.From
	}
	return out
}
