package compiler_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

// Two processes, of programs that were built one after the other, write the same packages to the byte, in every form.
func TestTwoProcessesWriteTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, form := range []string{".tar.gz", ".tgz", ".zip", ".yaml", ".yml"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			var first []byte
			for range 2 {
				file := filepath.Join(t.TempDir(), "mpi_run"+form)
				require.NoError(t, compiler.RunDir(t.Context(), "../samples/mpi_run", []string{"-o", file, "--param", "workers=3"}, io.Discard))
				packed, err := os.ReadFile(file)
				require.NoError(t, err)
				if first == nil {
					first = packed
				}
				require.Equal(t, first, packed)
			}
		})
	}
}
