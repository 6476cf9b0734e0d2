package test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scenarioNames are the files of testdata/argo.
func scenarioNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scenarios, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	return names
}

// Every feature of Argo that a workflow can show by itself. docs/argo-features.md lists them.
func TestArgoFeatures(t *testing.T) {
	t.Parallel()
	for _, name := range scenarioNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArgo(t, shared(t))
			s := readScenario(t, name)
			a.createObjects(t, s.objects)
			s.check(t, a, a.finish(t, a.submit(t, s.workflow).Name))
		})
	}
}
