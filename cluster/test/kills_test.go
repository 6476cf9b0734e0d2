package test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestKills kills every part of a cluster again and again while workflows come in, and then the whole cluster at once, and starts
// it again. Every start serves, and every workflow that the API has accepted ends: none is lost, and no pod's command runs twice.
// `make test-kills` does it many times and prints the table.
func TestKills(t *testing.T) {
	t.Parallel()
	kills, starts := times(t, "ARGOSY_TEST_KILLS", 2), times(t, "ARGOSY_TEST_STARTS", 3)
	dir := t.TempDir()
	c := up(t, dir)
	c.claim(t, "kills")
	table := []row{}
	for round := range kills {
		for i, part := range parts {
			if len(table) <= i {
				table = append(table, row{part: part.name})
			}
			began := startTraffic(t, c, fmt.Sprintf("%s-%d", part.name, table[i].kills))
			began.accept(t, 1)
			eventually(t, part.name+" is there to be killed", func(context.Context) bool {
				pid := part.pid(t, c)
				return pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil
			})
			table[i].kills++
			began.forget()
			began.accept(t, 2) // the first may have been sent before
			table[i].count(t, c, began.stop(t), part.keepsPods)
		}
		if round%25 == 24 { // it takes an hour
			t.Log(table)
		}
	}
	c.killAll(t)
	all := row{part: "everything"}
	for range starts {
		c = up(t, dir) // it waits until the cluster serves
		all.kills++
		began := startTraffic(t, c, fmt.Sprintf("everything-%d", all.kills))
		began.accept(t, 2)
		c.killAll(t)
		names := began.stop(t)
		c = up(t, dir)
		all.count(t, c, names, false)
		c.killAll(t)
	}
	c = up(t, dir)
	c.stop(t)
	left := c.leftOver(t)
	for _, r := range append(table, all) {
		t.Log(r)
		require.Empty(t, r.lost, r.part)
		require.Empty(t, r.doubled, r.part)
	}
	require.Empty(t, left, "nothing of the cluster is left over")
}

// parts are what a cluster is made of. Pods die with the node, so there, and only there, a step may need another attempt.
var parts = []struct {
	name      string
	pid       func(*testing.T, *cluster) int
	keepsPods bool
}{
	{"apiserver", child("apiserver"), true},
	{"controllers", child("controllers"), true},
	{"s3", child("s3"), true},
	{"kubelet", func(t *testing.T, c *cluster) int {
		return c.findProcess(t, "argosy-cluster", "kubelet", string(c.home))
	}, true},
	{"node", child("node"), false},
}

func child(name string) func(*testing.T, *cluster) int {
	return func(t *testing.T, c *cluster) int {
		pid := c.pids(t)[name]
		if !slices.Contains(c.processes(t), pid) { // it has gone, and another process may have its number
			return 0
		}
		return pid
	}
}

func times(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	value, set := os.LookupEnv(variable)
	if !set {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	require.NoError(t, err, variable)
	return n
}

// killAll kills the supervisor and every process that it has started, as a crash of the machine would.
func (c *cluster) killAll(t *testing.T) {
	t.Helper()
	_ = c.cmd.Process.Kill()
	require.Error(t, c.wait(t))
	c.ended = closedWith(nil) // the clean-up has nothing to stop
	eventually(t, "all processes are gone", func(context.Context) bool {
		found := c.processes(t)
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone by itself
		}
		return len(found) == 0
	})
}

// processes are those with the cluster's folder among their arguments.
func (c *cluster) processes(t *testing.T) (pids []int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), string(c.home)) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// leftOver is what a cluster that has stopped must not leave: processes, mounts, control groups.
func (c *cluster) leftOver(t *testing.T) (left []string) {
	t.Helper()
	for _, pid := range c.processes(t) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		left = append(left, "process "+strings.ReplaceAll(string(b), "\x00", " "))
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, string(c.home)) {
			left = append(left, "mount "+line)
		}
	}
	return left
}

// row is a line of the table: how often a part was killed, and how the workflows accepted meanwhile ended.
type row struct {
	part            string
	kills, accepted int
	lost, doubled   []string
}

func (r row) String() string {
	return fmt.Sprintf("%-12s %4d kills  %5d accepted  %d lost  %d doubled\n", r.part, r.kills, r.accepted, len(r.lost), len(r.doubled))
}

// count waits until the workflows have ended, and looks at what they did: each attempt of a step leaves a line with its pod's name.
func (r *row) count(t *testing.T, c *cluster, names []string, keepsPods bool) {
	t.Helper()
	argo, folder := newArgo(t, c), c.folder(t, "kills")
	for _, name := range names {
		r.accepted++
		wf := argo.finish(t, name)
		if wf == nil || wf.Status.Phase != wfv1.WorkflowSucceeded {
			r.lost = append(r.lost, name+": "+describe(wf))
			continue
		}
		b, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		seen := map[string]bool{}
		for pod := range strings.Lines(string(b)) {
			if seen[pod] || keepsPods && len(seen) > 0 {
				r.doubled = append(r.doubled, name+": "+string(b))
			}
			seen[pod] = true
		}
	}
}

// traffic is a client that submits one workflow after the other and remembers those that the API has accepted.
type traffic struct {
	accepted chan string // one for each, from before it is awaited
	cancel   context.CancelFunc
	wait     sync.WaitGroup

	names []string // of the accepted ones, once wait is over
	err   error
}

func startTraffic(t *testing.T, c *cluster, prefix string) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	tr := &traffic{accepted: make(chan string, 10000), cancel: cancel}
	tr.wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			name := fmt.Sprintf("%s-%d", prefix, i)
			err := c.submit(ctx, name)
			switch {
			case err == nil:
				tr.names = append(tr.names, name)
				tr.accepted <- name
			case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
				tr.err = errors.Join(tr.err, err) // a refusal, which no death excuses
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return tr
}

// forget leaves out what has been accepted so far.
func (tr *traffic) forget() {
	for len(tr.accepted) > 0 {
		<-tr.accepted
	}
}

// accept waits until so many more workflows have been accepted.
func (tr *traffic) accept(t *testing.T, n int) {
	t.Helper()
	deadline := time.After(patience)
	for range n {
		select {
		case <-tr.accepted:
		case <-deadline:
			t.Fatalf("the API accepts nothing for %v", patience)
		}
	}
}

// stop ends the traffic and returns the names of the accepted workflows.
func (tr *traffic) stop(t *testing.T) []string {
	t.Helper()
	tr.cancel()
	tr.wait.Wait()
	require.NoError(t, tr.err)
	return tr.names
}

// folder is where a claim's files lie on the machine, once the claim has a volume.
func (c *cluster) folder(t *testing.T, claim string) (path string) {
	t.Helper()
	eventually(t, "the claim "+claim+" has a volume", func(ctx context.Context) bool {
		pvc, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Get(ctx, claim, metav1.GetOptions{})
		if err != nil || pvc.Spec.VolumeName == "" {
			return false
		}
		pv, err := c.kube.CoreV1().PersistentVolumes().Get(ctx, pvc.Spec.VolumeName, metav1.GetOptions{})
		if err != nil {
			return false
		}
		path = pv.Spec.HostPath.Path
		return true
	})
	return path
}

// submit creates a workflow of one step, which leaves a line in the shared folder and an artifact in the object store.
func (c *cluster) submit(ctx context.Context, name string) error {
	var o map[string]any
	err := yaml.Unmarshal([]byte(`
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: `+name+`, namespace: `+c.namespace+`}
spec:
  entrypoint: step
  volumes: [{name: v, persistentVolumeClaim: {claimName: kills}}]
  templates:
    - name: step
      retryStrategy: {limit: 20, retryPolicy: Always}
      container:
        image: host
        command: [sh, -c, "hostname >> /v/`+name+` && echo done > /tmp/out"]
        volumeMounts: [{name: v, mountPath: /v}]
      outputs:
        artifacts: [{name: out, path: /tmp/out}]
`), &o)
	if err != nil {
		return err
	}
	_, err = c.any.Resource(workflows).Namespace(c.namespace).Create(ctx, &unstructured.Unstructured{Object: o}, metav1.CreateOptions{})
	return err
}
