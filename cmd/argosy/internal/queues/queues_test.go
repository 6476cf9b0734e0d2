package queues_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/queues"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/gateway"
	"github.com/argosy-ml/argosy/server/series"
)

// room gives the command beside a real server, whose cluster is Kubernetes' own stand-in.
func room(t *testing.T) func(args ...string) (string, error) {
	t.Helper()
	b := enginetest.New(t)
	watcher := eventstream.New(eventstream.Config{Store: b.Store, Runs: b.Runs, Log: b.Log})
	handler, err := gateway.New(gateway.Config{
		API: api.New(api.Services{
			Pipelines: b.Pipelines, Experiments: b.Experiments, Runs: b.Runs, Schedules: b.Schedules, Watcher: watcher, Series: series.NewReader(b.Store),
			Streams: t.Context(), Cluster: cluster.NewService(b.Engine.View(), b.Runs, ""),
		}),
		Pipelines: b.Pipelines, Runs: b.Runs, Watcher: watcher, Gate: access.New("", b.Log), Log: b.Log, Streams: t.Context(),
	})
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnContext = access.WithCaller
	server.Start()
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); server.Close() })
	cl, err := client.New(server.URL, client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return func(args ...string) (string, error) {
		out, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
		require.NoError(t, err)
		defer out.Close()
		root := &cobra.Command{Use: "queue", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(queues.Commands(queues.Env{
			Out: out, Err: out, Client: func() (*client.Client, error) { return cl, nil },
			Printer: func() output.Printer { return output.Printer{Out: out, Format: output.Table} },
			Confirm: func(_, refusal string) error { return exit.With(exit.Refused, errors.New(refusal)) },
		})...)
		root.SetArgs(args)
		failed := root.ExecuteContext(t.Context())
		text, err := os.ReadFile(out.Name())
		require.NoError(t, err)
		return string(text), failed
	}
}

func TestQueues(t *testing.T) {
	t.Parallel()
	argosy := room(t)
	out, err := argosy("list")
	require.NoError(t, err)
	require.Contains(t, out, "no queues yet: Volcano makes the queue default for the first job")

	out, err = argosy("create", "night", "--weight", "2", "--capability", "cpu=8", "--capability", "memory=16Gi")
	require.NoError(t, err)
	require.Equal(t, "queue night is there\n", out)
	out, err = argosy("list")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^night +Unknown +2 +0 cpu, 0\.0Gi memory +8 cpu, 16\.0Gi memory +0 +0$`, out)
	out, err = argosy("set", "night", "--capability", "memory=", "--weight", "1", "--close")
	require.NoError(t, err)
	require.Equal(t, "queue night is changed\n", out)
	out, err = argosy("list")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^night +Unknown +1 +0 cpu +8 cpu +0 +0$`, out)

	for want, args := range map[string][]string{
		"such as cpu=8":              {"create", "q", "--capability", "8"},
		"want an amount such as":     {"create", "q", "--deserved", "cpu=much"},
		"--weight 0: want 1 or more": {"set", "night", "--weight", "0"},
		"say what to change":         {"set", "night"},
		"takes the name of a queue":  {"delete"},
		"takes no arguments":         {"list", "more"},
		"none of the others can be":  {"set", "night", "--open", "--close"},
	} {
		_, err := argosy(args...)
		require.ErrorContains(t, err, want)
	}
	_, err = argosy("create", "night")
	require.Equal(t, exit.Refused, exit.Code(err))
	_, err = argosy("delete", "night")
	require.ErrorContains(t, err, "delete it with --force")
	_, err = argosy("delete", "day", "--force")
	require.Equal(t, exit.Refused, exit.Code(err))
	out, err = argosy("delete", "night", "--force")
	require.NoError(t, err)
	require.Equal(t, "deleted queue night\n", out)
}
