package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

func TestPyTorchDDPCompiles(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(PyTorchDDP())
	require.NoError(t, err)
	require.Contains(t, string(manifest), "pytorchjob")
}

// freePort returns a port without a listener. It lies below the range from which the kernel assigns ports, so no other program takes it
// first.
func freePort(t *testing.T) int {
	t.Helper()
	for {
		port := 10000 + rand.IntN(20000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
}

// Two ranks of the program, started as the operator would start them, learn and stay alike.
func TestTwoRanks(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	type result struct {
		rank int
		out  string
		err  error
	}
	results := make(chan result, 2)
	for rank := range 2 {
		cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "train.py", "--epochs=2", "--examples=2048")
		cmd.Env = append(os.Environ(), "MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", port), fmt.Sprintf("RANK=%d", rank), "WORLD_SIZE=2")
		go func() {
			out, err := cmd.CombinedOutput()
			results <- result{rank, string(out), err}
		}()
	}
	line := regexp.MustCompile(`loss=(\S+) accuracy=(\S+) samples/sec: (\S+)`)
	for range 2 {
		r := <-results
		require.NoError(t, r.err, r.out)
		require.Contains(t, r.out, fmt.Sprintf("rank %d of 2: the same weights as rank 0", r.rank))
		epochs := line.FindAllStringSubmatch(r.out, -1)
		require.Len(t, epochs, 2, r.out)
		number := func(text string) float64 {
			n, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			return n
		}
		require.Less(t, number(epochs[1][1]), number(epochs[0][1]), "the loss falls")
		require.Greater(t, number(epochs[1][2]), 0.3, "ten classes: by chance it would be 0.1")
	}
}
