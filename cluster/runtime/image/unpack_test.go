package image

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tarOf makes an archive; an entry without a type is a file whose content is its Linkname.
func tarOf(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		content := ""
		if h.Typeflag == 0 {
			h.Typeflag, content, h.Linkname = tar.TypeReg, h.Linkname, ""
			h.Size = int64(len(content))
		}
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		if h.ModTime.IsZero() {
			h.ModTime = time.Unix(1_600_000_000, 0)
		}
		require.NoError(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func file(name, content string) tar.Header { return tar.Header{Name: name, Linkname: content} }

func folder(name string) tar.Header { return tar.Header{Name: name + "/", Typeflag: tar.TypeDir} }

func link(kind byte, name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: kind, Linkname: target}
}

// unpackIn unpacks beside a file that nothing may touch.
func unpackIn(t testing.TB, archive []byte, rules Rules) (dir string, err error) {
	t.Helper()
	outer := t.TempDir()
	t.Cleanup(func() { _ = removeTree(filepath.Join(outer, "layer")) })
	dir = filepath.Join(outer, "layer")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(outer, "secret"), []byte("untouched"), 0o600))
	err = Unpack(t.Context(), bytes.NewReader(archive), dir, rules)
	names, rerr := os.ReadDir(outer)
	require.NoError(t, rerr)
	require.Len(t, names, 2, "something was written beside the layer")
	fi, rerr := os.Stat(filepath.Join(outer, "secret"))
	require.NoError(t, rerr)
	require.Equal(t, fs.FileMode(0o600), fi.Mode())
	b, rerr := os.ReadFile(filepath.Join(outer, "secret"))
	require.NoError(t, rerr)
	require.Equal(t, "untouched", string(b))
	return dir, err
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	dir, err := unpackIn(t, tarOf(t,
		tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755},
		tar.Header{Name: "locked/", Typeflag: tar.TypeDir, Mode: 0o555, ModTime: time.Unix(1000, 0)},
		file("locked/in", "deep"),
		tar.Header{Name: "bin/run", Linkname: "#!", Mode: 0o4755},
		link(tar.TypeLink, "bin/again", "/bin/run"),
		link(tar.TypeSymlink, "sbin", "bin"),
		file("sbin/more", "through a link"),
		link(tar.TypeSymlink, "abs", "/bin"),
		file("abs/absolute", "through an absolute link"),
		file("twice", "first"), file("twice", "second"),
		folder("was"), file("was/in", ""), file("was", "now a file"),
		tar.Header{Name: "pipe", Typeflag: tar.TypeFifo},
		tar.Header{Name: "disk", Typeflag: tar.TypeBlock, Devmajor: 8},
		tar.Header{Name: "old", Linkname: "old", ModTime: time.Unix(-5, 0)},
	), Rules{})
	require.NoError(t, err)
	for name, want := range map[string]string{
		"locked/in": "deep", "bin/run": "#!", "bin/again": "#!", "bin/more": "through a link", "bin/absolute": "through an absolute link",
		"twice": "second", "was": "now a file", "old": "old",
	} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, name)
		require.Equal(t, want, string(b), name)
	}
	fi, err := os.Stat(filepath.Join(dir, "locked"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o555), fi.Mode().Perm())
	require.Equal(t, int64(1000), fi.ModTime().Unix())
	fi, err = os.Stat(filepath.Join(dir, "bin/run"))
	require.NoError(t, err)
	require.Equal(t, fs.ModeSetuid|0o755, fi.Mode())
	require.NoFileExists(t, filepath.Join(dir, "disk"))
}

func TestUnpackWhiteouts(t *testing.T) {
	t.Parallel()
	dir, err := unpackIn(t, tarOf(t,
		file("a/.wh.gone", ""), file("b/.wh..wh..opq", ""), file("b/own", "x"), file(".wh..wh.plnk/x", ""),
		file("kept", "mine"), file(".wh.kept", ""),
		file(".wh.back", ""), folder("back"), file("back/in", ""),
	), Rules{})
	require.NoError(t, err)
	var st unix.Stat_t
	require.NoError(t, unix.Lstat(filepath.Join(dir, "a/gone"), &st))
	require.Equal(t, uint32(unix.S_IFCHR), st.Mode&unix.S_IFMT)
	require.Zero(t, st.Rdev)
	for _, opaque := range []string{"b", "back"} {
		var v [8]byte
		n, err := unix.Getxattr(filepath.Join(dir, opaque), "user.overlay.opaque", v[:])
		require.NoError(t, err, opaque)
		require.Equal(t, "y", string(v[:n]))
	}
	b, err := os.ReadFile(filepath.Join(dir, "kept"))
	require.NoError(t, err, "a whiteout hides what lies below, not what lies beside it")
	require.Equal(t, "mine", string(b))
}

func TestUnpackHostile(t *testing.T) {
	t.Parallel()
	long := tar.Header{Name: "big", Linkname: strings.Repeat("0", 4096)}
	for name, c := range map[string]struct {
		entries []tar.Header
		rules   Rules
		says    string
	}{
		"path up":                 {[]tar.Header{file("../secret", "x")}, Rules{}, "leads out"},
		"path up further in":      {[]tar.Header{file("a/../../secret", "x")}, Rules{}, "leads out"},
		"hard link out":           {[]tar.Header{link(tar.TypeLink, "l", "../secret")}, Rules{}, "leads out"},
		"hard link to nothing":    {[]tar.Header{link(tar.TypeLink, "l", "/etc/passwd")}, Rules{}, "hard link"},
		"hard link to a folder":   {[]tar.Header{folder("d"), link(tar.TypeLink, "l", "d")}, Rules{}, "hard link"},
		"whiteout of the parent":  {[]tar.Header{file("a/.wh...", "")}, Rules{}, "whiteout of nothing"},
		"whiteout of the folder":  {[]tar.Header{file("a/.wh..", "")}, Rules{}, "whiteout of nothing"},
		"whiteout without a name": {[]tar.Header{file("a/.wh.", "")}, Rules{}, "whiteout of nothing"},
		"folder that is a file":   {[]tar.Header{file("f", ""), file("f/g", "")}, Rules{}, "folder"},
		"link that leads nowhere": {[]tar.Header{link(tar.TypeSymlink, "a", os.TempDir()), file("a/x", "")}, Rules{}, "folder"},
		"endless links":           {[]tar.Header{link(tar.TypeSymlink, "a", "b"), link(tar.TypeSymlink, "b", "a"), file("a/x", "")}, Rules{}, "links"},
		"too large":               {[]tar.Header{long, {Name: "more", Linkname: long.Linkname}}, Rules{MaxBytes: 5000}, "more than 5000 bytes"},
		"too many":                {[]tar.Header{folder("a"), folder("b"), folder("c")}, Rules{MaxEntries: 2}, "more than 2 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := unpackIn(t, tarOf(t, c.entries...), c.rules)
			require.ErrorContains(t, err, c.says)
		})
	}
	// These succeed and are harmless.
	for name, entries := range map[string][]tar.Header{
		"link to the host, then through it":      {link(tar.TypeSymlink, "out", ".."), file("out/secret", "x"), link(tar.TypeSymlink, "up", "../../../.."), file("up/secret", "x")},
		"absolute link to the host, through it":  {link(tar.TypeSymlink, "out", os.TempDir()), folder(os.TempDir()), file("out/secret", "x")},
		"a file over a link":                     {link(tar.TypeSymlink, "out", "../secret"), file("out", "x")},
		"a hard link to a link, then through it": {link(tar.TypeSymlink, "out", "../secret"), link(tar.TypeLink, "l", "out"), file("l", "x")},
		"modes of a link":                        {link(tar.TypeSymlink, "out", "../secret"), {Name: "out", Typeflag: tar.TypeSymlink, Linkname: "../secret", Mode: 0o777}},
		"removal of a link's target":             {link(tar.TypeSymlink, "out", ".."), folder("d"), link(tar.TypeSymlink, "d/out", "../.."), file("d", "")},
		"a folder replaced by a link":            {folder("d"), link(tar.TypeSymlink, "d", "../secret")},
		"overlay's own attributes": {{Name: "f", Typeflag: tar.TypeReg, PAXRecords: map[string]string{
			"SCHILY.xattr.user.overlay.redirect": "/etc", "SCHILY.xattr.trusted.overlay.redirect": "/etc", "SCHILY.xattr.user.fine": "1",
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := unpackIn(t, tarOf(t, entries...), Rules{})
			require.NoError(t, err)
			list := make([]byte, 1024)
			n, err := unix.Llistxattr(filepath.Join(dir, entries[0].Name), list)
			require.NoError(t, err)
			require.NotContains(t, string(list[:n]), "overlay")
		})
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(tarOf(f, folder("a"), file("a/b", "c"), link(tar.TypeSymlink, "l", "/"), file("l/x", "y"), file(".wh.z", "")))
	f.Add(tarOf(f, link(tar.TypeSymlink, "a", "../.."), link(tar.TypeLink, "b", "a"), file("b/.wh..wh..opq", "")))
	f.Add(tarOf(f, file("../secret", "x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = unpackIn(t, data, Rules{MaxBytes: 1 << 16, MaxEntries: 100}) // it looks itself at what may not change
	})
}
