package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every feature of Argo that a workflow can show by itself. docs/argo-features.md lists them.
func TestArgoFeatures(t *testing.T) {
	t.Parallel()
	for _, name := range scenarioNames(t, features) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArgo(t, shared(t))
			s := readScenario(t, features, name)
			s.check(t, a, a.run(t, s))
		})
	}
}

// The table of features names tests that exist, and misses none of the workflows.
func TestArgoFeatureTable(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../docs/argo-features.md")
	require.NoError(t, err)
	sources, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, s := range sources {
		b, err := os.ReadFile(s)
		require.NoError(t, err)
		code.Write(b)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`(Test[A-Za-z]+)(/([a-z0-9-]+))?`").FindAllStringSubmatch(string(table), -1) {
		require.Contains(t, code.String(), "func "+m[1]+"(t *testing.T)", "the table names a test that does not exist")
		named[m[3]] = true
		if m[3] != "" {
			require.FileExists(t, filepath.Join(features, m[3]+".yaml"))
		}
	}
	for _, name := range scenarioNames(t, features) {
		require.True(t, named[name], "%s is not in docs/argo-features.md", name)
	}
}
