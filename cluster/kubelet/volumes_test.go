package kubelet

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func ptr[T any](v T) *T { return &v }

func TestProject(t *testing.T) {
	t.Parallel()
	p := testPod(t, samplePod(),
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
			want:   map[string]projected{"a": {[]byte("A"), 0o644}, "b": {[]byte("B"), 0o644}, "bin": {[]byte{0, 1}, 0o644}},
		},
		"items and modes, as mpi-operator mounts ssh keys": {
			source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "s", DefaultMode: ptr(int32(0o600)),
				Items: []corev1.KeyToPath{{Key: "key", Path: "id_rsa"}, {Key: "pub", Path: "sub/id_rsa.pub", Mode: ptr(int32(0o444))}},
			}},
			want: map[string]projected{"id_rsa": {[]byte("K"), 0o600}, "sub/id_rsa.pub": {[]byte("P"), 0o444}},
		},
		"projected": {
			source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: rootCA}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Items: []corev1.KeyToPath{{Key: "key", Path: "k"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "ns", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
			}}},
			want: map[string]projected{"ca.crt": {[]byte("the CA"), 0o644}, "k": {[]byte("K"), 0o644}, "ns": {[]byte("ns"), 0o644}},
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
			fails:  `key "zz" not found`,
		},
		"a path that leaves the volume": {
			source: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name, Items: []corev1.KeyToPath{{Key: "a", Path: "../../etc/passwd"}}}},
			fails:  "leaves the volume",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			files, err := p.project(corev1.Volume{Name: "v", VolumeSource: c.source})
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, files)
		})
	}
}

func TestWriteVolumeKeepsExactlyWhatIsWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, writeVolume(dir, map[string]projected{"a": {[]byte("1"), 0o600}, "sub/b": {[]byte("2"), 0o644}, "old": {[]byte("x"), 0o644}}))
	before, err := os.Stat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), before.Mode())

	require.NoError(t, writeVolume(dir, map[string]projected{"a": {[]byte("1"), 0o600}, "sub/b": {[]byte("3"), 0o644}}))
	after, err := os.Stat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "what is right is not written again")
	b, err := os.ReadFile(filepath.Join(dir, "sub/b"))
	require.NoError(t, err)
	require.Equal(t, "3", string(b))
	require.NoFileExists(t, filepath.Join(dir, "old"))
}

func TestSubPathStaysInside(t *testing.T) {
	t.Parallel()
	for sub, want := range map[string]string{"a": "/v/a", "../a": "/v/a", "/etc": "/v/etc", "a/../../..": "/v", "./x/": "/v/x"} {
		require.Equal(t, want, subPath("/v", sub), sub)
	}
}

func TestMakeFolderIgnoresTheUmask(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, makeFolder(dir, 0o777))
	require.NoError(t, makeFolder(dir, 0o777))
	fi, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o777), fi.Mode().Perm())
}

func TestHostPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kind := func(k corev1.HostPathType) *corev1.HostPathType { return &k }
	_, err := hostPath(&corev1.HostPathVolumeSource{Path: filepath.Join(dir, "none")})
	require.ErrorContains(t, err, "not found")
	path, err := hostPath(&corev1.HostPathVolumeSource{Path: filepath.Join(dir, "new"), Type: kind(corev1.HostPathDirectoryOrCreate)})
	require.NoError(t, err)
	require.DirExists(t, path)
	_, err = hostPath(&corev1.HostPathVolumeSource{Path: path, Type: kind(corev1.HostPathFile)})
	require.ErrorContains(t, err, "not of type File")
}
