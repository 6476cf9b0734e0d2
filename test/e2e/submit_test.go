//go:build e2e

package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// submits runs the command of a published article on Arena with `argosy submit`, with what this machine has in place of its GPUs
// and image, and reads what the ranks printed.
func (a *argosy) submits(t *testing.T) {
	line := []string{
		"submit", "mpijob", "--name=tf-eni", "--annotation=k8s.aliyun.com/eni=true", "--workers=2", "--syncMode=git", "--syncSource=" + benchmarks(t, a.home),
		"--cpu=500m", "--memory=1Gi", "--env=GIT_SYNC_BRANCH=cnn_tf_v1.9_compatible", "--image=host", "--metric=images/sec::sum",
		"mpirun --allow-run-as-root -np 2 -oversubscribe --bind-to none python code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --model=resnet50 --variable_update=horovod --num_batches=10 --batch_size=8 --optimizer=momentum",
	}
	log, errs := a.says(t, 0, append(line, "--logs")...)
	total := regexp.MustCompile(`(?m)^\[1,[01]\]<stdout>:total images/sec: ([0-9.]+)$`).FindAllStringSubmatch(log, -1)
	require.NotEmpty(t, total, "%s%s", log, errs)
	run := a.named(t, "tf-eni")
	measured, err := strconv.ParseFloat(total[0][1], 64)
	require.NoError(t, err)
	require.InDelta(t, measured, run.metric(t, "images/sec"), 0.01, "every rank prints the total, which counts once")
	require.Contains(t, run.Nodes[run.node(t, "tf-eni")].Outputs, nameValue{"world-size", "2"})

	out, _ := a.says(t, 0, "job", "logs", "tf-eni", "--rank", "1", "--grep", "images/sec")
	require.NotEmpty(t, out)
	for line := range strings.Lines(out) {
		require.Regexp(t, `^   1 .*images/sec: [0-9.]+`, line)
	}
	require.NotRegexp(t, `(?m)^   0 `, out)
	all, _ := a.says(t, 0, "job", "logs", "tf-eni")
	require.Regexp(t, `(?m)^     argosy: world size 2 \(requested 2\)`, all)
	require.Regexp(t, `(?m)^   0 .*images/sec`, all)
	_, errs = a.says(t, 3, line...)
	require.Contains(t, errs, "there is a run named tf-eni already")

	_, errs = a.says(t, 1, "submit", "job", "--name=submit-fails", "--image=host", "--logs", "echo so far; exit 7")
	require.Contains(t, errs, "error: run submit-fails: failed")
}
