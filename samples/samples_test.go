package samples

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

var update = flag.Bool("update", false, "write the Workflows anew")

// What the server starts is what the samples compile to.
func TestWorkflowsAreThoseOfTheSamples(t *testing.T) {
	t.Parallel()
	for _, s := range All() {
		var compiled bytes.Buffer
		require.NoError(t, compiler.CompileDir(t.Context(), s.Name, "-", "", &compiled))
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join(s.Name, s.Name+".yaml"), compiled.Bytes(), 0o644))
			continue
		}
		require.Equal(t, compiled.String(), string(s.Workflow), "after a change of a sample: go test ./samples -update")
	}
}
