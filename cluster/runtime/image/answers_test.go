package image

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/stretchr/testify/require"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	h, s := newHub(t, "secret"), newStore(t)
	img := imageOf(t, platform.Architecture, pack(t, tarOf(t, file("a", "x")), types.DockerLayer))
	pushed := h.push(t, "pulled:1", img)
	_, err := s.Pull(t.Context(), h.client, pushed, fixedKeys{"secret"})
	require.NoError(t, err)
	saved := filepath.Join(t.TempDir(), "saved.tar")
	tag, err := name.NewTag("loaded:1")
	require.NoError(t, err)
	require.NoError(t, tarball.WriteToFile(saved, tag, img))
	_, err = s.Load(t.Context(), saved, nil, "127.0.0.1:1/team/loaded:1")
	require.NoError(t, err)

	transport := s.Answers(h.client.transport, nil)
	look := func(what string) (*v1.ConfigFile, error) {
		ref, err := name.ParseReference(what)
		require.NoError(t, err)
		got, err := remote.Image(ref, remote.WithTransport(transport))
		if err != nil {
			return nil, err
		}
		return got.ConfigFile()
	}
	c, err := look("127.0.0.1:1/team/loaded:1")
	require.NoError(t, err, "no registry there")
	require.Equal(t, []string{"/run"}, c.Config.Entrypoint)
	c, err = look(pushed.String())
	require.NoError(t, err, "the registry refuses, the store does not")
	require.Equal(t, []string{"/run"}, c.Config.Entrypoint)
	_, err = look(h.Host + "/other:1")
	require.ErrorContains(t, err, "401")
	_, err = look("127.0.0.1:1/team/other:1")
	require.Error(t, err)

	// A registry elsewhere that speaks http; its name leads to ours.
	far := NewClient(func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, h.Host)
	}, []string{"hub.example"})
	defer far.Close()
	ref, err := name.ParseReference("hub.example/pulled:1")
	require.NoError(t, err)
	_, err = remote.Image(ref, remote.WithAuth(h.auth()), remote.WithTransport(s.Answers(far.transport, []string{"hub.example"})))
	require.NoError(t, err)

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+h.Host+"/v2/pulled/manifests/1", nil)
	require.NoError(t, err)
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode, "only questions are answered")
	require.NoError(t, resp.Body.Close())
}
