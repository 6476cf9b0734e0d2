package compiler_test

import (
	"fmt"
	"testing"
	"time"

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

func BenchmarkCompileThousandSteps(b *testing.B) {
	for b.Loop() {
		if _, err := compiler.Compile(large(1000)); err != nil {
			b.Fatal(err)
		}
	}
}

// Ten times the steps take about ten times as long: nothing is looked for in all steps for each of them.
func TestTimeGrowsWithSteps(t *testing.T) {
	t.Parallel()
	fastest := func(steps int) time.Duration {
		best := time.Hour
		for range 5 { // the least disturbed of some
			start := time.Now()
			_, err := compiler.Compile(large(steps))
			require.NoError(t, err)
			best = min(best, time.Since(start))
		}
		return best
	}
	small, big := fastest(300), fastest(3000)
	require.Less(t, big, 40*small, "3000 steps took %v, 300 took %v", big, small)
}
