package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl/dsltest"
	"github.com/argosy-ml/argosy/server/uimetadata"
)

func TestStepsFollowTheFiles(t *testing.T) {
	t.Parallel()
	run := dsltest.Run(t, DataPipeline(), nil, dsltest.Steps{
		"features": func(dsltest.Call) (dsltest.Outputs, error) { return dsltest.Outputs{"kept": 300}, nil },
	})
	require.Equal(t, []string{"collect", "features", "fit", "evaluate"}, run.Steps())
}

// The programs of the steps, one after the other; what the last one leaves is what the server draws.
func TestPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	step := func(args ...string) string {
		for i, arg := range args[1:] {
			if arg != "100" {
				args[i+1] = filepath.Join(dir, arg)
			}
		}
		out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", append([]string{"steps.py"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Equal(t, "100 days\n", step("collect", "100", "sales"))
	require.Regexp(t, `^9\d of 100 days can be used\n$`, step("features", "sales", "table", "kept"))
	require.Regexp(t, `^sold = 1[0-4]\.\d \* degrees`, step("fit", "table", "model"))
	require.Regexp(t, `^r2=0\.[789]`, step("evaluate", "table", "model", "metrics", "report", "ui"))
	text, err := os.ReadFile(filepath.Join(dir, "ui"))
	require.NoError(t, err)
	outputs := uimetadata.Parse(text)
	require.Len(t, outputs, 3)
	for _, o := range outputs {
		require.Empty(t, o.Warning())
	}
}
