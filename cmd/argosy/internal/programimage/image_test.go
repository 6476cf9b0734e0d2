package programimage

import (
	"archive/tar"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

var amd64 = v1.Platform{OS: "linux", Architecture: "amd64"}

// contents are the modes of what is in an image.
func contents(t *testing.T, img v1.Image) map[string]int64 {
	t.Helper()
	layers, err := img.Layers()
	require.NoError(t, err)
	modes := map[string]int64{}
	archive, err := layers[len(layers)-1].Uncompressed()
	require.NoError(t, err)
	r := tar.NewReader(archive)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return modes
		}
		require.NoError(t, err)
		require.True(t, header.ModTime.Unix() == 0, "no times")
		modes[header.Name] = header.Mode
	}
}

func TestImageOfAProgramAlone(t *testing.T) {
	t.Parallel()
	img, err := New(nil, amd64, []byte("program"), "/pipelines")
	require.NoError(t, err)
	again, err := New(nil, amd64, []byte("program"), "/pipelines")
	require.NoError(t, err)
	other, err := New(nil, amd64, []byte("another"), "/pipelines")
	require.NoError(t, err)
	digest, err := img.Digest()
	require.NoError(t, err)
	same, err := again.Digest()
	require.NoError(t, err)
	different, err := other.Digest()
	require.NoError(t, err)
	require.Equal(t, digest, same)
	require.NotEqual(t, digest, different)

	require.Equal(t, map[string]int64{"pipelines": 0o755, "tmp/": 0o1777}, contents(t, img))
	config, err := img.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, []string{"/pipelines"}, config.Config.Entrypoint)
	require.Equal(t, "linux/amd64", config.Platform().String())
	kind, err := img.MediaType()
	require.NoError(t, err)
	require.Equal(t, types.OCIManifestSchema1, kind)

	for name, want := range map[string]string{
		"ab": "ab:" + digest.Hex[:12], "ab:v1": "ab:v1", "ab:latest": "ab:latest", "localhost:5000/ab": "localhost:5000/ab:" + digest.Hex[:12],
	} {
		got, err := Tagged(img, name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err = Tagged(img, "ab@"+digest.String())
	require.ErrorContains(t, err, "names a digest")
	_, err = Tagged(img, "A b")
	require.Error(t, err)
}

// An image on a base, pushed to a registry, comes back as it was made.
func TestBaseAndPush(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	below, err := random.Image(1000, 2)
	require.NoError(t, err)
	var r Registries
	require.NoError(t, r.Push(t.Context(), below, host+"/base:1"))
	base, err := r.Base(t.Context(), host+"/base:1", amd64)
	require.NoError(t, err)
	img, err := New(base, amd64, []byte("program"), "/pipelines")
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"pipelines": 0o755}, contents(t, img), "the base has what else there is")
	layers, err := img.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 3)

	require.NoError(t, r.Push(t.Context(), img, host+"/team/p:1"))
	back, err := r.Base(t.Context(), host+"/team/p:1", amd64)
	require.NoError(t, err)
	require.NoError(t, validate.Image(back))
	want, err := img.Digest()
	require.NoError(t, err)
	got, err := back.Digest()
	require.NoError(t, err)
	require.Equal(t, want, got)

	file := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, Save(img, host+"/team/p:1", file))
	saved, err := tarball.ImageFromPath(file, nil)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"pipelines": 0o755}, contents(t, saved))

	_, err = r.Base(t.Context(), host+"/nothing:1", amd64)
	require.ErrorContains(t, err, "fetching "+host+"/nothing:1")
	require.ErrorContains(t, Save(img, "image:1", filepath.Join(file, "x")), "not a directory")
}
