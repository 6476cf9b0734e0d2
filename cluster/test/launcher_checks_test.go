package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An image is looked into before there is a job, and one that lacks what the job needs makes none.
func TestLauncherChecksImages(t *testing.T) {
	t.Parallel()
	c := shared(t)
	l := c.launcher(t, "mpijob", "mpirun hostname", "--workers=1", "--check-image=true").start(t)
	said := l.ends(t, 0)
	require.Regexp(t, `argosy: the image host has mpirun \(Open MPI\) .*\nargosy: checked the image in \S+\nargosy: created MPIJob`, said)
	l = c.launcher(t, "paddlejob", "horovodrun train", "--workers=1", "--check-image=true").start(t)
	require.Contains(t, l.ends(t, 1), "argosy: the image host has no horovodrun, which the command runs: install it, or give its path (CheckImage or --check-image=false skips this check)\n")
	require.Empty(t, l.jobs(t.Context(), t))
	eventually(t, "pods that looked into images are gone", func(ctx context.Context) bool {
		pods, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		return !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return strings.Contains(p.Name, "-check-") })
	})
}

// MPICH's ranks are on the workers, its output is tagged, and a step with fewer of them than it asked for fails.
func TestLauncherChecksRanksOfMPICH(t *testing.T) {
	t.Parallel()
	c := shared(t)
	l := c.launcher(t, "mpijob", "mpirun.mpich "+quoted(t, "mpich.py"), "--workers=2", "--slots=2").start(t)
	said := l.ends(t, 0)
	require.Regexp(t, `argosy: mpirun\.mpich places ranks: 2 on \S+-worker-0\.\S+, 2 on \S+-worker-1\.`, said)
	require.Contains(t, said, "argosy: world size 4 (requested 4) on 2 hosts\n")
	for rank := range 4 {
		require.Contains(t, said, fmt.Sprintf("[1,%d]<stdout>:rank %d of 4, the sum is 6\n", rank, rank))
	}
	require.Equal(t, "4", l.output(t, "world-size"))

	few := c.launcher(t, "mpijob", "mpirun.mpich -n 3 hostname", "--workers=2", "--slots=2")
	few.node = "few"
	require.Contains(t, few.start(t).ends(t, 1), "ran with fewer ranks than asked for: mpirun started 3 of 4 ranks")
}

// Variables and mounts of the step are there where ranks run, in sessions of sshd. A rank that lacks one fails the step, which names the rank.
func TestLauncherChecksRanksForVariablesAndMounts(t *testing.T) {
	t.Parallel()
	c := shared(t)
	folder := folderForPods(t)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "data"), nil, 0o600))
	args := []string{"--workers=2", "--env=FLAVOUR=sweet", "--data=" + folder + ":/set/two words", "--data=" + folder + ":/set/b", "--shm=64Mi"}
	said := c.launcher(t, "mpijob", `mpirun sh -c 'echo "$FLAVOUR with $(ls "/set/two words")"'`, args...).start(t).ends(t, 0)
	for _, rank := range []string{"[1,0]<stdout>:", "[1,1]<stdout>:"} {
		require.Contains(t, said, rank+"sweet with data\n")
	}
	l := c.launcher(t, "mpijob", "echo the command", append(args, "--env=train.mode=hot stuff")...) // a shell's sessions cannot have it
	l.node = "lacks"
	said = l.start(t).ends(t, 1)
	require.Regexp(t, `argosy: the worker \S+-worker-(\d)\.\S+ \(rank \d\) lacks what the step asked for: the variable train\.mode\. Look for`, said)
	require.Regexp(t, `argosy: MPIJob \S+ failed: rank \d on \S+-worker-\d \(\S+\): the worker lacks what the step asked for: the variable train\.mode\.`, said)
	require.NotContains(t, said, "the command\n")
	require.NotContains(t, said, "hot stuff")
}
