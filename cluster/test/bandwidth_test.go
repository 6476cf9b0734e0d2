package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bandwidth is measured over the job's own ranks, before its command, and does not count as the command's ranks.
func TestProbesBandwidth(t *testing.T) {
	t.Parallel()
	l := shared(t).launcher(t, "mpijob", "mpirun hostname", "--workers=2", "--probe=true")
	l.args = append(l.args, "--environment-file="+filepath.Join(l.dir, "environment"))
	l.start(t)
	said := l.ends(t, 0)
	require.Regexp(t, `(?s)argosy: probe: all-reduce of mpi4py\nargosy: probe: #  Rank  0 Pid +\d+ on step-\S+-worker-0\nargosy: probe: #  Rank  1 Pid +\d+ on step-\S+-worker-1\n.*\[1,0\]<stdout>:step-`, said)
	text, err := os.ReadFile(filepath.Join(l.dir, "environment"))
	require.NoError(t, err, said)
	var facts map[string]string
	require.NoError(t, json.Unmarshal(text, &facts))
	require.Regexp(t, `^[0-9.e-]+ GB/s$`, facts["bus bandwidth"], said)
	require.NotEqual(t, "0 GB/s", facts["bus bandwidth"], said)
	require.Regexp(t, `^all-reduce of \d+ [KM]iB, mpi4py$`, facts["bandwidth probe"])
	require.Equal(t, "2", l.output(t, "world-size"))

	// One rank measures nothing, and the job runs all the same.
	alone := shared(t).launcher(t, "mpijob", "mpirun hostname", "--workers=1", "--probe=true").start(t)
	require.Contains(t, alone.ends(t, 0), "argosy: probe: no bandwidth: one rank has no other to exchange data with\n")
}
