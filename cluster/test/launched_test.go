package test

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// launched is argosy-launcher as a step of a workflow runs it, but outside a pod.
type launched struct {
	c      *cluster
	kind   string
	dir    string // where it leaves its outputs
	out    *follower
	errs   bytes.Buffer
	cmd    *exec.Cmd
	ended  chan int
	args   []string
	script string
	node   string // tells steps of one test apart
	pod    string // its own, if it is to have one
}

// launcher is argosy-launcher for a job of a kind that runs a script on this machine's files.
func (c *cluster) launcher(t *testing.T, kind, script string, args ...string) *launched {
	t.Helper()
	l := &launched{c: c, kind: kind, dir: t.TempDir(), script: script}
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "termination"), nil, 0o600))
	l.args = append([]string{
		kind, "--name=step", "--image=host", "--working-dir=/tmp", "--kubeconfig=" + c.home.Kubeconfig(), "--namespace=" + c.namespace,
		"--metrics-file=" + l.dir + "/metrics", "--job-name-file=" + l.dir + "/job-name", "--world-size-file=" + l.dir + "/world-size", "--termination-file=" + l.dir + "/termination",
	}, args...)
	return l
}

// follower keeps what is written and lets a test wait for some of it.
type follower struct {
	text chan string
	wake chan struct{}
}

func newFollower() *follower {
	f := &follower{text: make(chan string, 1), wake: make(chan struct{}, 1)}
	f.text <- ""
	return f
}

func (f *follower) Write(p []byte) (int, error) {
	f.text <- <-f.text + string(p)
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (f *follower) String() string {
	text := <-f.text
	f.text <- text
	return text
}

func (l *launched) start(t *testing.T) *launched {
	t.Helper()
	l.out, l.ended = newFollower(), make(chan int, 1)
	l.errs.Reset()
	l.cmd = exec.CommandContext(t.Context(), filepath.Join(binaries, "argosy-launcher"), append(append([]string{}, l.args...), "--", l.script)...)
	l.cmd.Env = append(os.Environ(), "WORKFLOW_NAME="+l.c.namespace, "NODE_ID="+t.Name()+l.node, "POD_NAME="+l.pod)
	l.cmd.Stdout, l.cmd.Stderr = l.out, &l.errs
	require.NoError(t, l.cmd.Start())
	go func() {
		_ = l.cmd.Wait() // the code tells
		l.ended <- l.cmd.ProcessState.ExitCode()
	}()
	return l
}

// patiently gives the launcher a pod of its own that says that the cluster adds nodes: a job that is too big waits instead of failing.
func (l *launched) patiently(t *testing.T) *launched {
	t.Helper()
	own := podOf("patient-"+strings.ToLower(rand.Text()), "sleep 1000")
	own.Annotations = map[string]string{"argosy.dev/scales-up": "true"}
	l.c.createPod(t, own)
	l.pod = own.Name
	return l
}

// said waits until the launcher has printed a text.
func (l *launched) said(t *testing.T, text string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(l.out.String(), text) {
		select {
		case <-l.out.wake:
		case code := <-l.ended:
			require.Contains(t, l.out.String(), text, "it ended with code %d: %s", code, &l.errs)
			l.ended <- code
			return
		case <-late:
			t.Fatalf("the launcher did not say %q within %v:\n%s", text, patience, l.out)
		}
	}
}

// ends waits for its end.
func (l *launched) ends(t *testing.T, code int) string {
	t.Helper()
	select {
	case ended := <-l.ended:
		require.Equal(t, code, ended, "%s%s", l.out, &l.errs)
	case <-time.After(patience):
		t.Fatalf("the launcher does not end within %v:\n%s", patience, l.out)
	}
	return l.out.String()
}

func (l *launched) output(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(l.dir, name))
	require.NoError(t, err)
	return string(b)
}

func (l *launched) resource() schema.GroupVersionResource {
	switch l.kind {
	case "mpijob":
		return mpijobs
	case "volcanojob":
		return schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}
	case "job":
		return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	}
	return schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: l.kind + "s"}
}

func (l *launched) jobs(ctx context.Context, t *testing.T) []unstructured.Unstructured {
	t.Helper()
	list, err := l.c.any.Resource(l.resource()).Namespace(l.c.namespace).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	return list.Items
}

// quoted is a program of testdata as a word of a shell.
func quoted(t *testing.T, file string) string {
	t.Helper()
	program, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	return "/usr/bin/python3 -c '" + strings.ReplaceAll(string(program), "'", `'\''`) + "'"
}
