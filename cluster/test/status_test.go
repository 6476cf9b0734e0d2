package test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// statusOf is what `argosy-cluster status -o json` says, as programs read it.
type statusOf struct {
	State      string
	PID        int
	Since      time.Time
	Kubeconfig string
	Components []struct {
		Name, State, Ended string
		PID, Restarts      int
		Memory             int64
		Since              time.Time
	}
	Nodes []struct {
		Name, CPU string
		Memory    int64
		Ready     bool
	}
}

func readStatus(t *testing.T, dir string) (s statusOf, code int) {
	t.Helper()
	cmd := command("status", "--home", dir, "-o", "json")
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) {
		require.NoError(t, err)
	}
	require.NoError(t, json.Unmarshal(out, &s), "%s", out)
	return s, cmd.ProcessState.ExitCode()
}

func TestStatusTellsOfEachComponent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, code := readStatus(t, dir)
	require.Equal(t, 1, code)
	require.Equal(t, "stopped", s.State)
	require.Empty(t, s.Components)

	began := time.Now()
	c := up(t, dir)
	s, code = readStatus(t, dir)
	require.Zero(t, code)
	require.Equal(t, "ready", s.State)
	require.Equal(t, c.cmd.Process.Pid, s.PID)
	require.WithinRange(t, s.Since, began.Truncate(time.Second), time.Now())
	require.Equal(t, c.home.Kubeconfig(), s.Kubeconfig)
	require.Len(t, s.Nodes, 1)
	require.True(t, s.Nodes[0].Ready)
	pids := c.pids(t)
	waiting := 0
	for _, component := range s.Components {
		if component.State == "waiting" {
			require.Contains(t, []string{"mpi-operator", "training-operator", "volcano"}, component.Name)
			require.Zero(t, component.PID)
			waiting++
			continue
		}
		require.Equal(t, "ready", component.State, component.Name)
		require.Equal(t, pids[component.Name], component.PID, component.Name)
		require.Zero(t, component.Restarts, component.Name)
		require.Greater(t, component.Memory, int64(1<<20), component.Name)
	}

	require.Len(t, s.Components, len(pids)+waiting)
	require.Equal(t, 3, waiting)

	require.NoError(t, syscall.Kill(pids["s3"], syscall.SIGKILL))
	eventually(t, "the status tells of the death", func(context.Context) bool {
		s, _ := readStatus(t, dir)
		for _, component := range s.Components {
			if component.Name == "s3" {
				return component.Restarts == 1 && component.State == "ready" && component.Ended == "signal: killed" && component.PID != pids["s3"]
			}
		}
		return false
	})
	c.stop(t)
	s, code = readStatus(t, dir)
	require.Equal(t, 1, code)
	require.Equal(t, "stopped", s.State)
	require.Empty(t, s.Components)
}
