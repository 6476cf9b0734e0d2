package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/job"
)

// Not parallel: the commands read the process's environment.

func execute(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"one argument":                       {"mpijob", "--name=x", "--image=i"},
		"one argument: mpijob":               {"mpijob", "--name=x", "--image=i", "--", "mpirun", "a"},
		"unknown flag: --wrokers":            {"mpijob", "--wrokers=2", "--", "c"},
		`--workers: "x" is not a whole`:      {"mpijob", "--name=x", "--image=i", "--workers=x", "--", "c"},
		"GIT_SYNC_REPO is not set":           {"git-sync"},
		`unknown command "x" for "argosy-la`: {"x"},
	} {
		code, _, errs := execute(t, args...)
		require.NotZero(t, code, args)
		require.Contains(t, errs, want)
	}
	code, _, _ := execute(t, "mpijob", "--name=x", "--image=i", "--workers=x", "--", "c")
	require.Equal(t, exitUsage, code)
	code, out, _ := execute(t, "mpijob", "--help")
	require.Zero(t, code)
	require.Contains(t, out, "Runs COMMAND as an MPIJob")
}

func TestIdentity(t *testing.T) {
	t.Setenv("WORKFLOW_NAME", "")
	_, err := identity("ns")
	require.ErrorContains(t, err, "WORKFLOW_NAME and NODE_ID")
	t.Setenv("WORKFLOW_NAME", "wf")
	t.Setenv("NODE_ID", "wf-1")
	t.Setenv("POD_NAMESPACE", "")
	_, err = identity("")
	require.ErrorContains(t, err, "POD_NAMESPACE")
	t.Setenv("POD_NAMESPACE", "kubeflow")
	id, err := identity("")
	require.NoError(t, err)
	require.Equal(t, job.Identity{Namespace: "kubeflow", Workflow: "wf", Node: "wf-1"}, id)
}

func TestNoCluster(t *testing.T) {
	t.Setenv("WORKFLOW_NAME", "wf")
	t.Setenv("NODE_ID", "wf-1")
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	code, _, errs := execute(t, "mpijob", "--name=x", "--image=i", "--namespace=n", "--", "c")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "set KUBECONFIG or --kubeconfig")
	code, _, errs = execute(t, "mpijob", "--name=x", "--image=i", "--namespace=n", "--kubeconfig=/no/such/file", "--", "c")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "/no/such/file")
}

func TestGitSync(t *testing.T) {
	repo, root := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "First"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = repo
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	t.Setenv("GIT_SYNC_REPO", repo)
	t.Setenv("GIT_SYNC_ROOT", root)
	t.Setenv("GIT_SYNC_DEST", "code")
	code, out, errs := execute(t, "git-sync")
	require.Zero(t, code, errs)
	require.Contains(t, out, "(First)")
	require.DirExists(t, filepath.Join(root, "code", ".git"))

	require.NoError(t, os.RemoveAll(filepath.Join(root, "code")))
	stopped, cancel := context.WithCancelCause(t.Context())
	cancel(job.ErrStopped)
	var o, e bytes.Buffer
	t.Setenv("GIT_SYNC_REPO", "http://127.0.0.1:1/x.git")
	require.Equal(t, exitStopped, run(stopped, []string{"git-sync"}, &o, &e))
}
