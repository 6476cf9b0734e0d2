package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// large is a pipeline of so many steps, each with a parameter and the outputs of the two before it.
func large(steps int) *dsl.Pipeline {
	p := dsl.New("large")
	text := dsl.Param(p, "text", "x")
	outputs := []any{text, text}
	for i := range steps {
		s := dsl.Run(p, fmt.Sprintf("step-%d", i), dsl.Container{Image: alpine, Args: dsl.Args(outputs[i], outputs[i+1])})
		outputs = append(outputs, dsl.Output[string](s, "out", "/tmp/out"))
	}
	return p
}

// alike is one component added so many times, with a constant and what the first gives.
func alike(steps int) *dsl.Pipeline {
	p := dsl.New("alike")
	first := fit.Add(p, fitIn{Data: dsl.Lit("s3://data"), Rate: dsl.Lit(1.0)})
	for i := range steps - 1 {
		fit.Add(p, fitIn{Data: first.BestModel, Rate: dsl.Lit(float64(i))})
	}
	return p
}

// A component stands in the workflow once, however often it is added: what is left of each step is its task.
func TestThousandStepsOfOneComponent(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(alike(1000))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(manifest), "\n    - name: "), "templates")
	require.Equal(t, 1000, strings.Count(string(manifest), "template: fit\n"), "tasks")
	packed, err := compiler.Pack("p.tar.gz", manifest)
	require.NoError(t, err)
	t.Logf("%d bytes, packed %d", len(manifest), len(packed))
	require.Less(t, len(manifest), 350_000)
}

func BenchmarkCompileThousandStepsOfOneComponent(b *testing.B) {
	for b.Loop() {
		if _, err := compiler.Compile(alike(1000)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileThousandSteps(b *testing.B) {
	for b.Loop() {
		if _, err := compiler.Compile(large(1000)); err != nil {
			b.Fatal(err)
		}
	}
}
