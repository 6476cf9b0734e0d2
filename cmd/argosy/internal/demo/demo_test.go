package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/samples"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/app"
)

// nowhere is the kubeconfig of a cluster that is away: pipelines do not need one, and runs are accepted all the same.
const nowhere = `apiVersion: v1
kind: Config
clusters: [{name: gone, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: nobody, user: {}}]
contexts: [{name: gone, context: {cluster: gone, user: nobody}}]
current-context: gone
`

const workflow = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: workers, value: "1"}, {name: gpus, value: "1"}, {name: data, value: x}, {name: sync_source, value: y}]}
  templates:
  - name: main
    container: {image: debian, command: [echo, hello]}
`

// server starts a real server on a database of its own.
func server(t *testing.T) *client.Client {
	t.Helper()
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(nowhere), 0o600))
	a, err := app.New(t.Context(), app.Config{
		Home: home, HTTP: "127.0.0.1:0", GRPC: "127.0.0.1:0", Kubeconfig: kubeconfig,
		S3: app.S3{Endpoint: "127.0.0.1:1", AccessKey: "a", SecretKey: "s"}, Log: terminal.Plain(t.Output()).Logger(nil),
	})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, a.Stop(context.WithoutCancel(t.Context()))) }) // calls end before the log of the test does
	c, err := client.New("http://" + a.Addrs().HTTP)
	require.NoError(t, err)
	return c
}

func TestUploadAndCreate(t *testing.T) {
	t.Parallel()
	c := server(t)
	var screen bytes.Buffer
	d := &demo{Config: Config{Client: c, Screen: terminal.Plain(&screen)}, name: "hello"}
	upload := func(workflow string) client.NewRun {
		pkg, err := compiler.Pack("hello.tar.gz", []byte(workflow))
		require.NoError(t, err)
		n, _, err := d.upload(t.Context(), pkg, []byte(workflow))
		require.NoError(t, err)
		return n
	}
	first := upload(workflow)
	require.Equal(t, first, upload(workflow), "the same workflow is used again")
	require.Equal(t, first, upload("# a comment\n"+workflow), "written differently it is the same")

	changed := upload(strings.Replace(workflow, "hello]", "bye]", 1))
	require.Equal(t, first.PipelineID, changed.PipelineID)
	require.NotEmpty(t, changed.VersionID)
	v, err := c.Versions.List(t.Context(), first.PipelineID, client.ListOptions{})
	require.NoError(t, err)
	require.Len(t, v.Items, 2)

	parameters, _, err := samples.Size([]byte(workflow), nil, 0)
	require.NoError(t, err)
	r, detail, err := d.create(t.Context(), changed, parameters, "/shared/benchmarks.git")
	require.NoError(t, err)
	require.Equal(t, c.RunURL(r.ID), detail)
	require.Equal(t, "hello", r.Experiment.Name)
	require.Equal(t, changed.VersionID, r.Pipeline.VersionID)
	require.ElementsMatch(t, []client.Parameter{
		{Name: "workers", Value: "2"}, {Name: "gpus", Value: "0"}, {Name: "data"}, {Name: "sync_source", Value: "/shared/benchmarks.git"},
	}, r.Parameters)
	again, _, err := d.create(t.Context(), first, parameters, "")
	require.NoError(t, err)
	require.Equal(t, r.Experiment, again.Experiment, "one experiment for all")
}

// A release has the package beside the program: it is used, unless the program was changed since.
func TestPackageOfARelease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "hello.tar.gz"), filepath.Join(dir, "main.go")
	d := &demo{Config: Config{Dir: dir}, name: "hello"}
	none, _, _, err := d.packed()
	require.NoError(t, err)
	require.Nil(t, none)

	pkg, err := compiler.Pack(file, []byte(workflow))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, pkg, 0o600))
	require.NoError(t, os.WriteFile(program, []byte("package main"), 0o600))
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chtimes(file, made, made))
	require.NoError(t, os.Chtimes(program, made, made))
	got, text, detail, err := d.compile(t.Context())
	require.NoError(t, err)
	require.Equal(t, pkg, got)
	require.Equal(t, workflow, string(text))
	require.Contains(t, detail, file)

	require.NoError(t, os.Chtimes(program, made, made.Add(time.Second)))
	none, _, _, err = d.packed()
	require.NoError(t, err)
	require.Nil(t, none, "the program is newer")
}

func TestFailureNamesThePhase(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	err := Run(t.Context(), Config{Client: server(t), Screen: terminal.Plain(&screen), Dir: t.TempDir(), Work: t.TempDir(), Shared: t.TempDir()})
	require.ErrorContains(t, err, "compile: ")
	require.Contains(t, screen.String(), "✓ repository")
	require.Contains(t, screen.String(), "✗ compile")
}
