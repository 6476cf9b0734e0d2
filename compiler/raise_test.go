package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/compiler/decompile/source"
)

// Whatever steps, conditions and loops are put together, decompiling gives a graph that compiles to the same bytes.
func TestRandomPipelinesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		manifest, err := compiler.Compile(randomPipeline(t))
		require.NoError(t, err)
		g, err := decompile.Raise(manifest)
		require.NoError(t, err, "%s", manifest)
		again, err := compiler.CompileGraph(g)
		require.NoError(t, err)
		require.Equal(t, string(manifest), string(again))
		_, err = source.Program(g)
		require.NoError(t, err)
	})
}
