package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// hub is a registry on the loopback that writes down what it is asked for.
type hub struct {
	host     string
	password string
	client   *Client

	mu       sync.Mutex
	requests []string
}

func newHub(t *testing.T, password string) *hub {
	t.Helper()
	h := &hub{password: password}
	serve := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pw, _ := r.BasicAuth(); pw != h.password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.mu.Lock()
		h.requests = append(h.requests, r.Method+" "+r.URL.Path)
		h.mu.Unlock()
		serve.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	h.host = strings.TrimPrefix(srv.URL, "http://")
	h.client = NewClient(nil, nil)
	t.Cleanup(h.client.Close)
	return h
}

func (h *hub) auth() authn.Authenticator {
	if h.password == "" {
		return authn.Anonymous
	}
	return &authn.Basic{Username: "ann", Password: h.password}
}

// taken returns and forgets the requests so far.
func (h *hub) taken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.requests
	h.requests = nil
	return r
}

func (h *hub) push(t *testing.T, repo string, img v1.Image) Reference {
	t.Helper()
	ref, err := name.ParseReference(h.host + "/" + repo)
	require.NoError(t, err)
	require.NoError(t, remote.Write(ref, img, remote.WithAuth(h.auth()), remote.WithTransport(h.client.transport)))
	return parse(t, h.host+"/"+repo)
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

func TestPull(t *testing.T) {
	t.Parallel()
	h, s := newHub(t, ""), newStore(t)
	base := pack(t, tarOf(t, file("base", "1")), types.DockerLayer)
	one := imageOf(t, platform.Architecture, base, pack(t, tarOf(t, file("top", "one")), types.DockerLayer))
	two := imageOf(t, platform.Architecture, base, pack(t, tarOf(t, file("top", "two")), types.OCILayerZStd))
	ref := h.push(t, "team/app:v1", one)
	h.taken()

	img, err := s.Pull(t.Context(), h.client, ref)
	require.NoError(t, err)
	require.Equal(t, []string{h.host + "/team/app:v1"}, img.Names)
	digest, err := one.Digest()
	require.NoError(t, err)
	require.Equal(t, digest.String(), img.Digest)
	config, err := s.Config(img)
	require.NoError(t, err)
	require.Equal(t, []string{"/run"}, config.Config.Entrypoint)
	require.Len(t, slices.DeleteFunc(h.taken(), func(r string) bool { return !strings.Contains(r, "/blobs/") }), 3, "a configuration and two layers")

	dir, layers, err := s.Unpacked(t.Context(), img)
	require.NoError(t, err)
	require.Len(t, layers, 2)
	for i, f := range []string{"top", "base"} {
		require.FileExists(t, filepath.Join(dir, layers[i], f))
	}

	t.Log("the same again is only asked about")
	img, err = s.Pull(t.Context(), h.client, ref)
	require.NoError(t, err)
	require.Equal(t, []string{"GET /v2/", "HEAD /v2/team/app/manifests/v1"}, h.taken())

	t.Log("an image that shares a layer fetches the other only")
	h.push(t, "team/app:v1", two)
	h.taken()
	newer, err := s.Pull(t.Context(), h.client, ref)
	require.NoError(t, err)
	require.Len(t, slices.DeleteFunc(h.taken(), func(r string) bool { return !strings.Contains(r, "/blobs/") }), 2)
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
		ref, err := name.ParseReference(h.host + "/" + repo)
		require.NoError(t, err)
		require.NoError(t, remote.WriteIndex(ref, index))
		return parse(t, h.host+"/"+repo)
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
	_, err = s.Pull(t.Context(), h.client, parse(t, h.host+"/private:2"), keys("secret"))
	require.ErrorContains(t, err, "404")
	_, err = s.Pull(t.Context(), h.client, ref, keys("wrong"), keys("secret"))
	require.NoError(t, err, "the next credentials are tried")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, err = s.Pull(t.Context(), h.client, parse(t, l.Addr().String()+"/app"))
	var unreachable *UnreachableError
	require.ErrorAs(t, err, &unreachable)
	require.Equal(t, l.Addr().String(), unreachable.Registry)

	// Elsewhere nothing is sent without encryption; the name leads here all the same.
	elsewhere := NewClient(func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, h.host)
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

func TestLoad(t *testing.T) {
	t.Parallel()
	layer := pack(t, tarOf(t, file("a", "x")), types.DockerLayer)
	img := imageOf(t, platform.Architecture, layer, pack(t, tarOf(t, file("b", "y")), types.DockerLayer))
	dir := t.TempDir()
	saved := filepath.Join(dir, "saved.tar")
	tag, err := name.NewTag("team/app:v1")
	require.NoError(t, err)
	require.NoError(t, tarball.WriteToFile(saved, tag, img))
	ociDir := filepath.Join(dir, "oci")
	path, err := layout.Write(ociDir, empty.Index)
	require.NoError(t, err)
	require.NoError(t, path.AppendImage(img, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "team/app:v1"}),
		layout.WithPlatform(v1.Platform{OS: "linux", Architecture: platform.Architecture})))
	require.NoError(t, path.AppendImage(imageOf(t, "s390x", layer), layout.WithPlatform(v1.Platform{OS: "linux", Architecture: "s390x"})))
	var ociTar, packed bytes.Buffer
	w := tar.NewWriter(&ociTar)
	require.NoError(t, w.AddFS(os.DirFS(ociDir)))
	require.NoError(t, w.Close())
	z := gzip.NewWriter(&packed)
	_, err = z.Write(ociTar.Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	ociFile := filepath.Join(dir, "oci.tar")
	require.NoError(t, os.WriteFile(ociFile, ociTar.Bytes(), 0o600))

	for label, c := range map[string]struct {
		file  string
		stdin []byte
		as    string
		names []string
	}{
		"docker save":        {file: saved, names: []string{"docker.io/team/app:v1"}},
		"OCI folder":         {file: ociDir, names: []string{"docker.io/team/app:v1"}},
		"OCI tar":            {file: ociFile, names: []string{"docker.io/team/app:v1"}},
		"packed, from stdin": {file: "-", stdin: packed.Bytes(), names: []string{"docker.io/team/app:v1"}},
		"another name":       {file: saved, as: "mine", names: []string{"docker.io/library/mine:latest"}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			stored, err := s.Load(t.Context(), c.file, bytes.NewReader(c.stdin), c.as)
			require.NoError(t, err)
			require.Len(t, stored, 1)
			require.Equal(t, c.names, stored[0].Names)
			folder, layers, err := s.Unpacked(t.Context(), &stored[0])
			require.NoError(t, err)
			b, err := os.ReadFile(filepath.Join(folder, layers[0], "b"))
			require.NoError(t, err)
			require.Equal(t, "y", string(b))
			id, err := s.Resolve(stored[0].Digest[7:20])
			require.NoError(t, err)
			require.Equal(t, stored[0].Digest, id)
			leftover, err := os.ReadDir(s.path("tmp"))
			require.NoError(t, err)
			require.Empty(t, leftover)
		})
	}

	t.Run("hostile", func(t *testing.T) {
		t.Parallel()
		for says, b := range map[string][]byte{
			"no tar archive":       []byte(strings.Repeat("nonsense", 100)),
			"neither":              tarOf(t, file("readme", "")),
			"manifest.json":        tarOf(t, file("manifest.json", "{")),
			"no such file":         tarOf(t, file("manifest.json", `[{"Config":"../../etc/passwd","Layers":[]}]`)),
			"file does not exist":  tarOf(t, link(tar.TypeSymlink, "c", "/etc/passwd"), file("manifest.json", `[{"Config":"c","Layers":[]}]`)),
			"no image for":         tarOf(t, file("manifest.json", `[]`)),
			"holds something else": tarOf(t, file("index.json", `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":1,"digest":"sha256:`+strings.Repeat("0", 64)+`"}]}`), file("blobs/sha256/"+strings.Repeat("0", 64), "x")),
		} {
			s := newStore(t)
			_, err := s.Load(t.Context(), "-", bytes.NewReader(b), "x")
			if says == "no such file" {
				says = "does not exist"
			}
			require.ErrorContains(t, err, says)
			all, err := s.List()
			require.NoError(t, err)
			require.Empty(t, all)
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"python": "docker.io/library/python:latest", "a/b:1": "docker.io/a/b:1", "127.0.0.1:5000/app": "127.0.0.1:5000/app:latest",
		"ghcr.io/a/b@sha256:" + strings.Repeat("0", 64): "ghcr.io/a/b@sha256:" + strings.Repeat("0", 64),
	} {
		require.Equal(t, want, parse(t, in).String())
	}
	_, err := ParseName("Not A Name")
	require.ErrorContains(t, err, "Not A Name")
	for in, want := range map[string]bool{"host": true, "host:v1": true, "argosy/host": true, "argosy/host:2": true, "hostess": false, "docker.io/host": false, "host/x": false} {
		require.Equal(t, want, IsHost(in), in)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	m, err := readIDs("0 0 4294967295\n", "0 0 4294967295\n", 0)
	require.NoError(t, err)
	require.True(t, m.trusted)
	m, err = readIDs("         0       1000          1\n", "0 1000 1\n", 0)
	require.NoError(t, err)
	require.Nil(t, m.owner)
	m, err = readIDs("0 1000 1\n1 100000 65536\n", "0 1000 1\n1 100000 1000\n", 0)
	require.NoError(t, err)
	require.False(t, m.trusted)
	uid, gid := m.owner(33, 33)
	require.Equal(t, []int{33, 33}, []int{uid, gid})
	uid, gid = m.owner(70000, 70000)
	require.Equal(t, []int{65534, 0}, []int{uid, gid})
}

func FuzzLoad(f *testing.F) {
	config := `{"architecture":"` + platform.Architecture + `","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`
	f.Add(tarOf(f, file("c.json", config), file("manifest.json", `[{"Config":"c.json","RepoTags":["a/b:c"],"Layers":[]}]`)))
	manifest := `{"schemaVersion":2,"config":{"size":` + strconv.Itoa(len(config)) + `,"digest":"` + digestOf([]byte(config)) + `"},"layers":[]}`
	f.Add(tarOf(f, file(blobPath(digestOf([]byte(config))), config), file(blobPath(digestOf([]byte(manifest))), manifest),
		file("index.json", `{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":9,"digest":"`+digestOf([]byte(manifest))+`"}]}`)))
	f.Add(tarOf(f, link(tar.TypeSymlink, "manifest.json", "manifest.json")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Open(filepath.Join(t.TempDir(), "images [of] tests")) // no pattern, whatever it looks like
		require.NoError(t, err)
		stored, err := s.Load(t.Context(), "-", bytes.NewReader(data), "fuzz")
		all, listErr := s.List()
		require.NoError(t, listErr, "whatever was loaded, the store can still be read")
		require.Len(t, all, len(stored))
		if err != nil {
			require.Empty(t, all)
		}
		left, rerr := os.ReadDir(s.path("tmp"))
		require.NoError(t, rerr)
		require.Empty(t, left)
	})
}

// Most registries hand out tokens, and give them for a password.
func TestPullWithToken(t *testing.T) {
	t.Parallel()
	serve, s := registry.New(registry.Logger(log.New(io.Discard, "", 0))), newStore(t)
	var asked []string
	var host string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/token" && password == "secret":
			asked = append(asked, r.URL.Query().Get("scope"))
			_, _ = io.WriteString(w, `{"token": "pass"}`)
		case r.URL.Path == "/token" || r.Header.Get("Authorization") != "Bearer pass":
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+host+`/token",service="test"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			serve.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	host = strings.TrimPrefix(srv.URL, "http://")
	h := &hub{host: host, password: "secret", client: NewClient(nil, nil)}
	t.Cleanup(h.client.Close)
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

// A layer of a few kilobytes that holds more than a gigabyte is refused before it is on the disk.
func TestBomb(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z, err := zstd.NewWriter(&bomb)
	require.NoError(t, err)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "zeros", Typeflag: tar.TypeReg, Size: bombFloor << 4}))
	zeros := make([]byte, 1<<20)
	for range (bombFloor + 300<<20) >> 20 {
		_, err := w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.Less(t, bomb.Len(), 1<<20)
	config := `{"architecture":"` + platform.Architecture + `","os":"linux","rootfs":{"type":"layers","diff_ids":["sha256:` + strings.Repeat("0", 64) + `"]}}`
	archive := tarOf(t, file("c.json", config), file("layer", bomb.String()), file("manifest.json", `[{"Config":"c.json","Layers":["layer"]}]`))
	_, err = newStore(t).Load(t.Context(), "-", bytes.NewReader(archive), "bomb")
	require.ErrorContains(t, err, "archive's size does not account for")
}
