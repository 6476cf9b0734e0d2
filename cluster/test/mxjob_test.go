package test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// MXJobs run on clusters that still have them: on one with the definition and the operator of training-operator 1.7, as it
// was released. The embedded cluster itself has neither; TestLauncherMissesKind tells what a step says then.
func TestMXJobsOfAnOldOperator(t *testing.T) {
	t.Parallel()
	c := up(t, filepath.Join(t.TempDir(), "home"))
	c.mxOperator(t)

	l := c.launcher(t, "mxjob", quoted(t, "mx.py"), "--workers=2", "--role-replicas=server=2", "--metric=loss:RAW:sum-over-ranks")
	l.node = "good"
	said := l.start(t).ends(t, 0)
	for _, line := range []string{
		"[worker-0,0]<stdout>:one of 2 workers beside 2 servers\n", "[worker-1,1]<stdout>:one of 2 workers beside 2 servers\n",
		"[scheduler-0,4]<stdout>:met: server server worker worker\n", "argosy: MXJob " + l.output(t, "job-name") + " succeeded after",
	} {
		require.Contains(t, said, line)
	}
	require.Equal(t, "2", l.output(t, "world-size"))
	require.JSONEq(t, `{"metrics":[{"name":"loss","numberValue":1,"format":"RAW"}]}`, l.output(t, "metrics"))

	bad := c.launcher(t, "mxjob", `case $DMLC_ROLE in worker) echo the disk is on fire >&2; exit 7;; esac; trap exit TERM; sleep 1000 & wait`, "--workers=1")
	bad.node = "bad"
	require.Regexp(t, `failed: rank 0 on \S+-worker-0 \(.+\): exited with code 7\n`, bad.start(t).ends(t, 7))
	require.Regexp(t, `failed: rank 0 on \S+-worker-0 \(.+\): exited with code 7\nthe disk is on fire$`, bad.output(t, "termination"))

	stopped := c.launcher(t, "mxjob", "trap 'echo farewell; exit' TERM; echo here; sleep 1000 & wait")
	stopped.node = "stopped"
	stopped.start(t).said(t, "[worker-0,0]<stdout>:here\n")
	require.NoError(t, stopped.cmd.Process.Signal(syscall.SIGTERM))
	stopped.ends(t, 143)
	for _, job := range l.jobs(t.Context(), t) {
		require.NotEqual(t, stopped.output(t, "job-name"), job.GetName(), "it goes with its launcher")
	}
}

// mxOperator gives the cluster MXJobs: their definition, and their operator as a process that ends with the test.
func (c *cluster) mxOperator(t *testing.T) {
	t.Helper()
	folder, err := filepath.Abs("mxoperator")
	require.NoError(t, err)
	tool := func(args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "CGO_ENABLED=0") // as the Makefile builds it before
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		require.NoError(t, err, "go %s: %s", strings.Join(args, " "), &errs)
		return out
	}
	program := filepath.Join(t.TempDir(), "training-operator")
	tool("build", "-trimpath", "-o", program, "github.com/kubeflow/training-operator/cmd/training-operator.v1")
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(tool("list", "-m", "-json", "github.com/kubeflow/training-operator"), &module))
	text, err := os.ReadFile(filepath.Join(module.Dir, "manifests/base/crds/kubeflow.org_mxjobs.yaml"))
	require.NoError(t, err)
	var definition unstructured.Unstructured
	require.NoError(t, yaml.Unmarshal(text, &definition.Object))
	delete(definition.Object, "status")
	definitions := c.any.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err = definitions.Create(t.Context(), &definition, metav1.CreateOptions{})
	require.NoError(t, err)
	jobs := schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "mxjobs"}
	eventually(t, "the apiserver has MXJobs", func(ctx context.Context) bool {
		_, err := c.any.Resource(jobs).Namespace(c.namespace).List(ctx, metav1.ListOptions{})
		return err == nil
	})

	var log bytes.Buffer
	operator := exec.Command(program, "--enable-scheme=mxjob", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	operator.Env = append(os.Environ(), "KUBECONFIG="+c.home.Kubeconfig())
	operator.Stdout, operator.Stderr = &log, &log
	require.NoError(t, operator.Start())
	t.Cleanup(func() {
		_ = operator.Process.Kill()
		_ = operator.Wait() // it was killed
		if t.Failed() {
			t.Logf("training-operator:\n%s", &log)
		}
	})
}
