package client_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/argosy-ml/argosy/"

// A program written with the SDK depends on the standard library alone. Notebooks and scaling reports need more.
func TestTheSDKImportsOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	packages, err := exec.Command("go", "list", module+"sdk/...").Output()
	require.NoError(t, err)
	args := []string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}
	for _, name := range strings.Fields(string(packages)) {
		if name != module+"sdk/notebook" && !strings.HasPrefix(name, module+"sdk/scaling") {
			args = append(args, name)
		}
	}
	deps, err := exec.Command("go", args...).Output()
	require.NoError(t, err)
	for _, name := range strings.Fields(string(deps)) {
		require.True(t, strings.HasPrefix(name, module+"sdk/"), "%s is imported", name)
	}
}
