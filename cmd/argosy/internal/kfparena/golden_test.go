package kfparena_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/kfparena"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden has the Go source of whole files, and what is said of them.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.py")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			program, notes, err := kfparena.Source(filepath.Base(file), data)
			require.NoError(t, err)
			for _, note := range notes {
				program = append(program, "// "+note+"\n"...)
			}
			golden := strings.TrimSuffix(file, ".py") + ".go.txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, program, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(program))
		})
	}
}
