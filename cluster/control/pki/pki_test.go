package pki

import (
	"crypto/tls"
	"crypto/x509"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEnsureMakesPairsThatVerify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	require.NoError(t, Ensure(dir, now))

	roots := authority(t, dir)
	for _, l := range leaves {
		crt := certificate(t, dir, l.name)
		_, err := crt.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{l.usage}})
		require.NoError(t, err, l.name)
		require.Equal(t, l.user, crt.Subject.CommonName)
		_, err = tls.LoadX509KeyPair(File(dir, l.name, "crt"), File(dir, l.name, "key"))
		require.NoError(t, err, l.name)
	}
	for _, name := range []string{"127.0.0.1", "10.88.0.1", "10.96.0.1", "localhost", "kubernetes.default.svc"} {
		require.NoError(t, certificate(t, dir, "apiserver").VerifyHostname(name))
	}
	require.Error(t, certificate(t, dir, "apiserver").VerifyHostname("example.org"))
	require.Equal(t, []string{"system:masters"}, certificate(t, dir, Admin).Subject.Organization)
}

func TestOnlyTheAdminIsMaster(t *testing.T) {
	t.Parallel()
	for _, l := range leaves {
		if l.name != Admin {
			require.Empty(t, l.groups, l.name)
		}
	}
}

func TestFilesAreReadableByTheOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, Ensure(dir, time.Now()))
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), st.Mode().Perm(), path)
		return nil
	}))
}

func TestEnsureKeepsWhatIsGood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, Ensure(dir, time.Now()))
	before := contents(t, dir)
	require.NoError(t, Ensure(dir, time.Now()))
	require.Equal(t, before, contents(t, dir))
}

func TestEnsureRenewsWhatIsNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, Ensure(dir, time.Now()))
	before := contents(t, dir)
	require.NoError(t, os.WriteFile(File(dir, Argo, "key"), []byte("no key"), 0o600))
	require.NoError(t, os.Remove(File(dir, "kubelet", "crt")))
	require.NoError(t, Ensure(dir, time.Now()))
	after := contents(t, dir)
	for name, old := range before {
		switch name {
		case "argo.crt", "argo.key", "kubelet.crt", "kubelet.key":
			require.NotEqual(t, old, after[name], name)
		default:
			require.Equal(t, old, after[name], name)
		}
	}
}

func TestEnsureRenewsBeforeTheEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, Ensure(dir, time.Now().Add(-lifetime+renewAt/2)))
	old := certificate(t, dir, Admin)
	require.NoError(t, Ensure(dir, time.Now()))
	crt := certificate(t, dir, Admin)
	require.NotEqual(t, old.SerialNumber, crt.SerialNumber)
	_, err := crt.Verify(x509.VerifyOptions{Roots: authority(t, dir), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	require.NoError(t, err)
}

// A stranger's certificate for the same name must not open a door.
func TestAnotherAuthorityIsRefused(t *testing.T) {
	t.Parallel()
	ours, theirs := t.TempDir(), t.TempDir()
	require.NoError(t, Ensure(ours, time.Now()))
	require.NoError(t, Ensure(theirs, time.Now()))
	pair := func(dir, name string) tls.Certificate {
		p, err := tls.LoadX509KeyPair(File(dir, name, "crt"), File(dir, name, "key"))
		require.NoError(t, err)
		return p
	}
	handshake := func(client tls.Certificate) error {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		served := make(chan error, 1)
		go func() {
			served <- tls.Server(a, &tls.Config{
				Certificates: []tls.Certificate{pair(ours, "apiserver")},
				ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: authority(t, ours),
			}).Handshake()
			a.Close()
		}()
		err := tls.Client(b, &tls.Config{Certificates: []tls.Certificate{client}, RootCAs: authority(t, ours), ServerName: "localhost"}).Handshake()
		b.Close()
		if serr := <-served; serr != nil {
			return serr
		}
		return err
	}
	require.NoError(t, handshake(pair(ours, Admin)))
	require.Error(t, handshake(pair(theirs, Admin)))
}

func authority(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(certificate(t, dir, "ca"))
	return pool
}

func certificate(t *testing.T, dir, name string) *x509.Certificate {
	t.Helper()
	crt, _, err := readPair(dir, name)
	require.NoError(t, err, name)
	return crt
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		all[f.Name()] = string(b)
	}
	return all
}
