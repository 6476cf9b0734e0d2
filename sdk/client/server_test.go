package client_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/gateway"
	"github.com/argosy-ml/argosy/server/reconcile"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/series"
)

// realServer is the server itself on SQLite in a temporary folder. Only Argo is not there: tests write the status of
// Workflows themselves.
func realServer(t *testing.T) (*enginetest.Bundle, *client.Client) {
	t.Helper()
	b := enginetest.New(t)
	workflows, pods := b.WorkflowsWatched(1), b.PodsWatched(2) // for logs, and for steps that may be reused
	ctx, cancel := context.WithCancel(context.Background())
	worked := make(chan error, 3)
	go func() { worked <- b.Schedules.Run(ctx) }()
	worker := reconcile.New(reconcile.Config{Store: b.Store, Cache: b.Store, Cluster: b.Engine, Artifacts: b.Artifacts, Logs: b.Logs, Feed: b.Feed, Log: b.Log})
	go func() { worked <- worker.Run(ctx) }()
	go func() { worked <- b.Logs.Run(ctx) }()
	enginetest.Await(t, workflows)
	enginetest.Await(t, pods)
	watcher := eventstream.New(eventstream.Config{Store: b.Store, Runs: b.Runs, Log: b.Log})
	handler, err := gateway.New(gateway.Config{
		API: api.New(api.Services{
			Pipelines: b.Pipelines, Experiments: b.Experiments, Runs: b.Runs, Schedules: b.Schedules, Watcher: watcher, Series: series.NewReader(b.Store), Streams: ctx,
			Cluster: cluster.NewService(b.Engine.View(), b.Runs, t.TempDir()),
		}),
		Pipelines: b.Pipelines, Runs: b.Runs, Watcher: watcher, Gate: access.New("", b.Log), Log: slog.New(slog.DiscardHandler), Streams: ctx,
	})
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnContext = access.WithCaller
	server.Start()
	transport := &http.Transport{}
	c, err := client.New(server.URL, client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		transport.CloseIdleConnections()
		server.Close()
		require.NoError(t, <-worked)
		require.NoError(t, <-worked)
		require.NoError(t, <-worked)
	})
	return b, c
}

// finish ends the Workflow of a run, whose only step leaves a metric and a report.
func finish(t *testing.T, b *enginetest.Bundle, r run.Run, phase wfv1.WorkflowPhase, speed float64) {
	t.Helper()
	put := func(key string, data []byte) wfv1.ArtifactLocation {
		require.NoError(t, b.Artifacts.Put(t.Context(), key, bytes.NewReader(data), int64(len(data))))
		return wfv1.ArtifactLocation{S3: &wfv1.S3Artifact{Key: key}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: r.Workflow, Namespace: enginetest.Namespace, UID: types.UID(r.Workflow)}}
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	_, err := b.Kube.CoreV1().Pods(enginetest.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	metrics := put(r.ID+"/metrics", fmt.Appendf(nil, `{"metrics":[{"name":"images/sec","numberValue":%g}]}`, speed))
	report := put(r.ID+"/report.tgz", archive(t, "report.txt", "all is well\n"))
	b.Update(t, r, func(wf *wfv1.Workflow) {
		now := metav1.NewTime(time.Now().Truncate(time.Second)) // as fine as the cluster keeps it
		wf.Status.Phase, wf.Status.StartedAt, wf.Status.FinishedAt = phase, now, now
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {
			ID: wf.Name, Name: wf.Name, DisplayName: "train", Type: wfv1.NodeTypePod, TemplateName: "main", Phase: wfv1.NodePhase(phase),
			StartedAt: now, FinishedAt: now,
			Outputs: &wfv1.Outputs{Artifacts: wfv1.Artifacts{{Name: "mlpipeline-metrics", ArtifactLocation: metrics}, {Name: "report", ArtifactLocation: report}}},
		}}
	})
}

func archive(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	require.NoError(t, tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}))
	_, err := tw.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, tw.Close())
	require.NoError(t, zw.Close())
	return b.Bytes()
}

// looping says its greeting once per item, under a condition.
const looping = `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: looping-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: greeting, value: hello}]}
  templates:
    - name: main
      dag: {tasks: [{name: say, template: say, withItems: [a, b], when: "{{workflow.parameters.greeting}} == hello"}]}
    - name: say
      container: {image: alpine, command: [echo, "{{workflow.parameters.greeting}}"]}
`

func TestAgainstARealServer(t *testing.T) {
	t.Parallel()
	b, c := realServer(t)
	ctx := t.Context()

	pipeline, err := c.Pipelines.Upload(ctx, "hello", strings.NewReader(enginetest.Manifest), client.Description("says hello"))
	require.NoError(t, err)
	_, err = c.Pipelines.Upload(ctx, "hello", strings.NewReader(enginetest.Manifest))
	require.True(t, client.IsConflict(err), "%v", err)
	version, err := c.Versions.Upload(ctx, pipeline.ID, "two", strings.NewReader(looping))
	require.NoError(t, err)
	found, err := c.Pipelines.ByName(ctx, "hello")
	require.NoError(t, err)
	require.Equal(t, []client.Parameter{{Name: "greeting", Value: "hello"}}, found.Parameters)
	graph, err := c.Versions.Graph(ctx, version.ID)
	require.NoError(t, err)
	require.Equal(t, []client.GraphNode{
		{ID: "say", Name: "say", Type: "Container", Template: "say", Loop: true, When: "{{workflow.parameters.greeting}} == hello"},
	}, graph.Nodes)
	experiment, err := c.Experiments.Ensure(ctx, "greetings")
	require.NoError(t, err)

	_, err = c.Runs.Create(ctx, client.NewRun{Name: "bad", PipelineID: pipeline.ID, Parameters: []client.Parameter{{Name: "nonsense"}}})
	require.True(t, client.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "nonsense")
	_, err = c.Runs.Get(ctx, "nothing")
	require.True(t, client.IsNotFound(err), "%v", err)

	var ids []string
	for i, greeting := range []string{"hi", "ho"} {
		created, err := c.Runs.Create(ctx, client.NewRun{
			Name: "run " + greeting, PipelineID: pipeline.ID, VersionID: version.ID, ExperimentID: experiment.ID,
			Parameters: []client.Parameter{{Name: "greeting", Value: greeting}},
		})
		require.NoError(t, err)
		ids = append(ids, created.ID)
		state := b.Until(t, created.ID, func(r run.Run) bool { return b.Workflow(t, r) != nil })
		finish(t, b, state, wfv1.WorkflowSucceeded, 100.5+float64(i))
	}

	var metrics []client.Metric
	for m, err := range c.Runs.WatchMetrics(ctx, ids[0]) {
		require.NoError(t, err)
		metrics = append(metrics, m)
	}
	require.Len(t, metrics, 1)
	require.Equal(t, "images/sec 100.5", metrics[0].Name+" "+metrics[0].String())

	r, err := c.Runs.Wait(ctx, ids[1])
	require.NoError(t, err)
	require.Equal(t, client.Succeeded, r.Status)
	node := r.Nodes[0].ID

	var lines []string
	for line, err := range c.Logs.Follow(ctx, r.ID, node) {
		require.NoError(t, err)
		lines = append(lines, line)
	}
	require.Equal(t, []string{"fake logs"}, lines, "what Kubernetes' own stand-in says")

	all, err := c.Logs.List(ctx, r.ID, node)
	require.NoError(t, err)
	require.Len(t, all, 1)
	for _, o := range []client.MergeOptions{{Follow: true}, {Logs: all}} {
		merged, err := c.Logs.Merge(ctx, r.ID, node, o)
		require.NoError(t, err)
		text, err := io.ReadAll(merged)
		require.NoError(t, err)
		require.NoError(t, merged.Close())
		require.Equal(t, "["+all[0].Container+"] fake logs\n", string(text))
	}
	whole, err := c.Logs.MergeRun(ctx, r.ID, client.MergeOptions{Follow: true})
	require.NoError(t, err)
	text, err := io.ReadAll(whole)
	require.NoError(t, err)
	require.NoError(t, whole.Close())
	require.Contains(t, string(text), "] fake logs\n")
	_, err = c.Logs.Merge(ctx, r.ID, node, client.MergeOptions{Logs: []client.Log{{Attempt: 9, Pod: "gone", Container: "main"}}})
	require.True(t, client.IsNotFound(err), "%v", err)

	labelled, err := c.Runs.SetLabels(ctx, r.ID, map[string]string{"team": "red", "baseline": ""})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"team": "red", "baseline": ""}, labelled.Labels)
	red, err := c.Runs.List(ctx, client.RunListOptions{Search: client.Search{Labels: []string{"team=red"}}})
	require.NoError(t, err)
	require.Len(t, red.Items, 1)
	require.Equal(t, labelled.Labels, red.Items[0].Labels)
	labelled, err = c.Runs.SetLabels(ctx, r.ID, nil)
	require.NoError(t, err)
	require.Empty(t, labelled.Labels)
	_, err = c.Runs.SetLabels(ctx, r.ID, map[string]string{"a b": "c"})
	require.True(t, client.IsInvalid(err), "%v", err)

	report, err := c.Artifacts.ReadFile(ctx, r.ID, node, "report")
	require.NoError(t, err)
	require.Equal(t, "all is well\n", string(report))
	require.Equal(t, "report", r.Nodes[0].Artifacts[1].Name)
	require.Equal(t, int64(len(archive(t, "report.txt", "all is well\n"))), *r.Nodes[0].Artifacts[1].Size)
	packed, err := c.Artifacts.Read(ctx, r.ID, node, "report")
	require.NoError(t, err)
	require.Equal(t, archive(t, "report.txt", "all is well\n"), packed)
	_, err = c.Artifacts.Read(ctx, r.ID, node, "nothing")
	require.True(t, client.IsNotFound(err), "%v", err)

	both, err := c.Runs.Compare(ctx, ids...)
	require.NoError(t, err)
	require.Equal(t, []client.ComparedRow{{Name: "greeting", Values: []string{"hi", "ho"}}}, both.Parameters)
	require.Len(t, both.Metrics, 1)
	require.Equal(t, "images/sec of train: 100.5 101.5", fmt.Sprintf("%s of %s: %g %g", both.Metrics[0].Name, both.Metrics[0].Step, *both.Metrics[0].Values[0], *both.Metrics[0].Values[1]))
	_, err = c.Runs.Compare(ctx, ids[0], "nothing")
	require.True(t, client.IsNotFound(err), "%v", err)
	require.ErrorContains(t, err, "run nothing: ")

	require.NoError(t, c.Runs.Archive(ctx, ids[0]))
	require.NoError(t, c.Runs.Unarchive(ctx, ids[0]))
	require.NoError(t, c.Experiments.Archive(ctx, experiment.ID))
	archived, err := c.Experiments.Get(ctx, experiment.ID)
	require.NoError(t, err)
	require.True(t, archived.Archived())
	require.NoError(t, c.Experiments.Unarchive(ctx, experiment.ID))
	require.NoError(t, c.Runs.Delete(ctx, ids[0]))
	_, err = c.Runs.Get(ctx, ids[0])
	require.True(t, client.IsNotFound(err), "%v", err)
	require.NoError(t, c.Pipelines.Delete(ctx, pipeline.ID))
}
