package image

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/runtime/image/registrytest"
)

// hub is a registry that wants a password, if it is given one, and a client for it.
type hub struct {
	*registrytest.Registry
	password string
	client   *Client
}

func newHub(t *testing.T, password string) *hub {
	t.Helper()
	return hubWith(t, password, func(w http.ResponseWriter, r *http.Request) bool {
		if _, pw, _ := r.BasicAuth(); pw != password {
			return registrytest.Refuse(w, `Basic realm="test"`)
		}
		return true
	})
}

func hubWith(t *testing.T, password string, admit registrytest.Admit) *hub {
	t.Helper()
	h := &hub{registrytest.New(t, admit), password, NewClient(nil, nil)}
	t.Cleanup(h.client.Close)
	return h
}

func (h *hub) auth() authn.Authenticator {
	if h.password == "" {
		return authn.Anonymous
	}
	return &authn.Basic{Username: "ann", Password: h.password}
}

func (h *hub) push(t *testing.T, repo string, img v1.Image) Reference {
	t.Helper()
	return parse(t, h.Push(t, repo, img, remote.WithAuth(h.auth()), remote.WithTransport(h.client.transport)))
}

func parse(t *testing.T, s string) Reference {
	t.Helper()
	r, err := ParseName(s)
	require.NoError(t, err)
	return r
}

// pack makes a layer of an archive; how it is packed is up to the media type.
func pack(t *testing.T, archive []byte, kind types.MediaType) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if kind == types.OCILayerZStd {
		z, err := zstd.NewWriter(&b)
		require.NoError(t, err)
		w = z
	}
	_, err := w.Write(archive)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(kind), tarball.WithCompressedCaching)
	require.NoError(t, err)
	return l
}

func imageOf(t *testing.T, architecture string, layers ...v1.Layer) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(empty.Image, layers...)
	require.NoError(t, err)
	cf, err := img.ConfigFile()
	require.NoError(t, err)
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture = "linux", architecture
	cf.Config.Entrypoint = []string{"/run"}
	img, err = mutate.ConfigFile(img, cf)
	require.NoError(t, err)
	return img
}

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "images [of] tests")) // no pattern, whatever it looks like
	require.NoError(t, err)
	return s
}

func nothingUsed(*Image) bool { return false }
