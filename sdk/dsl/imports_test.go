package dsl_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func base(file string) string { return filepath.Base(file) }

// Whoever writes pipelines imports these packages, so they bring nothing along.
func TestOnlyTheStandardLibraryIsImported(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		"github.com/argosy-ml/argosy/sdk/dsl", "github.com/argosy-ml/argosy/sdk/train").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.ElementsMatch(t, []string{
		"github.com/argosy-ml/argosy/sdk/dsl",
		"github.com/argosy-ml/argosy/sdk/dsl/graph",
		"github.com/argosy-ml/argosy/sdk/train",
	}, strings.Fields(string(out)))
}
