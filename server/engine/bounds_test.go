package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine"
)

// keys are n keys with a value each, below one.
func keys(n int, format string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, format, i)
	}
	return text.String()
}

// TestManyKeys: what a manifest may hold is counted, not only its bytes. What is far beyond is not even parsed.
func TestManyKeys(t *testing.T) { // not parallel: it counts allocations
	for name, c := range map[string]struct{ manifest, want string }{
		"YAML":         {hello + "x:\n" + keys(400_000, "  k%d: 1\n"), "more than 250,000 keys and values"},
		"flow":         {hello + "x: {" + keys(400_000, "k%d: 1, ") + "}\n", "more than 250,000 keys and values"},
		"JSON":         {`{"x":{` + keys(400_000, `"k%d":1,`) + `"k":1}}`, "more than 250,000 keys and values"},
		"aliases":      {hello + "x: &x [" + keys(1000, "%d,") + "]\ny: [" + strings.Repeat("*x,", 1000) + "]\n", "its YAML aliases expand to more than 250,000 keys and values"},
		"levels":       {hello + "x: " + strings.Repeat("[", 101) + strings.Repeat("]", 101), "more than 100 deep"},
		"aliased deep": {hello + "x: &x " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\ny: " + strings.Repeat("[", 60) + "*x" + strings.Repeat("]", 60), "more than 100 deep"},
	} {
		_, err := engine.Read([]byte(c.manifest))
		require.ErrorContains(t, err, c.want, name)
	}
	for name, manifest := range map[string]string{
		"many keys":       hello + "x:\n" + keys(120_000, "  k%d: 1\n"),
		"many small ones": hello + "x: &x [" + keys(100, "%d,") + "]\ny: [" + strings.Repeat("*x,", 1000) + "]\n",
		"a long text":     hello + "x: |\n" + strings.Repeat("  x = { 'a': [1, 2] }\n", 20_000),
		"levels":          hello + "x: " + strings.Repeat("[", 90) + strings.Repeat("]", 90),
	} {
		_, err := engine.Read([]byte(manifest))
		require.NoError(t, err, name)
	}
	huge := []byte(hello + "x: [" + strings.Repeat("a,", 10<<20) + "]\n")
	allocations := testing.AllocsPerRun(1, func() {
		_, err := engine.Read(huge)
		require.ErrorContains(t, err, "more than 1,000,000 line ends, colons, commas")
	})
	require.Less(t, allocations, 1000.0, "it was parsed")
}

func TestQuotesInJSON(t *testing.T) {
	t.Parallel()
	_, err := engine.Read([]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"\\\"` + strings.Repeat("{[,:", 100_000) + `\\"}}`))
	require.NoError(t, err)
}
