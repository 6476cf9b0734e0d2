package dsl_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func base(file string) string { return filepath.Base(file) }

// Programs with pipelines import these packages, so these have no dependencies.
func TestOnlyTheStandardLibraryIsImported(t *testing.T) {
	t.Parallel()
	const sdk = "github.com/argosy-ml/argosy/sdk/"
	packages := []string{sdk + "client", sdk + "draw", sdk + "dsl", sdk + "dsl/dsltest", sdk + "dsl/graph", sdk + "scaling/plan", sdk + "train", sdk + "train/option"}
	args := append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)
	out, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.ElementsMatch(t, packages, strings.Fields(string(out)))
}
