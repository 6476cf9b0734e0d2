package test

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/runtime/image/registrytest"
)

// hub is a registry. Repositories below `private/` want a password.
type hub struct{ *registrytest.Registry }

const hubUser, hubPassword = "ann", "open sesame"

func newHub(t *testing.T) *hub {
	t.Helper()
	return &hub{registrytest.New(t, func(w http.ResponseWriter, r *http.Request) bool {
		user, password, given := r.BasicAuth()
		known := user == hubUser && password == hubPassword
		private := strings.Contains(r.URL.Path, "/private/")
		// The first question is refused so that clients send what they have; those without anything are served too.
		if given && !known || private && !known || r.URL.Path == "/v2/" && !given {
			return registrytest.Refuse(w, `Basic realm="hub"`)
		}
		return true
	})}
}

// asked returns the requests so far that are about a repository.
func (h *hub) asked(repo string) []string {
	return slices.DeleteFunc(h.Asked(), func(r string) bool { return !strings.Contains(r, "/"+repo+"/") })
}

// push stores an image and returns its name.
func (h *hub) push(t *testing.T, repo string, img v1.Image) string {
	t.Helper()
	return h.Push(t, repo, img, remote.WithAuth(&authn.Basic{Username: hubUser, Password: hubPassword}))
}

var boxProgram = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "argosy-box")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "box"), "./box")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return out, err
	}
	return os.ReadFile(filepath.Join(dir, "box"))
})

// layerOf makes a layer of files; a name that ends in a slash is a folder.
func layerOf(t *testing.T, files ...[2]string) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		head := tar.Header{Name: f[0], Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(f[1]))}
		if strings.HasPrefix(f[0], "home/") {
			head.Uid, head.Gid = 1000, 1000
		}
		if strings.HasSuffix(f[0], "/") {
			head.Typeflag = tar.TypeDir
		}
		require.NoError(t, w.WriteHeader(&head))
		_, err := io.WriteString(w, f[1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithCompressedCaching)
	require.NoError(t, err)
	return l
}

// boxImage is an image of two layers with the program box, and a user, files and settings to be seen.
func boxImage(t *testing.T, change ...func(*v1.Config)) v1.Image {
	t.Helper()
	program, err := boxProgram()
	require.NoError(t, err, string(program))
	img, err := mutate.AppendLayers(empty.Image,
		layerOf(t, [2]string{"bin/box", string(program)}, [2]string{"etc/passwd", "root:x:0:0::/root:/bin/box\napp:x:1000:1000::/home/app:/bin/box\n"},
			[2]string{"etc/group", "root:x:0:\napp:x:1000:\n"}, [2]string{"home/app/", ""}, [2]string{"data/old", "old"}, [2]string{"data/kept", "kept"}),
		layerOf(t, [2]string{"data/.wh.old", ""}, [2]string{"data/new", "new"}))
	require.NoError(t, err)
	cf, err := img.ConfigFile()
	require.NoError(t, err)
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture = "linux", runtime.GOARCH
	cf.Config = v1.Config{
		Entrypoint: []string{"/bin/box"}, Cmd: []string{"echo", "by", "default"}, Env: []string{"PATH=/bin", "COLOUR=blue"},
		WorkingDir: "/job", Volumes: map[string]struct{}{"/cache": {}},
	}
	for _, f := range change {
		f(&cf.Config)
	}
	img, err = mutate.ConfigFile(img, cf)
	require.NoError(t, err)
	return img
}

// saveTo writes an image the way `docker save` does.
func saveTo(t *testing.T, file, as string, img v1.Image) {
	t.Helper()
	tag, err := name.NewTag(as)
	require.NoError(t, err)
	require.NoError(t, tarball.WriteToFile(file, tag, img))
}
