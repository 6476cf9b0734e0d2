package compiler_test

import (
	"fmt"
	"testing"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// A thousand steps, each with a parameter and the outputs of the two before it.
func BenchmarkCompileThousandSteps(b *testing.B) {
	for b.Loop() {
		p := dsl.New("large")
		text := dsl.Param(p, "text", "x")
		outputs := []any{text, text}
		for i := range 1000 {
			s := dsl.Run(p, fmt.Sprintf("step-%d", i), dsl.Container{Image: alpine, Args: dsl.Args(outputs[i], outputs[i+1])})
			outputs = append(outputs, dsl.Output[string](s, "out", "/tmp/out"))
		}
		if _, err := compiler.Compile(p); err != nil {
			b.Fatal(err)
		}
	}
}
