package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/benchmark"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/engine/manifest"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/gateway"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/logs/logtest"
	"github.com/argosy-ml/argosy/server/password"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/sample"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/series"
	"github.com/argosy-ml/argosy/server/store"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/server/store/storetest"
	"github.com/argosy-ml/argosy/server/task"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(storetest.Main(m)) }

// server is the whole API on a store (see storetest), over real connections. Only the cluster is not there:
// apiOnlyEngine stands in for it, since the API does not depend on what a cluster does with a Workflow.
type server struct {
	url     string
	conn    *grpc.ClientConn
	store   *sqlstore.Store
	feed    *run.Feed
	engine  *apiOnlyEngine
	real    *engine.Engine   // in place of engine where what Argo says matters; on a cluster of fake clients
	cluster *logtest.Cluster // whose pods print; one for each node that is recorded
	offers  sample.Cluster   // what samples can have; an empty cluster unless a test says otherwise
	machine sample.Machine   // that an embedded cluster runs on
	source  cluster.Source   // shows the cluster; of an empty one unless a test says otherwise
	archive *logs.Archive
	objects *objects

	schedules *schedule.Service // whose runs start while a test runs it

	hosts      []string // that it answers to beside localhost
	password   password.Password
	onlyPublic bool // pipelines are read from URLs of the public internet alone

	stop  context.CancelFunc // ends streams
	close func()             // ends all of it
	place string             // of the store
	log   *lockedBuffer
}

// clock is the time that tests create things at; it moves by a second with every look.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) look() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

func start(t *testing.T, with ...func(*server)) *server {
	t.Helper()
	s := &server{
		place:  storetest.Place(t),
		engine: &apiOnlyEngine{}, cluster: &logtest.Cluster{}, objects: &objects{data: map[string][]byte{}},
	}
	for _, change := range with {
		change(s)
	}
	s.open(t)
	return s
}

// open starts the server on what is in its store.
func (s *server) open(t *testing.T) {
	t.Helper()
	store, err := store.Open(t.Context(), s.place)
	require.NoError(t, err)
	s.store, s.feed, s.log = store, &run.Feed{}, &lockedBuffer{}
	streams, stop := context.WithCancel(context.Background())
	s.stop = stop
	log := slog.New(slog.NewTextHandler(s.log, nil))
	now := (&clock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}).look
	var runner interface {
		run.Engine
		pipeline.Inspector
	} = s.engine
	if s.real != nil {
		runner = s.real
	}
	if s.source == nil {
		s.source = engine.New(nil, fake.NewClientset(), enginetest.WithoutVolcano(enginetest.NewDynamic()), "kubeflow", log).View()
	}
	if s.offers == nil {
		s.offers = engine.New(nil, fake.NewClientset(), enginetest.WithoutVolcano(enginetest.NewDynamic()), "kubeflow", log).View()
	}
	pipelines := pipeline.NewService(store, runner, manifest.Faults, now)
	experiments := experiment.NewService(store, now)
	s.archive = logs.New(logs.Config{Store: store, Cluster: s.cluster, Artifacts: s.objects, Log: log})
	archiving, endArchive := context.WithCancel(context.Background())
	archived := make(chan error, 1)
	go func() { archived <- s.archive.Run(archiving) }()
	runs := run.NewService(run.Config{
		Store: store, Engine: runner, Pipelines: pipelines, Experiments: experiments, Artifacts: s.objects, Logs: s.archive,
		Feed: s.feed, Namespace: "kubeflow", PromptWait: 5 * time.Minute, PromptTime: 5 * time.Minute, Now: now, Log: log,
	})
	s.schedules = schedule.NewService(schedule.Config{Store: store, Runs: runs, Now: now, Log: log})
	measures := gateway.NewMeasures(gateway.Gauges{RunsByStatus: store.RunsByStatus, OutboxSize: store.OutboxSize, Logs: s.archive.Stats})
	store.OnWrite(measures.Write)
	sources, err := api.ParseSources("127.0.0.1")
	require.NoError(t, err)
	if s.onlyPublic {
		sources = api.Sources{}
	}
	watcher := eventstream.New(eventstream.Config{Store: store, Runs: runs, Log: log})
	services := api.New(api.Services{Watcher: watcher, Series: series.NewReader(store), Benchmark: benchmark.NewService(benchmark.Config{Runs: runs.Reader, Experiments: experiments, Series: series.NewReader(store)}), Streams: streams, Cluster: cluster.NewService(s.source, runs, t.TempDir()), Pipelines: pipelines, Experiments: experiments, Runs: runs, Schedules: s.schedules, Tasks: task.NewService(store), Samples: sample.NewService(sample.Config{Pipelines: pipelines, Inspector: runner, Runs: runs, Cluster: s.offers, Machine: s.machine}), Pruner: &retention.Pruner{Store: store, Runs: runs.Changer, Log: log}, Version: "v1.2.3", Commit: "abc", Sources: sources})
	gate := access.New(s.password, log)
	handler, err := gateway.New(gateway.Config{
		API: services, Gate: gate, Pipelines: pipelines, Runs: runs, Watcher: watcher, Measures: measures, Hosts: s.hosts, Log: log, Streams: streams,
		UI: fstest.MapFS{"index.html": {Data: []byte("<title>ui</title>")}, "assets/app.js": {Data: []byte("js")}},
	})
	require.NoError(t, err)
	web := httptest.NewUnstartedServer(handler)
	web.Config.ConnContext = access.WithCaller
	web.Start()
	s.url = web.URL
	s.dial(t, services.Server(log, gate))
	s.close = sync.OnceFunc(func() {
		stop()
		web.Close()
		endArchive()
		require.NoError(t, <-archived)
		require.NoError(t, store.Close())
	})
	t.Cleanup(s.close)
}

// restart ends the server, and starts it again on the same store.
func (s *server) restart(t *testing.T) {
	t.Helper()
	s.close()
	s.open(t)
}

// dial serves gRPC on a port of its own, and connects to it.
func (s *server) dial(t *testing.T, g *grpc.Server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- g.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	s.conn = conn
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		g.Stop()
		require.NoError(t, <-served)
	})
}

// lockedBuffer is a log that is read while the server goes on.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// do sends a request and gives the status, the headers and the whole body.
func (s *server) do(t *testing.T, method, path, contentType string, body io.Reader, headers ...string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, body)
	require.NoError(t, err)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		if request.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header, string(data)
}

func (s *server) get(t *testing.T, path string, want int) string {
	t.Helper()
	status, _, body := s.do(t, http.MethodGet, path, "", nil)
	require.Equal(t, want, status, "GET %s: %s", path, body)
	return body
}

func (s *server) post(t *testing.T, path, body string, want int) string {
	t.Helper()
	status, _, got := s.do(t, http.MethodPost, path, "application/json", strings.NewReader(body))
	require.Equal(t, want, status, "POST %s: %s", path, got)
	return got
}

func (s *server) put(t *testing.T, path, body string, want int) string {
	t.Helper()
	status, _, got := s.do(t, http.MethodPut, path, "application/json", strings.NewReader(body))
	require.Equal(t, want, status, "PUT %s: %s", path, got)
	return got
}

func (s *server) delete(t *testing.T, path string, want int) string {
	t.Helper()
	status, _, got := s.do(t, http.MethodDelete, path, "", nil)
	require.Equal(t, want, status, "DELETE %s: %s", path, got)
	return got
}

// upload sends a file to one of the upload endpoints.
func (s *server) upload(t *testing.T, path, file string, data []byte, want int) string {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("uploadfile", file)
	require.NoError(t, err)
	_, err = part.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	status, _, got := s.do(t, http.MethodPost, path, w.FormDataContentType(), &form)
	require.Equal(t, want, status, "upload of %s: %s", file, got)
	return got
}

// pipeline uploads the hello pipeline and gives its id.
func (s *server) pipeline(t *testing.T, name string) string {
	t.Helper()
	return field(t, s.upload(t, "/apis/v1beta1/pipelines/upload?name="+url.QueryEscape(name), "hello.yaml", []byte(hello), 200), "id")
}

// run starts a run of a new pipeline and gives its id.
func (s *server) run(t *testing.T) string {
	t.Helper()
	body := fmt.Sprintf(`{"name":"first","pipeline_spec":{"workflow_manifest":%q}}`, hello)
	return field(t, s.post(t, "/apis/v1beta1/runs", body, 200), "run", "id")
}

// record does what the reconciler does when it sees a Workflow change.
func (s *server) record(t *testing.T, id string, state run.State) {
	t.Helper()
	_, err := s.store.Record(t.Context(), id, state)
	require.NoError(t, err)
	for _, n := range state.Nodes {
		pod := logs.Pod{RunID: id, NodeID: n.ID, Namespace: "kubeflow", Name: n.PodName, UID: id + n.PodName}
		if there, err := s.cluster.FindPod(t.Context(), pod.Namespace, pod.Name); n.PodName != "" && (err != nil || there.UID != pod.UID) {
			s.cluster.Start(pod, logs.Main)
		}
	}
	s.feed.Publish(id)
}

// field picks a string out of JSON by the path to it.
func field(t *testing.T, document string, path ...string) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(document), &v), "%s", document)
	for _, name := range path {
		m, ok := v.(map[string]any)
		require.True(t, ok, "%s has no %v", document, path)
		v = m[name]
	}
	text, ok := v.(string)
	require.True(t, ok, "%s: %v is no string", document, path)
	return text
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// numbered replaces the ids in a document by their order of appearance, so that it can be compared.
func numbered(document string) string {
	seen := map[string]string{}
	return uuids.ReplaceAllStringFunc(document, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("ID%d", len(seen)+1)
		}
		return seen[id]
	})
}

const hello = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  entrypoint: say
  arguments: {parameters: [{name: word, value: hi}, {name: times}]}
  templates:
  - name: say
    container: {image: busybox, command: [echo, "{{workflow.parameters.word}}"]}
`
