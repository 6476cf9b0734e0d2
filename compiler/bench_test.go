package compiler_test

import (
	"fmt"
	"testing"

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

func BenchmarkCompileThousandSteps(b *testing.B) {
	for b.Loop() {
		if _, err := compiler.Compile(large(1000)); err != nil {
			b.Fatal(err)
		}
	}
}
