package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/job"
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
	require.Empty(t, a.skip())
	require.Equal(t, []string{
		"mpijob", "--job-name-file=/name.txt", "--workers=2", "--name=all-reduce", "--image=uber/horovod:0.13.11", "--gpus=1", "--cpu=2", "--memory=10Gi",
		"--sync-source=https://example.com/b.git", "--env=NCCL_DEBUG=INFO", "--git-branch=cnn", "--running-timeout=240h", "--sync-mode=git",
		"--data=user-susan:/training", "--metric=images/sec", "--", "mpirun python x.py --n 1",
	}, a.translated("/"))

	a, err = readArena(strings.Fields("--name=x --image=i --cpu=0 --memory=0 --data=a:/a,b:/b,None,c --env=A --env=B=1 --pending-timeout-minutes=360 --metric acc:PERCENTAGE --metric loss --metric-name f mpijob -- a b"))
	require.NoError(t, err)
	require.Equal(t, []string{`--data "c" is left out: it is not CLAIM:/PATH`, `--env "A" is left out: it is not NAME=VALUE`}, a.skip())
	require.Equal(t, []string{
		"mpijob", "--job-name-file=/name.txt", "--workers=2", "--name=x", "--image=i", "--env=B=1", "--pending-timeout=360m", "--data=a:/a", "--data=b:/b",
		"--metric=acc:PERCENTAGE", "--metric=loss:PERCENTAGE", "--metric=f:PERCENTAGE", "--", "a b",
	}, a.translated("/"))

	a, err = readArena(strings.Fields("--name=x --image=i --workers=4 --rdma True --tensorboard true --log-dir=/l job -- a b"))
	require.NoError(t, err)
	require.Equal(t, []string{"tfjob", "--job-name-file=/name.txt", "--workers=1", "--name=x", "--image=i", "--rdma=true", "--tensorboard=true", "--logdir=/l", "--", "a b"}, a.translated("/"))
}

// Options that arena got later, and a step may hand on.
func TestArenaMPIOptions(t *testing.T) {
	for line, want := range map[string][]string{
		"--name=x --image=i --gputopology True --mounts-on-launcher=False mpijob -- a":  {"--gputopology=true", "--mounts-on-launcher=false"},
		"--name=x --image=i --gputopology=False --mounts-on-launcher True mpijob -- a":  {"--mounts-on-launcher=true"},
		"--name=x --image=i --gputopology=True --mounts-on-launcher=False job -- a":     nil,
		"--name=x --image=i --gputopology= --mounts-on-launcher= --rdma= mpijob -- a":   nil,
		"--name=x --image=i --gputopology=True --rdma=True --tensorboard=1 mpijob -- a": {"--rdma=true", "--gputopology=true"},
	} {
		a, err := readArena(strings.Fields(line))
		require.NoError(t, err)
		args := a.translated("/")
		at := slices.Index(args, "--image=i") + 1
		require.Equal(t, append(want, "--", "a"), args[at:], line)
	}
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

// FuzzArena checks that what is accepted becomes a command line that our own command understands, or refuses with a reason.
func FuzzArena(f *testing.F) {
	f.Add(strings.Join(mpiRun, "\n"))
	f.Add("--name=x\n--rdma=True\n--metric=a:b:c\n--timeout-hours=-1\njob\n--\n-x")
	f.Fuzz(func(t *testing.T, line string) {
		a, err := readArena(strings.Split(line, "\n"))
		if err != nil {
			return
		}
		a.skip()
		args := a.translated("/")
		kind := job.Kinds()[slices.IndexFunc(job.Kinds(), func(k *job.Kind) bool { return k.Command == args[0] })]
		o := job.Options{}
		var own string
		flags := pflag.NewFlagSet(kind.Command, pflag.ContinueOnError)
		o.Bind(flags)
		flags.StringVar(&own, "job-name-file", "", "")
		require.NoError(t, flags.Parse(args[1:]), "%q", args)
		require.Equal(t, []string{a.command}, flags.Args())
		if _, err := o.Spec(kind, a.command); err != nil {
			require.NotEmpty(t, err.Error())
		}
	})
}
