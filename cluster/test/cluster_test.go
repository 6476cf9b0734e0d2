// Package test runs the built argosy-cluster and looks at it from outside.
package test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

// binaries is where TestMain has make put what it builds; what is up to date there is not built again.
const binaries = "../../bin"

// hostFolder is a folder of this machine that all clusters give to pods as volumes. homeFolder lies in a home; of it they show pods the
// folder `shown`.
var hostFolder, homeFolder string

func makeFolders() (err error) {
	if hostFolder, err = os.MkdirTemp("", "argosy-host"); err != nil {
		return err
	}
	base := "/home"
	if os.Geteuid() != 0 {
		if base, err = os.UserHomeDir(); err != nil {
			return err
		}
	}
	if homeFolder, err = os.MkdirTemp(base, "argosy-home"); err != nil {
		return err
	}
	shown := filepath.Join(homeFolder, "shown")
	return errors.Join(
		os.Mkdir(shown, 0o755), os.WriteFile(filepath.Join(shown, "tool"), []byte("tool\n"), 0o644), os.WriteFile(filepath.Join(homeFolder, "key"), []byte("key\n"), 0o644),
		os.Chmod(homeFolder, 0o755), os.Chmod(hostFolder, 0o777)) // for clusters of other users
}

func TestMain(m *testing.M) {
	err := build()
	if err == nil {
		err = makeFolders()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := errors.Join(stopShared(), os.RemoveAll(hostFolder), os.RemoveAll(homeFolder)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// build has make build the programs, so that they are the same files that it builds for users.
func build() error {
	args := []string{"-s", "-C", "../.."}
	for _, program := range []string{"argosy-cluster", "argosy-controlplane", "argosy-podinit", "argoexec", "argosy-launcher"} {
		args = append(args, "bin/"+program)
	}
	if out, err := exec.Command("make", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("make %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// cluster is a running `argosy-cluster up`.
type cluster struct {
	home   home.Home
	cmd    *exec.Cmd
	lines  []string // of standard output until ready
	stderr *bytes.Buffer
	ended  chan error
	config *rest.Config
	kube   kubernetes.Interface
	any    dynamic.Interface

	namespace string // of the test's objects
	secret    string // name of a file that its caller had open
}

// up starts a cluster, waits until it is ready, and stops it when the test ends.
func up(t *testing.T, dir string, args ...string) *cluster {
	t.Helper()
	return start(t, dir, upCommand(dir, args...))
}

// upCommand runs pods on this machine's files unless the flags say otherwise: what a test's pods run must not depend on
// whether there is a way to a registry.
func upCommand(dir string, args ...string) *exec.Cmd {
	return command(upArgs(dir, args...)...)
}

func upArgs(dir string, args ...string) []string {
	return append([]string{"up", "--home", dir, "--images", "host", "--host-path", hostFolder, "--host-show", filepath.Join(homeFolder, "shown")}, args...)
}

// folderForPods is one of the test's own in hostFolder.
func folderForPods(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp(hostFolder, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	return folder
}

// start is up for a command of the test's own making.
func start(t *testing.T, dir string, cmd *exec.Cmd) *cluster {
	t.Helper()
	c, err := launch(dir, cmd)
	t.Cleanup(func() { c.stop(t) })
	require.NoError(t, err)
	return c
}

// launch runs the command and waits until its cluster is ready.
func launch(dir string, cmd *exec.Cmd) (*cluster, error) {
	c := &cluster{home: home.Home(dir), cmd: cmd, stderr: &bytes.Buffer{}, ended: make(chan error, 1), namespace: "kubeflow"}
	c.cmd.Stderr = c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return c, err
	}
	secret, err := callersFile()
	if err != nil {
		return c, err
	}
	// The files between are closed.
	c.cmd.ExtraFiles = append(make([]*os.File, secretFD-3), secret)
	err = c.cmd.Start()
	c.secret = filepath.Base(secret.Name())
	_ = secret.Close()
	if err != nil {
		c.ended <- err
		return c, err
	}
	ready := make(chan []string, 1)
	go func() {
		var lines []string
		for s := bufio.NewScanner(out); s.Scan(); {
			lines = append(lines, s.Text())
			if strings.HasPrefix(s.Text(), "cluster ready") {
				ready <- lines
			}
		}
		c.ended <- c.cmd.Wait()
	}()
	select {
	case c.lines = <-ready:
	case err := <-c.ended:
		c.ended <- err
		return c, fmt.Errorf("argosy-cluster up ended: %w\n%s", err, c.stderr)
	case <-time.After(patience):
		return c, fmt.Errorf("argosy-cluster up is not ready\n%s", c.stderr)
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.home.Kubeconfig()); err != nil {
		return c, err
	}
	c.config.QPS = -1
	if c.kube, err = kubernetes.NewForConfig(c.config); err != nil {
		return c, err
	}
	c.any, err = dynamic.NewForConfig(c.config)
	return c, err
}

// secretFD is what the caller of a cluster has open, and the cluster knows nothing of.
const secretFD = 77

func callersFile() (*os.File, error) {
	f, err := os.CreateTemp("", "argosy-secret-of-the-caller")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(f.Name())
	if err := errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// stop ends the cluster as Ctrl-C does. Only the first call does something.
func (c *cluster) stop(t *testing.T) {
	t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGINT) // it may have ended already
	require.NoError(t, c.wait(t))
}

// wait returns how the supervisor ended.
func (c *cluster) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-c.ended:
		c.ended <- err
		return err
	case <-time.After(patience):
		t.Fatalf("the supervisor does not end\n%s", c.stderr)
		return nil
	}
}

func (c *cluster) info(t *testing.T) home.Info {
	t.Helper()
	i, err := c.home.ReadInfo()
	require.NoError(t, err)
	return i
}

var started = regexp.MustCompile(`msg="(\S+) started" pid=(\d+)`)

// pids are the children's process ids, of the last start of each.
func (c *cluster) pids(t *testing.T) map[string]int {
	t.Helper()
	b, err := os.ReadFile(c.home.Log("supervisor"))
	require.NoError(t, err)
	pids := map[string]int{}
	for _, m := range started.FindAllStringSubmatch(string(b), -1) {
		pid, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		pids[m[1]] = pid
	}
	require.GreaterOrEqual(t, len(pids), 4)
	return pids
}

func command(args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(binaries, "argosy-cluster"), args...)
}

// exitCode runs a command to its end.
func exitCode(t *testing.T, args ...string) (int, string) {
	t.Helper()
	cmd := command(args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.NotNil(t, cmd.ProcessState, "%v", err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// patience only guards against hanging: machines may be as slow and as busy as they are.
const patience = 5 * time.Minute

// eventually waits for a condition that has no signal to wait for.
func eventually(t *testing.T, what string, f func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !f(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", patience, what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
