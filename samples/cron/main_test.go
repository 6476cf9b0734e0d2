package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl/dsltest"
)

func TestCronAsksForTheTime(t *testing.T) {
	t.Parallel()
	run := dsltest.Run(t, Cron(), dsltest.Params{"number": "7"}, nil)
	require.Equal(t, []string{"[[CurrentTime.2006-01-02T15:04:05Z]]", "7"}, run.Of("look")[0].Args[:2])
}

func TestProgram(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "metrics")
	due := time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)
	out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "check.py", due, "3", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `^look 3, due \d\d:\d\d:\d\d, 3[6-9]\d\d\.\d s late: load=`, string(out))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var metrics struct {
		Metrics []struct {
			Name  string
			Value float64 `json:"numberValue"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &metrics))
	require.Equal(t, "late", metrics.Metrics[1].Name)
	require.InDelta(t, 3600, metrics.Metrics[1].Value, 300)
}
