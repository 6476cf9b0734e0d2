package decompile_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/compiler/decompile/source"
	"github.com/argosy-ml/argosy/server/engine/manifest"
)

var mutants = flag.Int("mutants", 2000, "how many workflows with random changes to try")

// A workflow with a few lines changed is refused, or comes back as what does the same, if Argo takes it at all. Nothing of
// it makes the decompiler panic or write invalid Go.
func TestMutants(t *testing.T) {
	t.Parallel()
	var seeds []string
	for _, pattern := range []string{"testdata/*.yaml", "../testdata/*.yaml", "../../test/e2e/testdata/kfp/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			seeds = append(seeds, string(text))
		}
	}
	random := rand.New(rand.NewPCG(1, uint64(*mutants)))
	back := 0
	for range *mutants {
		text := mutant(random, seeds[random.IntN(len(seeds))])
		g, err := decompile.Raise([]byte(text))
		if err != nil {
			continue
		}
		_, err = source.Program(g)
		require.NoError(t, err, "%s", text)
		if wrong(text) {
			continue
		}
		again, err := compiler.CompileGraph(g)
		require.NoError(t, err, "%s", text)
		if diff := differing(t, []byte(text), again); diff != "" {
			t.Fatalf("%s\nof\n%s\nby way of\n%s", diff, text, again)
		}
		back++
	}
	require.Greater(t, back, *mutants/100)
}

// wrong says whether Argo would not take a workflow.
func wrong(text string) bool {
	for _, f := range manifest.Lint([]byte(text)) {
		if !f.Warning {
			return true
		}
	}
	return false
}

// mutant changes a few lines of a workflow.
func mutant(random *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	values := []string{"[]", "{}", "null", "1", "x", "'{{item}}'", "'{{workflow.name}}'", "'$(A) $$'", `"\0"`, "true"}
	for range 1 + random.IntN(3) {
		i, j := random.IntN(len(lines)), random.IntN(len(lines))
		switch at := strings.Index(lines[i], ": "); random.IntN(6) {
		case 0:
			lines[i] = lines[j]
		case 1:
			lines[i] = ""
		case 2:
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			if n := len(lines[i]); n > 0 {
				k := random.IntN(n)
				lines[i] = lines[i][:k] + string(rune(' '+random.IntN(95))) + lines[i][k+1:]
			}
		case 4:
			if n := len(lines[i]); n > 0 {
				k := random.IntN(n)
				lines[i] = lines[i][:k] + lines[i][k+1:]
			}
		case 5:
			if at > 0 {
				lines[i] = lines[i][:at+2] + values[random.IntN(len(values))]
			}
		}
	}
	return strings.Join(lines, "\n")
}
