package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPythonOfPods puts another python3 first on the caller's PATH: the doctor names it and the one that pods find.
func TestPythonOfPods(t *testing.T) {
	pods := lookAtPython(t.Context())
	require.Contains(t, podPath, filepath.Dir(pods.Path), "this machine has one for its tests")
	require.Regexp(t, `^3\.`, pods.Version)

	dir := t.TempDir()
	mine := filepath.Join(dir, "python3")
	require.NoError(t, os.WriteFile(mine, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	again := lookAtPython(t.Context())
	require.Equal(t, mine, again.Caller)
	require.Equal(t, pods.Path, again.Path)
}
