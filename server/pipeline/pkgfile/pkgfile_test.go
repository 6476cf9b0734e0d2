package pkgfile_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

type entry struct{ name, content string }

func gz(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func tarGz(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := w.Write([]byte(e.content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return gz(t, b.Bytes())
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.Create(e.name)
		require.NoError(t, err)
		_, err = f.Write([]byte(e.content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestRead(t *testing.T) {
	t.Parallel()
	const want = "kind: Workflow"
	good, other := entry{"pipeline.yaml", want}, entry{"other.yaml", "kind: Other"}
	for name, c := range map[string]struct {
		file string
		data []byte
	}{
		"yaml":                       {"a.yaml", []byte(want)},
		"yml, any case":              {"a.YML", []byte(want)},
		"json":                       {"a.json", []byte(want)},
		"tarball":                    {"a.tar.gz", tarGz(t, good)},
		"tarball by its content":     {"package", tarGz(t, good)},
		"pipeline.yaml is preferred": {"a.tgz", tarGz(t, other, good)},
		"in a folder":                {"a.tgz", tarGz(t, entry{"dir/", ""}, entry{"dir/pipeline.yaml", want})},
		"the first file, if yaml":    {"a.tgz", tarGz(t, entry{"mine.yml", want}, other)},
		"zip":                        {"a.zip", zipped(t, entry{"dir/", ""}, other, good)},
		"zip, the first file":        {"a.zip", zipped(t, entry{"mine.yaml", want}, other)},
	} {
		got, err := pkgfile.Read(c.file, c.data)
		require.NoError(t, err, name)
		require.Equal(t, want, string(got), name)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	many := make([]entry, 1002)
	for i := range many {
		many[i] = entry{"x.txt", ""}
	}
	big := strings.Repeat(" ", pkgfile.MaxManifest+1)
	for name, c := range map[string]struct {
		file string
		data []byte
		want string
	}{
		"empty file":              {"a.yaml", nil, "a.yaml: the file is empty"},
		"no name":                 {"", nil, "upload: the file is empty"},
		"too large":               {"a.yaml", make([]byte, pkgfile.MaxSize+1), "at most 32 MiB can be uploaded"},
		"not a tarball":           {"a.tar.gz", []byte("hello"), "a.tar.gz: the file is neither a tarball (.tar.gz) nor a .zip"},
		"zipped, but no tar":      {"a.tar.gz", gz(t, []byte(strings.Repeat("hello", 500))), "the file is not a tarball"},
		"a broken gzip":           {"a.tar.gz", []byte{0x1f, 0x8b, 1}, "cannot be unzipped"},
		"a cut tarball":           {"a.tgz", tarGz(t, entry{"a.txt", strings.Repeat("x", 100)}, entry{"b", ""})[:60], "a.tgz: "},
		"an empty tarball":        {"a.tgz", tarGz(t), "the tarball holds no file"},
		"without a workflow":      {"a.tgz", tarGz(t, entry{"readme.txt", "hello"}), `the archive holds no Workflow: there is no pipeline.yaml, and its first file "readme.txt"`},
		"outside the archive":     {"a.tgz", tarGz(t, entry{"../../etc/pipeline.yaml", "x"}), "points outside the archive"},
		"an absolute name":        {"a.tgz", tarGz(t, entry{"/etc/pipeline.yaml", "x"}), "points outside the archive"},
		"too many entries":        {"a.tgz", tarGz(t, many...), "more than 1000 entries"},
		"a tar bomb":              {"a.tgz", tarGz(t, entry{"pipeline.yaml", big}), "unpacks to more than 32 MiB"},
		"a bomb that is skipped":  {"a.tgz", tarGz(t, entry{"a.txt", "x"}, entry{"b.txt", big}, entry{"c.txt", big}), "unpacks to more than 64 MiB"},
		"a broken zip":            {"a.zip", []byte("PK\x03\x04junk"), "cannot be read as one"},
		"an empty zip":            {"a.zip", append([]byte("PK\x03\x04"), zipped(t)...), "a.zip: "},
		"a zip without workflow":  {"a.zip", zipped(t, entry{"readme.txt", "x"}), "the archive holds no Workflow"},
		"a zip bomb":              {"a.zip", zipped(t, entry{"pipeline.yaml", big}), "unpacks to more than 32 MiB"},
		"a zip outside":           {"a.zip", zipped(t, entry{"../pipeline.yaml", "x"}), "points outside the archive"},
		"a blank manifest":        {"a.yaml", []byte(" \n\t"), "the manifest is empty"},
		"a binary manifest":       {"a.yaml", []byte("a\x00b"), "the manifest is not UTF-8 text"},
		"a manifest in latin 1":   {"a.yaml", []byte("caf\xe9"), "the manifest is not UTF-8 text"},
		"a picture named .tar.gz": {"a.tar.gz", []byte("\x89PNG\r\n\x1a\n"), "neither a tarball"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := pkgfile.Read(c.file, c.data)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, apierr.Invalid, apierr.KindOf(err))
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.yaml", []byte("kind: Workflow"))
	f.Add("a.tar.gz", tarGz(f, entry{"pipeline.yaml", "kind: Workflow"}))
	f.Add("a.zip", zipped(f, entry{"pipeline.yaml", "kind: Workflow"}))
	f.Add("a", []byte("\x1f\x8b"))
	f.Add("a", []byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		manifest, err := pkgfile.Read(name, data)
		if err != nil {
			require.Equal(t, apierr.Invalid, apierr.KindOf(err), "%v", err)
			return
		}
		require.NotEmpty(t, manifest)
		require.True(t, utf8.Valid(manifest))
		require.LessOrEqual(t, len(manifest), pkgfile.MaxManifest)
	})
}
