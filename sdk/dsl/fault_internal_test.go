package dsl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Programs that are built with -trimpath name the module in place of its folder.
func TestPlacesOfTrimmedPrograms(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("// mine\nmodule example.com/mine\n\ngo 1.25\n"), 0o600))
	folder := filepath.Join(root, "cmd", "train")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	t.Chdir(folder)
	require.Equal(t, "main.go", relative("example.com/mine/cmd/train/main.go"))
	require.Equal(t, "main.go", relative(filepath.Join(folder, "main.go")))
	require.Equal(t, "example.com/mine/other/main.go", relative("example.com/mine/other/main.go"))
	require.Equal(t, "example.com/else/main.go", relative("example.com/else/main.go"))
	t.Chdir(os.TempDir())
	require.Equal(t, "example.com/mine/main.go", relative("example.com/mine/main.go"))
}
