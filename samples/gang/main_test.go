package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestGolden(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(Gang())
	require.NoError(t, err)
	const golden = "testdata/gang.yaml"
	if *update {
		require.NoError(t, os.WriteFile(golden, manifest, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(manifest))
}

// address returns an address without a listener. Its port lies below the range from which the kernel assigns ports, so no other program
// takes it first.
func address(t *testing.T) string {
	t.Helper()
	for {
		a := fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000))
		if l, err := net.Listen("tcp", a); err == nil {
			require.NoError(t, l.Close())
			return a
		}
	}
}

// The program on four workers, started as the operator would start them: none begins before the last is there.
func TestWorkers(t *testing.T) {
	t.Parallel()
	workers := []string{address(t), "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
	var outs [4]bytes.Buffer
	var running []*exec.Cmd
	for i := range workers {
		config, err := json.Marshal(map[string]any{"cluster": map[string]any{"worker": workers}, "task": map[string]any{"type": "worker", "index": i}})
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "worker.py")
		cmd.Env = append(os.Environ(), "TF_CONFIG="+string(config))
		cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
		require.NoError(t, cmd.Start())
		running = append(running, cmd)
	}
	for i, cmd := range running {
		require.NoError(t, cmd.Wait(), "%s", &outs[i])
		require.Equal(t, fmt.Sprintf("worker %[1]d waits for the other 3\nworker %[1]d: all are there\n", i), outs[i].String())
	}
}
