package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mpiRun is the step of the sample mpi_run.py of KFP 0.1.17, its parameters filled in.
var mpiRun = []string{
	"--name", "all-reduce", "--tensorboard", "False", "--rdma", "False", "--image", "uber/horovod:0.13.11", "--gpus", "1", "--cpu", "2", "--memory", "10Gi",
	"--step-name", "wf-1", "--workflow-name", "wf", "--workers", "2", "--timeout-hours", "240", "--sync-source", "https://example.com/b.git",
	"--env", "NCCL_DEBUG=INFO", "--env", "GIT_SYNC_BRANCH=cnn", "--data", "user-susan:/training", "--metric", "images/sec", "mpijob", "--", "mpirun python x.py --n 1",
}

func TestArenaArguments(t *testing.T) {
	a, err := readArena(mpiRun)
	require.NoError(t, err)
	require.Equal(t, []string{
		"mpijob", "--job-name-file=/name.txt", "--workers=2", "--name=all-reduce", "--image=uber/horovod:0.13.11", "--gpus=1", "--cpu=2", "--memory=10Gi",
		"--sync-source=https://example.com/b.git", "--env=NCCL_DEBUG=INFO", "--git-branch=cnn", "--running-timeout=240h", "--sync-mode=git",
		"--data=user-susan:/training", "--metric=images/sec", "--", "mpirun python x.py --n 1",
	}, a.translated("/"))

	a, err = readArena(strings.Fields("--name=x --image=i --cpu=0 --memory=0 --data=a:/a,b:/b,None --metric acc:PERCENTAGE --metric loss --metric-name f mpijob -- a b"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"mpijob", "--job-name-file=/name.txt", "--workers=2", "--name=x", "--image=i", "--data=a:/a", "--data=b:/b",
		"--metric=acc:PERCENTAGE", "--metric=loss:PERCENTAGE", "--metric=f:PERCENTAGE", "--", "a b",
	}, a.translated("/"))

	a, err = readArena(strings.Fields("--name=x --image=i --workers=4 --rdma True --tensorboard true --log-dir=/l job -- a b"))
	require.NoError(t, err)
	require.Equal(t, []string{"tfjob", "--job-name-file=/name.txt", "--workers=1", "--name=x", "--image=i", "--rdma=true", "--tensorboard=true", "--logdir=/l", "--", "a b"}, a.translated("/"))
}

func TestArenaRefusals(t *testing.T) {
	for args, says := range map[string]string{
		"mpijob":               "command is missing",
		"mpijob --":            "command is missing",
		"-- x":                 `kind of job is ""`,
		"tfjob -- x":           `kind of job is "tfjob"`,
		"mpijob job -- x":      "more than one kind",
		"--nonsense=1 m -- x":  "unknown option --nonsense",
		"mpijob --workers -- ": "command is missing",
		"mpijob --gpus -- x":   "--gpus has no value",
	} {
		code, _, errs := execute(t, append([]string{"arena"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, errs, says, args)
	}
}

func TestArenaFiles(t *testing.T) {
	root := t.TempDir() + "/"
	a, err := readArena(mpiRun)
	require.NoError(t, err)
	require.NoError(t, a.writeFiles(root))
	for file, want := range map[string]string{"workflow-name.txt": "wf", "step-name.txt": "wf-1", "output.txt": "N/A"} {
		text, err := os.ReadFile(root + file)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}
