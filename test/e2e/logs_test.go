//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// talker has a step that counts for some seconds beside a sidecar, and waits for a file meanwhile, one that fails and is tried again, and
// a distributed job of two workers that waits for the file.
const talker = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: talker-}
spec:
  entrypoint: all
  arguments: {parameters: [{name: go}]}
  templates:
  - name: all
    dag:
      tasks:
      - {name: count, template: count}
      - {name: again, template: again}
      - {name: job, template: job}
      - {name: doomed, template: doomed}
  - name: count
    container:
      image: debian
      command: [bash, -c]
      args: ["for i in $(seq 1 12000); do echo line $i; if [ $((i % 100)) = 0 ]; then sleep 0.1; fi; if [ $i = 7000 ]; then until [ -e {{workflow.parameters.go}} ]; do sleep 0.1; done; fi; done"]
    sidecars:
    - {name: helper, image: debian, command: [bash, -c], args: ["echo I help; exec sleep 1000"]}
  - name: again
    retryStrategy: {limit: 1}
    container: {image: debian, command: [bash, -c], args: ["echo attempt {{retries}}; exit $((1 - {{retries}}))"]}
  - name: doomed
    container: {image: debian, command: [bash, -c], args: ["echo before the end; exec sleep 1000"]}
  - name: job
    container:
      image: argosyml/argosy-launcher:dev
      command: [argosy-launcher, mpijob, --name=job, --image=debian, --workers=2, --, "mpirun sh -c 'echo rank $OMPI_COMM_WORLD_RANK; until [ -e {{workflow.parameters.go}} ]; do sleep 0.1; done'"]
      env:
      - {name: WORKFLOW_NAME, value: "{{workflow.name}}"}
      - {name: NODE_ID, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['workflows.argoproj.io/node-id']"}}}
      - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
`

// logView is what the tests read of a listed log.
type logView struct {
	Pod, Container, Role, State, Message string
	Rank, Attempt, Lines                 int64
}

func (a *argosy) listLogs(t *testing.T, run, node string) (list []logView) {
	t.Helper()
	var answer struct{ Logs []logView }
	a.get(t, fmt.Sprintf("/apis/argosy/v1/runs/%s/nodes/%s/logs", run, node), 200, &answer)
	return answer.Logs
}

func (a *argosy) readLog(t *testing.T, run, node, query string) (text string) {
	t.Helper()
	a.get(t, fmt.Sprintf("/apis/argosy/v1/runs/%s/nodes/%s/log?%s", run, node, query), 200, &text)
	return text
}

// awaitLog waits until a step's log holds a line.
func (a *argosy) awaitLog(t *testing.T, run, step, line string) (node string) {
	t.Helper()
	r := a.await(t, run, 3*time.Minute, func(r runView) bool {
		for _, n := range r.Nodes {
			if n.DisplayName == step && n.Type == "Pod" && n.Phase == "Running" {
				return true
			}
		}
		return false
	})
	node = r.Nodes[r.node(t, step)].ID
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/apis/argosy/v1/runs/%s/nodes/%s/log?follow=true", a.url, run, node), nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if lines.Text() == line {
			return node
		}
	}
	t.Fatalf("the log of %s has no line %q: %v", step, line, lines.Err())
	return ""
}

// TestLogs: what all containers of a run print is kept as it is printed, through kills of the server in mid-log, and after
// pods and jobs were deleted.
func TestLogs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)
	var pipeline struct{ ID string }
	a.upload(t, "talker", "talker.yaml", []byte(talker), 200, &pipeline)
	file := filepath.Join(home, "shared", "go")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	id := a.createRun(t, "talker", pipeline.ID, map[string]string{"go": file})
	count := a.awaitLog(t, id, "count", "line 1500")
	doomed := a.awaitLog(t, id, "doomed", "before the end")
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(a.listLogs(t, id, count), func(l logView) bool { return l.Container == "helper" && l.Lines > 0 })
	}, 3*time.Minute, 100*time.Millisecond)
	require.Contains(t, a.readLog(t, id, count, "container=helper"), "I help")
	for _, at := range []int{3000, 6000} {
		a.kill(t)
		a = up(t, home)
		a.awaitLog(t, id, "count", fmt.Sprintf("line %d", at))
	}
	run := a.await(t, id, 3*time.Minute, func(r runView) bool {
		return slices.ContainsFunc(r.Nodes, func(n runNode) bool { return n.DisplayName == "job" && n.Type == "Pod" })
	})
	job := run.Nodes[run.node(t, "job")].ID
	require.Eventually(t, func() bool { // launcher and workers: a pod that goes unread is lost
		return len(a.listLogs(t, id, job)) >= 4
	}, 3*time.Minute, 100*time.Millisecond)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	pods := clientOf(t, home).CoreV1().Pods("kubeflow")
	var logs []logView
	require.Eventually(t, func() bool { // a server that has just started may not have seen the pod yet
		logs = a.listLogs(t, id, doomed)
		return len(logs) > 0
	}, 3*time.Minute, 100*time.Millisecond)
	require.NoError(t, pods.Delete(t.Context(), logs[0].Pod, metav1.DeleteOptions{}))
	run = a.await(t, id, 3*time.Minute, runView.final)
	require.Empty(t, run.Warnings)
	run = a.await(t, id, 3*time.Minute, func(r runView) bool { return r.Nodes[r.node(t, "count")].HasLog })

	var want strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&want, "line %d\n", i+1)
	}
	require.True(t, want.String() == a.log(t, id, count), "no line is lost and none comes twice")
	require.Equal(t, "line 7001\nline 7002\n", a.readLog(t, id, count, "from=7001&lines=2"))
	require.Equal(t, "line 11999\nline 12000\n", a.readLog(t, id, count, "tail=2"))
	var page struct {
		Log   logView
		Lines []struct {
			N    int64
			At   time.Time
			Text string
		}
	}
	a.get(t, fmt.Sprintf("/apis/argosy/v1/runs/%s/nodes/%s/log?around=5000&lines=3&format=json", id, count), 200, &page)
	require.Equal(t, int64(12_000), page.Log.Lines)
	require.Equal(t, "line 4999", page.Lines[0].Text)
	since := a.readLog(t, id, count, "since="+url.QueryEscape(page.Lines[2].At.Format(time.RFC3339Nano)))
	require.NotContains(t, since, "line 1\n")
	require.Contains(t, since, "line 5001\n") // with those that were read at once with it, which have the same time
	require.Equal(t, "before the end\n", a.log(t, id, doomed), "of a pod that was deleted")
	for i, step := range []string{"again(0)", "again(1)"} {
		require.Equal(t, fmt.Sprintf("attempt %d\n", i), a.stepLog(t, run, step))
	}

	// The job's pods: when they are gone with the job, their logs are there.
	deleteJobs(t, home)
	roles := map[string]logView{}
	for _, l := range a.listLogs(t, id, job) {
		t.Logf("%+v", l)
		roles[fmt.Sprintf("%s %d %s", l.Role, l.Rank, l.Container)] = l
	}
	require.Contains(t, roles, "worker 0 worker")
	require.Contains(t, roles, "worker 1 worker")
	launcher := roles["launcher 0 launcher"]
	require.Contains(t, a.readLog(t, id, job, "pod="+launcher.Pod), "rank 1")
	require.Empty(t, jobPods(t, home), "they are gone")

	a.follows(t, id, count)
	a.stop(t)
}

// deleteJobs deletes all MPIJobs, and waits until their pods are gone.
func deleteJobs(t *testing.T, home string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, "kubeconfig"))
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	jobs := client.Resource(schema.GroupVersionResource{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"}).Namespace("kubeflow")
	require.NoError(t, jobs.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	require.Eventually(t, func() bool { return len(jobPods(t, home)) == 0 }, 3*time.Minute, 100*time.Millisecond)
}

func jobPods(t *testing.T, home string) []corev1.Pod {
	t.Helper()
	list, err := clientOf(t, home).CoreV1().Pods("kubeflow").List(t.Context(), metav1.ListOptions{LabelSelector: "training.kubeflow.org/job-name"})
	require.NoError(t, err)
	return list.Items
}

// follows checks that both of KFP's paths give the whole log, and that nothing is left to follow.
func (a *argosy) follows(t *testing.T, id, node string) {
	t.Helper()
	for _, path := range []string{"/apis/v1alpha1/runs/%s/nodes/%s/log", "/apis/v1beta1/runs/%s/nodes/%s/log", "/apis/argosy/v1/runs/%s/nodes/%s/log?follow=true"} {
		answer, err := http.Get(a.url + fmt.Sprintf(path, id, node)) //nolint:noctx // the test's own end
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		require.NoError(t, err)
		require.Equal(t, 12_000, strings.Count(string(text), "\n"), path)
	}
}
