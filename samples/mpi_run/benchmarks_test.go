package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const program = "benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"

// python runs the benchmark program, or mpirun with it, and returns what it printed.
// TMPDIR is its own: of two mpiruns that share one, the second fails if both make Open MPI's folder in it at once.
func python(t *testing.T, command string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_hwloc_base_binding_policy=none", "PYTHONDONTWRITEBYTECODE=1", "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

var (
	stepLine  = regexp.MustCompile(`(?m)^(\d+)\timages/sec: (\d+\.\d) \+/- \d+\.\d \(jitter = \d+\.\d\)\t(\d+\.\d{3})$`)
	totalLine = regexp.MustCompile(`(?m)^-{64}\ntotal images/sec: (\d+\.\d{2})\n-{64}$`)
)

// small makes runs of a second or two.
var small = []string{program, "--model", "resnet34", "--batch_size", "16", "--num_batches", "60", "--num_warmup_batches", "2", "--optimizer", "momentum", "--backend", "numpy"}

func losses(t *testing.T, out string) []float64 {
	t.Helper()
	var all []float64
	for _, m := range stepLine.FindAllStringSubmatch(out, -1) {
		loss, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err)
		all = append(all, loss)
	}
	require.NotEmpty(t, all, out)
	return all
}

func TestBenchmarkAlone(t *testing.T) {
	t.Parallel()
	out, code := python(t, "/usr/bin/python3", append(small, "--summary_verbosity=3", "--save_summaries_steps=10", "--no_such_flag=1")...)
	require.Zero(t, code, out)
	require.Contains(t, out, "\nStep\tImg/sec\ttotal_loss\n")
	require.Contains(t, out, "scaled down")
	require.Contains(t, out, "warning: --no_such_flag=1 is not known here and ignored\n")
	require.Len(t, totalLine.FindAllString(out, -1), 1, out)
	all := losses(t, out)
	require.Len(t, all, 7, "step 1 and every tenth")
	require.InDelta(t, 6.9, all[0], 0.5, "a thousand classes, nothing learnt yet")
	require.Less(t, all[len(all)-1], all[0]-0.5, "it learns")
}

func TestBenchmarkTwoRanks(t *testing.T) {
	t.Parallel()
	out, code := python(t, "mpirun", append([]string{"--oversubscribe", "-np", "2", "/usr/bin/python3"}, small...)...)
	require.Zero(t, code, out)
	require.Contains(t, out, "World size:  2\n")
	require.Contains(t, out, "All 2 ranks hold the same weights")
	totals := regexp.MustCompile(`total images/sec: (\S+)`).FindAllStringSubmatch(out, -1)
	require.Len(t, totals, 2, "every rank prints the total")
	require.Equal(t, totals[0][1], totals[1][1])
	require.Len(t, losses(t, out), 14)
}

// Ranks whose weights differ at the end did not train together.
func TestBenchmarkFindsDivergedRanks(t *testing.T) {
	t.Parallel()
	broken := strings.Join([]string{
		"import sys; sys.path.insert(0, 'benchmarks/scripts/tf_cnn_benchmarks'); sys.argv = ['x', '--num_batches=2', '--batch_size=4', '--model=resnet18', '--backend=numpy']",
		"import tf_cnn_benchmarks as b, world",
		"world.MPIWorld.sum = lambda self, array: None", // the all-reduce does nothing
		"b.main()",
	}, "\n")
	out, code := python(t, "mpirun", "--oversubscribe", "-np", "2", "/usr/bin/python3", "-c", broken)
	require.NotZero(t, code)
	require.Contains(t, out, "error: the ranks ended with different weights")
}

// The gradient that the network computes is that of its loss.
func TestBenchmarkGradient(t *testing.T) {
	t.Parallel()
	check := strings.Join([]string{
		"import sys; sys.path.insert(0, 'benchmarks/scripts/tf_cnn_benchmarks')",
		"import numpy as np, network",
		"net = network.ResNet((1, 2, 1), 4); rng = np.random.default_rng(0); net.layout.initialise(net.weights, rng)",
		"net.weights += 0.05 * rng.standard_normal(net.weights.size).astype(np.float32)",
		"images = rng.standard_normal((8, 32, 32, 3)).astype(np.float32); labels = rng.integers(0, 1000, 8)",
		"net.step(images, labels); gradient, weights = net.gradients.copy(), net.weights.copy()",
		"way = rng.standard_normal(gradient.size).astype(np.float32)",
		"net.weights[:] = weights + 1e-3 * way; after = net.step(images, labels)",
		"net.weights[:] = weights - 1e-3 * way; before = net.step(images, labels)",
		"print(abs((after - before) / 2e-3 - gradient @ way) / abs(gradient @ way))",
	}, "\n")
	out, code := python(t, "/usr/bin/python3", "-c", check)
	require.Zero(t, code, out)
	off, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	require.NoError(t, err, out)
	require.Less(t, off, 0.01)
}

func TestBenchmarkWrongFlags(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"argument --model: invalid choice: 'vgg16'":            {"--model=vgg16"},
		"argument --batch_size: must be at least 1, not 0":     {"--batch_size", "0"},
		"argument --optimizer: invalid choice":                 {"--optimizer=lbfgs"},
		"argument --num_batches: invalid positive value: 'ten": {"--num_batches", "ten"},
	} {
		out, code := python(t, "/usr/bin/python3", append([]string{program}, args...)...)
		require.Equal(t, 2, code, out)
		require.Contains(t, out, want)
	}
}
