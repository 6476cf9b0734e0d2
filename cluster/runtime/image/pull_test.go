package image

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/net/nettest"
	"github.com/argosy-ml/argosy/cluster/runtime/image/registrytest"
)

func TestPull(t *testing.T) {
	t.Parallel()
	h, s := newHub(t, ""), newStore(t)
	base := pack(t, tarOf(t, file("base", "1")), types.DockerLayer)
	one := imageOf(t, platform.Architecture, base, pack(t, tarOf(t, file("top", "one")), types.DockerLayer))
	two := imageOf(t, platform.Architecture, base, pack(t, tarOf(t, file("top", "two")), types.OCILayerZStd))
	ref := h.push(t, "team/app:v1", one)
	h.Forget()

	img, err := s.Pull(t.Context(), h.client, ref)
	require.NoError(t, err)
	require.Equal(t, []string{h.Host + "/team/app:v1"}, img.Names)
	digest, err := one.Digest()
	require.NoError(t, err)
	require.Equal(t, digest.String(), img.Digest)
	config, err := s.Config(img)
	require.NoError(t, err)
	require.Equal(t, []string{"/run"}, config.Config.Entrypoint)
	blobs := func() []string {
		return slices.DeleteFunc(h.Asked(), func(r string) bool { return !strings.Contains(r, "/blobs/") })
	}
	require.Len(t, blobs(), 3, "a configuration and two layers")

	dir, layers, err := s.Unpacked(t.Context(), img)
	require.NoError(t, err)
	require.Len(t, layers, 2)
	for i, f := range []string{"top", "base"} {
		require.FileExists(t, filepath.Join(dir, layers[i], f))
	}

	t.Log("the same again is only asked about")
	h.Forget()
	img, err = s.Pull(t.Context(), h.client, ref)
	require.NoError(t, err)
	require.Equal(t, []string{"GET /v2/", "HEAD /v2/team/app/manifests/v1"}, h.Asked())

	t.Log("an image that shares a layer fetches the other only")
	h.push(t, "team/app:v1", two)
	newer, err := s.Pull(t.Context(), h.client, ref)
	require.NoError(t, err)
	require.Len(t, blobs(), 2)
	dir, again, err := s.Unpacked(t.Context(), newer)
	require.NoError(t, err)
	require.Equal(t, layers[1], again[1])
	b, err := os.ReadFile(filepath.Join(dir, again[0], "top"))
	require.NoError(t, err)
	require.Equal(t, "two", string(b))

	t.Log("the replaced image goes when nothing uses it any more")
	sweep := func(used func(*Image) bool) {
		left, err := s.Sweep(used)
		require.NoError(t, err)
		require.Zero(t, left)
	}
	sweep(func(i *Image) bool { return i.Digest == img.Digest })
	require.FileExists(t, filepath.Join(dir, layers[0], "top"))
	sweep(nothingUsed)
	require.NoDirExists(t, filepath.Join(dir, layers[0]))
	require.FileExists(t, filepath.Join(dir, layers[1], "base"), "shared")
	require.ErrorContains(t, s.Remove(ref.String(), func(*Image) error { return errors.New("in use") }), "in use")
	require.NoError(t, s.Remove(ref.String(), func(*Image) error { return nil }))
	sweep(nothingUsed)
	for _, d := range []string{"blobs", "tmp", "trash", "layers/" + filepath.Base(dir)} {
		left, err := os.ReadDir(s.path(d))
		require.NoError(t, err)
		require.Empty(t, left, d)
	}
	var gone *NotFoundError
	require.ErrorAs(t, s.Remove(ref.String(), nil), &gone)
}

func TestPullPlatform(t *testing.T) {
	t.Parallel()
	h, s := newHub(t, ""), newStore(t)
	layer := pack(t, tarOf(t, file("a", "")), types.OCILayer)
	mine := mutate.MediaType(imageOf(t, platform.Architecture, layer), types.OCIManifestSchema1)
	other := imageOf(t, "s390x", layer)
	push := func(repo string, images map[string]v1.Image) Reference {
		index := v1.ImageIndex(empty.Index)
		for architecture, img := range images {
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}})
		}
		ref, err := name.ParseReference(h.Host + "/" + repo)
		require.NoError(t, err)
		require.NoError(t, remote.WriteIndex(ref, index))
		return parse(t, h.Host+"/"+repo)
	}
	img, err := s.Pull(t.Context(), h.client, push("both", map[string]v1.Image{platform.Architecture: mine, "s390x": other}))
	require.NoError(t, err)
	want, err := mine.Digest()
	require.NoError(t, err)
	require.Equal(t, want.String(), img.Digest)
	require.NotEqual(t, img.Digest, img.Target)
	_, err = s.Pull(t.Context(), h.client, push("foreign", map[string]v1.Image{"s390x": other}))
	require.ErrorContains(t, err, "linux/"+platform.Architecture)
	_, err = s.Pull(t.Context(), h.client, h.push(t, "single", other))
	require.ErrorContains(t, err, "made for linux/s390x")
}

func TestPullRefusals(t *testing.T) {
	t.Parallel()
	h, s := newHub(t, "secret"), newStore(t)
	ref := h.push(t, "private:1", imageOf(t, platform.Architecture, pack(t, tarOf(t, file("a", "")), types.OCILayer)))
	keys := func(password string) authn.Keychain { return fixedKeys{password} }

	_, err := s.Pull(t.Context(), h.client, ref)
	require.ErrorContains(t, err, "401")
	require.ErrorContains(t, err, "imagePullSecrets")
	_, err = s.Pull(t.Context(), h.client, ref, keys("wrong-password"))
	require.ErrorContains(t, err, "imagePullSecrets")
	require.NotContains(t, err.Error(), "wrong-password")
	_, err = s.Pull(t.Context(), h.client, parse(t, h.Host+"/private:2"), keys("secret"))
	require.ErrorContains(t, err, "404")
	_, err = s.Pull(t.Context(), h.client, ref, keys("wrong"), keys("secret"))
	require.NoError(t, err, "the next credentials are tried")

	closed := nettest.Refusing(t)
	_, err = s.Pull(t.Context(), h.client, parse(t, closed+"/app"))
	var unreachable *UnreachableError
	require.ErrorAs(t, err, &unreachable)
	require.Equal(t, closed, unreachable.Registry)

	// Elsewhere nothing is sent without encryption; the name leads here all the same.
	elsewhere := NewClient(func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, h.Host)
	}, nil)
	defer elsewhere.Close()
	far := parse(t, "10.1.2.3:5000/private:1")
	_, err = s.Pull(t.Context(), elsewhere, far, keys("secret"))
	require.ErrorContains(t, err, "speaks no https")
	allowed := NewClient(elsewhere.transport.(guard).t.DialContext, []string{"10.1.2.3:5000"})
	defer allowed.Close()
	_, err = s.Pull(t.Context(), allowed, far, keys("secret"))
	require.NoError(t, err)
}

type fixedKeys struct{ password string }

func (k fixedKeys) Resolve(authn.Resource) (authn.Authenticator, error) {
	return &authn.Basic{Username: "ann", Password: k.password}, nil
}

// Most registries hand out tokens, and give them for a password.
func TestPullWithToken(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var asked []string
	h := hubWith(t, "secret", func(w http.ResponseWriter, r *http.Request) bool {
		_, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/token" && password == "secret":
			asked = append(asked, r.URL.Query().Get("scope"))
			_, _ = io.WriteString(w, `{"token": "pass"}`)
			return false
		case r.URL.Path == "/token" || r.Header.Get("Authorization") != "Bearer pass":
			return registrytest.Refuse(w, `Bearer realm="http://`+r.Host+`/token",service="test"`)
		}
		return true
	})
	ref := h.push(t, "team/app:v1", imageOf(t, platform.Architecture, pack(t, tarOf(t, file("a", "")), types.OCILayer)))
	asked = nil
	_, err := s.Pull(t.Context(), h.client, ref)
	require.ErrorContains(t, err, "imagePullSecrets")
	_, err = s.Pull(t.Context(), h.client, ref, fixedKeys{"wrong"}, fixedKeys{"secret"})
	require.NoError(t, err)
	require.Equal(t, []string{"repository:team/app:pull"}, asked)

	again, err := name.ParseReference(ref.String())
	require.NoError(t, err)
	got, err := remote.Image(again, remote.WithTransport(s.Answers(h.client.transport, nil)))
	require.NoError(t, err, "the store answers where no token is given")
	_, err = got.ConfigFile()
	require.NoError(t, err)
}

func TestUnpackedChecks(t *testing.T) {
	t.Parallel()
	h, s := newHub(t, ""), newStore(t)
	img, err := s.Pull(t.Context(), h.client, h.push(t, "bad", lying{imageOf(t, platform.Architecture, pack(t, tarOf(t, file("a", "")), types.OCILayer))}))
	require.NoError(t, err)
	_, _, err = s.Unpacked(t.Context(), img)
	require.ErrorContains(t, err, "not what it claims to be")
	left, err := os.ReadDir(s.path("tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// lying is an image whose configuration does not tell the truth about its layers.
type lying struct{ v1.Image }

func (l lying) RawConfigFile() ([]byte, error) {
	b, err := l.Image.RawConfigFile()
	return regexp.MustCompile(`"diff_ids":\["sha256:[0-9a-f]*"`).ReplaceAll(b, []byte(`"diff_ids":["sha256:`+strings.Repeat("ab", 32)+`"`)), err
}

func (l lying) ConfigName() (v1.Hash, error) { return partial.ConfigName(l) }

func (l lying) Manifest() (*v1.Manifest, error) {
	m, err := l.Image.Manifest()
	if err != nil {
		return nil, err
	}
	m = m.DeepCopy()
	b, err := l.RawConfigFile()
	if err != nil {
		return nil, err
	}
	m.Config.Size = int64(len(b))
	m.Config.Digest, err = l.ConfigName()
	return m, err
}

func (l lying) RawManifest() ([]byte, error) { return partial.RawManifest(l) }
