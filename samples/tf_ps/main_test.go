package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

func TestTFPSCompiles(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(TFPS())
	require.NoError(t, err)
	require.Contains(t, string(manifest), "--affinity=ps,worker,chief")
}

// addresses returns n addresses without a listener. Their ports lie below the range from which the kernel assigns ports, so no other
// program takes them first.
func addresses(t *testing.T, n int) (free []string) {
	t.Helper()
	for len(free) < n {
		a := fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000))
		if l, err := net.Listen("tcp", a); err == nil {
			defer l.Close() // when all are known, so that none comes twice
			free = append(free, a)
		}
	}
	return free
}

// The roles of the program, started as the operator would start them, on two parameter servers.
func TestRoles(t *testing.T) {
	t.Parallel()
	cluster := map[string][]string{"ps": addresses(t, 2), "worker": {"127.0.0.1:1", "127.0.0.1:2"}, "chief": {"127.0.0.1:3"}}
	export := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	start := func(role string, index int, args ...string) (*exec.Cmd, *bytes.Buffer) {
		config, err := json.Marshal(map[string]any{"cluster": cluster, "task": map[string]any{"type": role, "index": index}})
		require.NoError(t, err)
		cmd := exec.CommandContext(ctx, "/usr/bin/python3", append([]string{"model.py", "--tf-train-steps=300"}, args...)...)
		cmd.Env = append(os.Environ(), "TF_CONFIG="+string(config), "OPENBLAS_NUM_THREADS=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		return cmd, &out
	}
	var servers []*exec.Cmd
	for i := range cluster["ps"] {
		cmd, _ := start("ps", i)
		servers = append(servers, cmd)
	}
	trainers := map[*exec.Cmd]*bytes.Buffer{}
	for i := range cluster["worker"] {
		cmd, out := start("worker", i)
		trainers[cmd] = out
	}
	chief, said := start("chief", 0, "--tf-export-dir="+export)
	trainers[chief] = said
	for cmd, out := range trainers {
		require.NoError(t, cmd.Wait(), "%s", out)
		require.Contains(t, out.String(), " has trained on ")
	}
	stop() // the operator ends the servers
	for _, cmd := range servers {
		require.Error(t, cmd.Wait())
	}
	require.Contains(t, said.String(), "on 2 parameter servers: accuracy=")
	var accuracy float64
	_, after, _ := strings.Cut(said.String(), "accuracy=")
	_, err := fmt.Sscan(after, &accuracy)
	require.NoError(t, err)
	require.Greater(t, accuracy, 0.8, said.String())
	require.FileExists(t, filepath.Join(export, "model.npz"))
}
