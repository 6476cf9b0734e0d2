package gateway_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/run"
)

// made is an artifact of so many bytes that lies nowhere; then comes its end.
type made struct {
	left   int64
	end    error
	ctx    context.Context //nolint:containedctx // of the call that opened it, as in a real store
	closed chan struct{}
}

func newMade(size int64, end error) *made {
	return &made{left: size, end: end, closed: make(chan struct{})}
}

func (m *made) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n := min(int64(len(p)), m.left)
	if n == 0 {
		return 0, m.end
	}
	m.left -= n
	return int(n), nil
}

func (m *made) Close() error {
	close(m.closed)
	return nil
}

const (
	endless  = 1 << 62
	mostRead = 256 << 20 // that KFP's ReadArtifact gives
)

// left records a step with these artifacts, each under its name as key, and gives the path to them.
func (s *server) left(t *testing.T, names ...string) string {
	t.Helper()
	id := s.run(t)
	node := run.Node{ID: "n1", Name: "n1", DisplayName: "n1", Type: "Pod", Phase: run.Succeeded}
	for _, name := range names {
		node.Artifacts = append(node.Artifacts, run.Artifact{Name: name, Key: name})
	}
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{node}})
	return "/apis/argosy/v1/runs/" + id + "/nodes/n1/artifacts/"
}

// TestDownload: an artifact comes as it is stored, as a file and never as a page; what there is not is 404.
func TestDownload(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.objects.data["model"] = []byte("\x1f\x8bmodel")
	s.objects.data["page"] = []byte("<script>alert(1)</script>")
	s.objects.data["empty"] = nil
	path := s.left(t, "model", "page", "empty", "lost")
	for name, want := range map[string]struct{ file, content string }{
		"model": {"model.tgz", "\x1f\x8bmodel"}, "page": {"page", "<script>alert(1)</script>"}, "empty": {"empty", ""},
	} {
		status, headers, body := s.do(t, http.MethodGet, path+name+":download", "", nil)
		require.Equal(t, 200, status, body)
		require.Equal(t, want.content, body)
		require.Equal(t, "attachment; filename="+want.file, headers.Get("Content-Disposition"))
		require.Equal(t, "application/octet-stream nosniff", headers.Get("Content-Type")+" "+headers.Get("X-Content-Type-Options"))
	}
	status, headers, body := s.do(t, http.MethodHead, path+"model:download", "", nil)
	require.Equal(t, 200, status)
	require.Equal(t, "attachment; filename=model.tgz", headers.Get("Content-Disposition"))
	require.Empty(t, body)
	require.Contains(t, s.get(t, path+"other:download", 404), `has no artifact \"other\"`)
	require.Contains(t, s.get(t, strings.Replace(path, "n1", "n2", 1)+"model:download", 404), "has no step n2")
	require.Contains(t, s.get(t, path+"lost:download", 404), "not found")
	s.get(t, path+"model", 404)
	status, _, _ = s.do(t, http.MethodGet, path+"model:download", "", nil, "Host", "rebound.example")
	require.Equal(t, 403, status)
}

// TestDownloadStreams: an artifact of any size comes while it is read; when the caller goes, the reading ends.
func TestDownloadStreams(t *testing.T) {
	t.Parallel()
	s := start(t)
	all, broken, dead := newMade(endless, io.EOF), newMade(1<<20, errors.New("the store went away")), newMade(0, errors.New("the store is away"))
	s.objects.made = map[string]*made{"all": all, "broken": broken, "dead": dead}
	path := s.left(t, "all", "broken", "dead")

	answer, stop := s.stream(t, path+"all:download")
	n, err := io.CopyN(io.Discard, answer.Body, mostRead+1)
	require.NoError(t, err)
	require.EqualValues(t, mostRead+1, n)
	stop()
	<-all.closed

	answer, _ = s.stream(t, path+"broken:download")
	_, err = io.Copy(io.Discard, answer.Body)
	require.Error(t, err, "a part is not taken for the whole")
	<-broken.closed
	s.get(t, path+"dead:download", 500)

	s.objects.made["all"] = newMade(endless, io.EOF)
	answer, _ = s.stream(t, path+"all:download")
	s.stop()
	_, err = io.Copy(io.Discard, answer.Body)
	require.Error(t, err, "the end of the server ends it")
}

// TestDownloadNames: whatever an artifact is called, it is saved as one harmless file, and adds nothing to the header.
func TestDownloadNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	names := map[string]string{
		"a\r\nSet-Cookie: x=1":  "a__Set-Cookie_ x=1",
		`b"; filename="c.exe`:   "b_; filename=_c.exe",
		"../../.bashrc":         "_.._.bashrc",
		`..\x`:                  "_x",
		"..":                    "artifact",
		"模型":                    "模型",
		"gpj\u202eexe":          "gpj_exe",
		strings.Repeat("é", 99): strings.Repeat("é", 60),
		"d:download":            "d_download",
	}
	artifacts := make([]string, 0, len(names))
	for name := range names {
		artifacts = append(artifacts, name)
		s.objects.data[name] = []byte("x")
	}
	path := s.left(t, artifacts...)
	for name, want := range names {
		status, headers, body := s.do(t, http.MethodGet, path+url.PathEscape(name)+":download", "", nil)
		require.Equal(t, 200, status, "%q: %s", name, body)
		kind, parameters, err := mime.ParseMediaType(headers.Get("Content-Disposition"))
		require.NoError(t, err, name)
		require.Equal(t, "attachment", kind)
		require.Equal(t, map[string]string{"filename": want}, parameters, name)
		require.Empty(t, headers.Values("Set-Cookie"))
	}
}
