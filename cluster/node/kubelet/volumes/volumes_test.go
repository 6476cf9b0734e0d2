package volumes

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func ptr[T any](v T) *T { return &v }

func TestProject(t *testing.T) {
	t.Parallel()
	p := testPod(t, testObject(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm", Namespace: "ns"}, Data: map[string]string{"a": "A", "b": "B"}, BinaryData: map[string][]byte{"bin": {0, 1}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "ns"}, Data: map[string][]byte{"key": []byte("K"), "pub": []byte("P")}})
	name := corev1.LocalObjectReference{Name: "cm"}
	for title, c := range map[string]struct {
		source corev1.VolumeSource
		want   map[string]projected
		fails  string
	}{
		"whole configMap": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name}},
			want:   map[string]projected{"a": {data: []byte("A"), mode: 0o644}, "b": {data: []byte("B"), mode: 0o644}, "bin": {data: []byte{0, 1}, mode: 0o644}},
		},
		"items and modes, as mpi-operator mounts ssh keys": {
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "s", DefaultMode: ptr(int32(0o600)),
				Items: []corev1.KeyToPath{{Key: "key", Path: "id_rsa"}, {Key: "pub", Path: "sub/id_rsa.pub", Mode: ptr(int32(0o444))}},
			}},
			want: map[string]projected{"id_rsa": {data: []byte("K"), mode: 0o600}, "sub/id_rsa.pub": {data: []byte("P"), mode: 0o444}},
		},
		"projected": {
			source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Items: []corev1.KeyToPath{{Key: "key", Path: "k"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "ns", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
			}}},
			want: map[string]projected{"ca.crt": {data: []byte("the CA"), mode: 0o644}, "k": {data: []byte("K"), mode: 0o644}, "ns": {data: []byte("ns"), mode: 0o644}},
		},
		"optional and not there": {
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none", Optional: ptr(true)}},
			want:   map[string]projected{},
		},
		"optional key": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name, Optional: ptr(true), Items: []corev1.KeyToPath{{Key: "zz", Path: "zz"}}}},
			want:   map[string]projected{},
		},
		"not there": {
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}},
			fails:  `secret "none" not found`,
		},
		"key not there": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name, Items: []corev1.KeyToPath{{Key: "zz", Path: "zz"}}}},
			fails:  `configmap references non-existent config key: zz`,
		},
		"a path that leaves the volume": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name, Items: []corev1.KeyToPath{{Key: "a", Path: "../../etc/passwd"}}}},
			fails:  "leaves the volume",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			files, err := p.project(t.Context(), corev1.Volume{Name: "v", VolumeSource: c.source})
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, files)
		})
	}
}

func TestVolumesChangeAtOneMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(b)
	}
	data := func() string {
		to, err := os.Readlink(filepath.Join(dir, "..data"))
		require.NoError(t, err)
		return to
	}
	file := func(text string, mode fs.FileMode) projected { return projected{data: []byte(text), mode: mode} }
	require.NoError(t, writeVolume(dir, map[string]projected{"a": file("1", 0o600), "sub/b": file("2", 0o644), "old": file("x", 0o644)}, nil))
	require.Equal(t, "1", read("a"))
	fi, err := os.Stat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), fi.Mode())
	first := data()

	require.NoError(t, writeVolume(dir, map[string]projected{"a": file("1", 0o600), "sub/b": file("2", 0o644), "old": file("x", 0o644)}, nil))
	require.Equal(t, first, data(), "what is right is not written again")

	require.NoError(t, writeVolume(dir, map[string]projected{"a": file("1", 0o600), "sub/b": file("3", 0o644), "new/c": file("4", 0o644)}, nil))
	require.Equal(t, "3", read("sub/b"))
	require.Equal(t, "4", read("new/c"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.ElementsMatch(t, []string{"..data", data(), "a", "sub", "new"}, names, "of the old there is nothing left")
	require.NoError(t, writeVolume(dir, nil, nil))
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

func TestMakeFolderIgnoresTheUmask(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, MakeFolder(dir, 0o777))
	require.NoError(t, MakeFolder(dir, 0o777))
	fi, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o777), fi.Mode().Perm())
}

func TestHostPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	given := filepath.Join(dir, "given")
	require.NoError(t, os.Mkdir(given, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(given, "file"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600))
	require.NoError(t, os.Symlink(dir, filepath.Join(given, "out")))
	require.NoError(t, os.Symlink("made", filepath.Join(given, "in")))
	require.NoError(t, os.Symlink(given, filepath.Join(dir, "link")))
	p := testPod(t, testObject())
	var err error
	p.Host, err = HostFolders([]string{filepath.Join(dir, "link")})
	require.NoError(t, err)
	for _, c := range []struct {
		path  string
		kind  corev1.HostPathType
		fails string
	}{
		{"made", corev1.HostPathUnset, ""},
		{"made/too", corev1.HostPathDirectoryOrCreate, ""},
		{"made/file", corev1.HostPathFileOrCreate, ""},
		{"made", corev1.HostPathDirectory, ""},
		{"in/too", corev1.HostPathDirectory, ""},
		{"file", corev1.HostPathFile, ""},
		{"file", corev1.HostPathUnset, ""},
		{"none", corev1.HostPathDirectory, "hostPath type check failed: " + given + "/none is not a directory"},
		{"file", corev1.HostPathDirectory, "is not a directory"},
		{"file", corev1.HostPathDirectoryOrCreate, "is not a directory"},
		{"made", corev1.HostPathFile, "is not a file"},
		{"none", corev1.HostPathFile, "is not a file"},
		{"file", corev1.HostPathSocket, "is not a socket file"},
		{"file", corev1.HostPathCharDev, "is not a character device"},
		{"file", corev1.HostPathBlockDev, "is not a block device"},
		{"out/secret", corev1.HostPathFile, "a symbolic link leads out"},
		{"out/new", corev1.HostPathDirectoryOrCreate, "a symbolic link leads out"},
		{"out/new", corev1.HostPathFileOrCreate, "a symbolic link leads out"},
		{"../secret", corev1.HostPathFile, "start it with --host-path " + dir + "/secret"},
		{"../../../../../../../../../../proc/self/root/tmp/new", corev1.HostPathFileOrCreate, "is not for pods"},
	} {
		for _, top := range []string{given, filepath.Join(dir, "link")} {
			_, err := p.hostPath(&corev1.HostPathVolumeSource{Path: filepath.Join(top, c.path), Type: &c.kind})
			if c.fails == "" {
				require.NoError(t, err, c)
			} else {
				require.ErrorContains(t, err, strings.Replace(c.fails, given, top, 1), c)
			}
		}
	}
	require.NoFileExists(t, filepath.Join(dir, "new"))
}
