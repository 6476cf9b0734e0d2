package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/app"
	"github.com/argosy-ml/argosy/server/password"
	"github.com/argosy-ml/argosy/server/store/storetest"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) {
	if addresses := os.Getenv(strangerEnv); addresses != "" {
		callAsStranger(addresses)
		return
	}
	leaks.VerifyTestMain(storetest.Main(m))
}

// config is that of a server whose cluster does not answer: what a server has to live through. The live cluster is in test/e2e.
func config(t *testing.T) app.Config {
	t.Helper()
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
`), 0o600))
	return app.Config{
		HTTP: "127.0.0.1:0", GRPC: "localhost:0", Home: home, Kubeconfig: kubeconfig, S3: app.S3{Endpoint: "127.0.0.1:1"}, Store: storetest.Place(t),
		Version: "v1", Log: slog.New(slog.DiscardHandler),
	}
}

func start(t *testing.T, c app.Config) *app.App {
	t.Helper()
	a, err := app.New(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Stop(context.WithoutCancel(t.Context()))) })
	require.NoError(t, a.Start(t.Context()))
	return a
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, 200, answer.StatusCode, "%s", body)
	return string(body)
}

func TestLife(t *testing.T) {
	t.Parallel()
	a, err := app.New(t.Context(), config(t))
	require.NoError(t, err)
	require.Zero(t, a.Addrs())
	require.NoError(t, a.Start(t.Context()))
	require.NoError(t, a.Start(t.Context()), "a second Start does nothing")
	addrs := a.Addrs()
	url := "http://" + addrs.HTTP
	require.Equal(t, `{"tag_name":"v1"}`, get(t, url+"/apis/v1beta1/healthz"))
	require.Contains(t, get(t, url+"/"), "without its web UI")
	require.Eventually(t, func() bool {
		return strings.Contains(get(t, url+"/apis/v1beta1/experiments"), `"name":"Default"`)
	}, 5*time.Minute, 10*time.Millisecond, "the default experiment is there from the start")

	conn, err := grpc.NewClient(addrs.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	health, err := kfpv1.NewHealthzServiceClient(conn).GetHealthz(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Equal(t, "v1", health.GetTagName())
	require.NoError(t, conn.Close())

	select {
	case <-a.Done():
		t.Fatal("the server ended by itself")
	default:
	}
	require.NoError(t, a.Stop(t.Context()))
	<-a.Done()
	require.NoError(t, a.Stop(t.Context()), "a second Stop does nothing")
	require.Error(t, a.Start(t.Context()), "what was stopped cannot start again")
	_, err = net.DialTimeout("tcp", addrs.HTTP, time.Second) //nolint:noctx // the test's own short wait
	require.Error(t, err)
}

func TestRunWaitsForCluster(t *testing.T) {
	t.Parallel()
	c := config(t)
	a := start(t, c)
	url := "http://" + a.Addrs().HTTP + "/apis/v1beta1/runs"
	const manifest = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"generateName":"x-"},"spec":{"entrypoint":"m",` +
		`"templates":[{"name":"m","container":{"image":"busybox","command":["true"]}}]}}`
	body := fmt.Sprintf(`{"name":"r","pipeline_spec":{"workflow_manifest":%q}}`, manifest)
	answer, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:noctx // a test
	require.NoError(t, err)
	defer answer.Body.Close()
	var detail struct {
		Run struct{ ID, Status string }
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&detail))
	require.Equal(t, 200, answer.StatusCode)
	require.Empty(t, detail.Run.Status, "accepted, and not begun")

	// The run is there after a restart, even one that could not be orderly.
	events, err := http.Get("http://" + a.Addrs().HTTP + "/apis/argosy/v1/runs/" + detail.Run.ID + "/events") //nolint:noctx // a test
	require.NoError(t, err)
	defer events.Body.Close()
	first := make([]byte, 10)
	_, err = io.ReadFull(events.Body, first)
	require.NoError(t, err)
	require.NoError(t, a.Stop(t.Context()))
	_, err = io.Copy(io.Discard, events.Body)
	require.NoError(t, err, "streams end in order, and so do not hold up the end until they are cut off")

	again := start(t, c)
	require.Contains(t, get(t, "http://"+again.Addrs().HTTP+"/apis/v1beta1/runs/"+detail.Run.ID), `"name":"r"`)
}

// TestListensEverywhere: with names of its own and a password a server may listen beyond loopback, and asks for it on both ports.
func TestListensEverywhere(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.HTTP, c.GRPC, c.Hosts = "0.0.0.0:0", "0.0.0.0:0", []string{"argosy"}
	for _, short := range []password.Password{"", "fifteen letters"} {
		c.Password = short
		_, err := app.New(t.Context(), c)
		require.ErrorContains(t, err, "ARGOSY_PASSWORD")
	}
	c.Password = "a good password of some length"
	a, err := app.New(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	_, port, err := net.SplitHostPort(a.Addrs().HTTP)
	require.NoError(t, err)
	require.Contains(t, get(t, "http://127.0.0.1:"+port+"/apis/v1beta1/healthz"), "{")

	for _, path := range []string{"/", "/apis/v1beta1/runs", "/apis/argosy/v1/events", "/metrics", "/debug/pprof/"} {
		answer, err := http.Get("http://127.0.0.1:" + port + path) //nolint:noctx // a test
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, http.StatusUnauthorized, answer.StatusCode, path)
		require.Contains(t, answer.Header.Get("WWW-Authenticate"), "Basic")
	}
	require.Contains(t, get(t, "http://me:a%20good%20password%20of%20some%20length@127.0.0.1:"+port+"/apis/v1beta1/runs"), "{")

	_, port, err = net.SplitHostPort(a.Addrs().GRPC)
	require.NoError(t, err)
	conn, err := grpc.NewClient("127.0.0.1:"+port, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close() //nolint:errcheck // a test
	_, err = grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	experiments := kfpv1.NewExperimentServiceClient(conn)
	_, err = experiments.ListExperiment(t.Context(), &kfpv1.ListExperimentsRequest{})
	require.Equal(t, codes.Unauthenticated, status.Code(err))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+string(c.Password))
	_, err = experiments.ListExperiment(ctx, &kfpv1.ListExperimentsRequest{})
	require.NoError(t, err)
	require.NoError(t, a.Stop(t.Context()))
}

func TestStartRefusals(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	require.NoError(t, err)
	defer taken.Close()
	for name, change := range map[string]func(*app.Config){
		"http": func(c *app.Config) { c.HTTP = taken.Addr().String() },
		"grpc": func(c *app.Config) { c.GRPC = taken.Addr().String() },
	} {
		c := config(t)
		change(&c)
		a, err := app.New(t.Context(), c)
		require.NoError(t, err, name)
		require.ErrorContains(t, a.Start(t.Context()), "in use", name)
		require.NoError(t, a.Stop(t.Context()), name)
	}
	for says, change := range map[string]func(*app.Config){
		"other machines": func(c *app.Config) { c.HTTP = "0.0.0.0:8888" },
		"gRPC address":   func(c *app.Config) { c.GRPC = "192.168.1.1:8887" },
		"127.0.0.1:8888": func(c *app.Config) { c.HTTP = "8888" },
		"machines, and":  func(c *app.Config) { c.HTTP = ":8888" },
		"data folder":    func(c *app.Config) { c.Home, c.Store = "", "" },
		"S3 endpoint":    func(c *app.Config) { c.S3.Endpoint = "" },
		"kubeconfig":     func(c *app.Config) { c.Kubeconfig = filepath.Join(c.Home, "none") },
		"artifact store": func(c *app.Config) { c.S3.Endpoint = "http://nonsense/x" },
		"no such file":   func(c *app.Config) { c.Store = filepath.Join(c.Home, "none", "argosy.db") },
		"cannot be read": func(c *app.Config) { c.Store = "postgres://user:secret@host:port/db" },
	} {
		c := config(t)
		change(&c)
		_, err := app.New(t.Context(), c)
		require.ErrorContains(t, err, says)
	}
}

// TestLogTells checks that what the log says of a cluster that does not answer is there to be read.
func TestLogTells(t *testing.T) {
	t.Parallel()
	c := config(t)
	var log syncBuffer
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	start(t, c)
	require.Contains(t, log.String(), "the cluster does not answer yet")
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
