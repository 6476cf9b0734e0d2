package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

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
			"not a tar archive":    []byte(strings.Repeat("nonsense", 100)),
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
