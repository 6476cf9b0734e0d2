//go:build e2e

// Package e2e runs the built binaries as a user would: `argosy up` in a temporary folder on free ports, real requests, a real browser.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// repository is the checkout under test.
var repository = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

func binary(name string) string { return filepath.Join(repository, "bin", name) }

// argosy is one `argosy up` process and the folder it lives in.
type argosy struct {
	home string
	url  string
	cmd  *exec.Cmd
	done chan error
	out  *output
}

// output keeps what a process printed and lets a test wait for a line.
type output struct {
	mu    sync.Mutex
	lines []string
	wake  chan struct{}
}

func (o *output) follow(r io.Reader) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		o.mu.Lock()
		o.lines = append(o.lines, lines.Text())
		close(o.wake)
		o.wake = make(chan struct{})
		o.mu.Unlock()
	}
}

func (o *output) find(prefix string) (line string, wake <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.lines {
		if strings.HasPrefix(l, prefix) {
			return l, nil
		}
	}
	return "", o.wake
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "\n")
}

// up starts Argosy on a home and waits until it serves. The test's end stops it and checks that nothing is left.
func up(t *testing.T, home string, options ...func(*exec.Cmd)) *argosy {
	t.Helper()
	a := &argosy{home: home, done: make(chan error, 1), out: &output{wake: make(chan struct{})}}
	a.cmd = exec.Command(binary("argosy"), "up", "--home", home, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
	a.cmd.Dir = repository
	a.cmd.WaitDelay = 3 * time.Minute
	for _, o := range options {
		o(a.cmd)
	}
	pipe, err := a.cmd.StdoutPipe()
	require.NoError(t, err)
	a.cmd.Stderr = a.cmd.Stdout
	require.NoError(t, a.cmd.Start())
	go func() {
		a.out.follow(pipe)
		a.done <- a.cmd.Wait()
	}()
	t.Cleanup(func() { a.stop(t) })

	deadline := time.After(3 * time.Minute)
	for {
		line, wake := a.out.find("ready http://")
		if line != "" {
			a.url = strings.TrimPrefix(line, "ready ")
			return a
		}
		select {
		case <-wake:
		case err := <-a.done:
			a.done <- err
			t.Fatalf("argosy up ended before it served: %v\n%s%s", err, a.out, a.componentLogs())
		case <-deadline:
			t.Fatalf("argosy up does not serve:\n%s%s", a.out, a.componentLogs())
		}
	}
}

// stop ends Argosy as Ctrl-C would, and fails the test when it lingers, fails, or leaves a process behind.
func (a *argosy) stop(t *testing.T) {
	t.Helper()
	if a.cmd == nil {
		return
	}
	defer func() { a.cmd = nil }()
	if t.Failed() {
		t.Logf("output of argosy up:\n%s%s", a.out, a.componentLogs())
	}
	require.NoError(t, a.cmd.Process.Signal(os.Interrupt))
	select {
	case err := <-a.done:
		require.NoError(t, err, "argosy up must end cleanly on SIGINT:\n%s", a.out)
	case <-time.After(3 * time.Minute):
		_ = a.cmd.Process.Kill()
		t.Fatalf("argosy up did not end within three minutes of SIGINT:\n%s%s", a.out, a.componentLogs())
	}
	require.Empty(t, processes(a.home), "processes left behind")
}

// kill ends the server as a crash would, and leaves the cluster alone.
func (a *argosy) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, a.cmd.Process.Kill())
	require.Error(t, <-a.done)
	a.cmd = nil
}

// componentLogs gives the ends of the cluster's logs, for a failing test.
func (a *argosy) componentLogs() string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(a.home, "cluster/log/*.log"))
	for _, f := range files {
		data, _ := os.ReadFile(f)
		if len(data) > 3000 {
			data = data[len(data)-3000:]
		}
		fmt.Fprintf(&b, "\n--- %s\n%s", filepath.Base(f), data)
	}
	fmt.Fprintf(&b, "\n--- pods\n%s", a.pods())
	return b.String()
}

// pods tells how the cluster's pods stand, a line each, for a failing test.
func (a *argosy) pods() string {
	data, err := kubernetesGet(filepath.Join(a.home, "kubeconfig"), "/api/v1/pods")
	if err != nil {
		return err.Error()
	}
	var list corev1.PodList
	if err := json.Unmarshal(data, &list); err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, p := range list.Items {
		fmt.Fprintf(&b, "%s %s deleted=%v %s\n", p.Name, p.Status.Phase, p.DeletionTimestamp != nil, p.Status.Message)
	}
	return b.String()
}

// processes lists the command lines that name the folder.
func processes(home string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err == nil && bytes.Contains(data, []byte(home)) {
			found = append(found, filepath.Dir(f)+": "+string(bytes.ReplaceAll(data, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// get reads a JSON answer; a status other than want fails the test with the body.
func (a *argosy) get(t *testing.T, path string, want int, into any) {
	t.Helper()
	a.call(t, http.MethodGet, path, "", nil, want, into)
}

func (a *argosy) post(t *testing.T, path string, body any, want int, into any) {
	t.Helper()
	data, err := json.Marshal(body)
	require.NoError(t, err)
	a.call(t, http.MethodPost, path, "application/json", bytes.NewReader(data), want, into)
}

func (a *argosy) call(t *testing.T, method, path, contentType string, body io.Reader, want int, into any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, body)
	require.NoError(t, err)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, want, answer.StatusCode, "%s %s: %s", method, path, data)
	switch into := into.(type) {
	case nil:
	case *string:
		*into = string(data)
	default:
		require.NoError(t, json.Unmarshal(data, into), "%s", data)
	}
}

// upload sends a file to the upload endpoint of KFP v1.
func (a *argosy) upload(t *testing.T, name, file string, data []byte, want int, into any) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("uploadfile", file)
	require.NoError(t, err)
	_, err = part.Write(data)
	require.NoError(t, err)
	require.NoError(t, form.Close())
	a.call(t, http.MethodPost, "/apis/v1beta1/pipelines/upload?name="+name, form.FormDataContentType(), &body, want, into)
}

// runView is what the tests read of /apis/argosy/v1/runs/{id}.
type runView struct {
	ID, Name, Status, Error string
	Workflow                struct{ Namespace, Name string }
	CreatedAt               time.Time `json:"created_at"`
	FinishedAt              time.Time `json:"finished_at"`
	Nodes                   []runNode
	Metrics                 []struct {
		Name, Format string
		NodeID       string `json:"node_id"`
		Value        float64
	}
	Parameters []struct{ Name, Value string }
	Warnings   []string

	complete bool // its event stream has ended: what its steps left is in
}

// runNode is one node of a run.
type runNode struct {
	ID, Name, Type, Template, Phase, Message, Waiting string
	ExitCode                                          string `json:"exit_code"`
	DisplayName                                       string `json:"display_name"`
	HasLog                                            bool   `json:"has_log"`
	CachedFrom                                        struct {
		RunID string `json:"run_id"`
	} `json:"cached_from"`
	Outputs []struct{ Name, Value string }
}

// final tells whether a run has ended and all that its steps left is in: logs, metrics, what there is to look at.
func (r runView) final() bool {
	return r.complete && r.ended()
}

func (r runView) ended() bool {
	return r.Status == "Succeeded" || r.Status == "Failed" || r.Status == "Error" || r.Status == "Terminated"
}

// node finds the node of a step by its display name.
func (r runView) node(t *testing.T, step string) int {
	t.Helper()
	for i, n := range r.Nodes {
		if n.DisplayName == step && n.Type == "Pod" {
			return i
		}
	}
	t.Fatalf("run %s has no pod node %q: %+v", r.Name, step, r.Nodes)
	return -1
}

// await follows a run by its event stream until ok says enough; the stream is opened again when the server goes away.
func (a *argosy) await(t *testing.T, id string, limit time.Duration, ok func(runView) bool) runView {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var last runView
	for ctx.Err() == nil {
		found, err := a.events(ctx, id, &last, ok)
		if found {
			return last
		}
		if err != nil && ctx.Err() == nil {
			t.Logf("event stream of run %s: %v", id, err)
		}
	}
	t.Fatalf("run %s is not there yet after %s: %+v\n%s%s", id, limit, last, a.out, a.componentLogs())
	return last
}

func (a *argosy) events(ctx context.Context, id string, last *runView, ok func(runView) bool) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/apis/argosy/v1/runs/"+id+"/events", nil)
	if err != nil {
		return false, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return false, fmt.Errorf("status %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	event := ""
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "event: "):
			event = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "data: ") && event == "run":
			*last = runView{}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), last); err != nil {
				return false, err
			}
			if ok(*last) {
				return true, nil
			}
		case strings.HasPrefix(line, "data: ") && event == "end":
			if last.complete = true; ok(*last) {
				return true, nil
			}
		}
	}
	return false, errors.Join(lines.Err(), io.ErrUnexpectedEOF)
}

// kubectl-like listing with the kubeconfig that Argosy wrote.
func (a *argosy) kubernetes(t *testing.T, path string, into any) {
	t.Helper()
	data, err := kubernetesGet(filepath.Join(a.home, "kubeconfig"), path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// benchmarks makes the git repository that the sample trains from: samples/mpi_run/benchmarks on the branch of the article.
func benchmarks(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, "shared", "benchmarks.git")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(repository, "samples/mpi_run/benchmarks"))))
	for _, args := range [][]string{
		{"init", "-q", "-b", "cnn_tf_v1.9_compatible"},
		{"add", "."},
		{"-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "-q", "-m", "benchmarks"},
	} {
		git := exec.Command("git", args...)
		git.Dir = dir
		out, err := git.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return dir
}

// ordinary makes the process run as a user without rights.
func ordinary(uid uint32) func(*exec.Cmd) {
	return func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
}
