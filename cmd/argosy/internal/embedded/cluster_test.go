//go:build linux

package embedded

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
	"github.com/argosy-ml/argosy/test/leaks"
)

// TestMain lets the test binary stand in for argosy-cluster: what is tested here is how a supervisor is started, watched,
// attached to and stopped, whatever it supervises. The real one is tested end to end.
func TestMain(m *testing.M) {
	if how := os.Getenv("TEST_CLUSTER"); how != "" {
		os.Exit(standIn(how, home.Home(os.Args[3])))
	}
	leaks.VerifyTestMain(m)
}

func standIn(how string, h home.Home) int {
	fmt.Println("etcd ready 0.1s")
	if how == "broken" {
		fmt.Println("apiserver: no room on the disk")
		return 7
	}
	lock, err := os.OpenFile(h.Path("cluster", "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil || unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return 3
	}
	fmt.Fprintln(lock, os.Getpid())
	stop := make(chan os.Signal, 1)
	if how != "stubborn" {
		signal.Notify(stop, unix.SIGTERM)
	} else {
		signal.Ignore(unix.SIGTERM)
	}
	if how == "slow" {
		<-stop
		return 0
	}
	address, err := serveReadyz(h)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	record := Info{Version: 1, PID: os.Getpid(), APIServer: "https://" + address, Kubeconfig: h.Path("kubeconfig"), Shared: h.Shared()}
	if record.Options, err = optionsOf(os.Args[4:]); err != nil {
		fmt.Println(err)
		return 1
	}
	info, _ := json.Marshal(record)
	fmt.Println("cluster ready 0.2s")
	if err := os.WriteFile(h.Path("cluster", "info.tmp"), info, 0o600); err != nil {
		return 1
	}
	if err := os.Rename(h.Path("cluster", "info.tmp"), h.Path("cluster", "info.json")); err != nil {
		return 1
	}
	select {
	case <-stop:
	case <-time.After(10 * time.Minute): // the test ended without stopping it
	}
	return 0
}

// optionsOf reads the flags as argosy-cluster does.
func optionsOf(args []string) (r Running, err error) {
	f := flag.NewFlagSet("up", flag.ContinueOnError)
	f.DurationVar(&r.Linger, "linger", 0, "")
	f.StringVar(&r.Images, "images", "auto", "")
	f.IntVar(&r.Nodes, "nodes", 1, "")
	r.GPUs = f.Int("gpus", -1, "")
	return r, f.Parse(args)
}

// serveReadyz answers /readyz over TLS to clients with the certificate in the kubeconfig that it writes.
func serveReadyz(h home.Home) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "admin"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return "", err
	}
	rawKey, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: rawKey})
	kubeconfig, err := yaml.Marshal(map[string]any{
		"clusters": []any{map[string]any{"cluster": map[string]any{"certificate-authority-data": cert}}},
		"users":    []any{map[string]any{"user": map[string]any{"client-certificate-data": cert, "client-key-data": keyPEM}}},
	})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(h.Path("kubeconfig"), kubeconfig, 0o600); err != nil {
		return "", err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	pair, err := tls.X509KeyPair(cert, keyPEM)
	if err != nil {
		return "", err
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	go http.Serve(l, mux) //nolint:errcheck // until the process ends
	return l.Addr().String(), nil
}

// up starts a stand-in; the environment says how it behaves, so tests that call it are not parallel.
func up(t *testing.T, how string, h home.Home) (*Cluster, []string, error) {
	t.Helper()
	t.Setenv("TEST_CLUSTER", how)
	var lines []string
	c, err := Up(t.Context(), Config{Home: h, Program: os.Args[0], Linger: time.Minute, Line: func(l string) { lines = append(lines, l) }})
	if err == nil {
		t.Cleanup(func() { _ = c.Stop(context.Background()) })
	}
	return c, lines, err
}

func open(t *testing.T) home.Home {
	t.Helper()
	h, err := home.Open(t.TempDir())
	require.NoError(t, err)
	return h
}

func TestUpAndStop(t *testing.T) {
	h := open(t)
	c, lines, err := up(t, "good", h)
	require.NoError(t, err)
	require.Equal(t, []string{"etcd ready 0.1s", "cluster ready 0.2s"}, lines)
	require.False(t, c.Attached)
	session, err := unix.Getsid(c.Info.PID)
	require.NoError(t, err)
	require.Equal(t, c.Info.PID, session, "a session of its own")
	require.NoError(t, c.Stop(t.Context()))
	require.NoError(t, c.Stop(t.Context()), "again")
	<-c.Done()
	_, runs := h.Supervisor()
	require.False(t, runs)
}

func TestAttach(t *testing.T) {
	h := open(t)
	first, _, err := up(t, "good", h)
	require.NoError(t, err)
	second, lines, err := up(t, "good", h)
	require.NoError(t, err)
	require.True(t, second.Attached)
	require.Empty(t, lines)
	require.Equal(t, first.Info, second.Info)
	require.NoError(t, second.Stop(t.Context()), "an attached cluster is stopped too")
	<-second.Done()
	<-first.Done()
}

// A cluster that was started to stay keeps running when its users leave.
func TestStays(t *testing.T) {
	h := open(t)
	t.Setenv("TEST_CLUSTER", "good")
	first, err := Up(t.Context(), Config{Home: h, Program: os.Args[0]})
	require.NoError(t, err)
	require.False(t, first.Stays(), "who started it stops it")
	require.NoError(t, first.Release())
	second, err := Up(t.Context(), Config{Home: h, Program: os.Args[0]})
	require.NoError(t, err)
	require.True(t, second.Stays())
	require.NoError(t, second.Release())

	pid, err := Stop(t.Context(), h)
	require.NoError(t, err)
	require.Equal(t, first.Info.PID, pid)
	<-first.Done()
	<-second.Done()
	pid, err = Stop(t.Context(), h)
	require.NoError(t, err)
	require.Zero(t, pid, "there is none any more")
}

func TestOptions(t *testing.T) {
	t.Setenv("TEST_CLUSTER", "good")
	h := open(t)
	two := 2
	asked := Options{Images: "host", Nodes: 3, GPUs: &two}
	c, err := Up(t.Context(), Config{Home: h, Program: os.Args[0], Options: asked})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	require.Equal(t, asked, c.Info.Options.Options)

	for name, same := range map[string]Options{"nothing asked": {}, "the same": asked, "a part": {Nodes: 3}} {
		again, err := Up(t.Context(), Config{Home: h, Program: os.Args[0], Options: same})
		require.NoError(t, err, name)
		require.NoError(t, again.Release())
	}
	one := 1
	_, err = Up(t.Context(), Config{Home: h, Program: os.Args[0], Options: Options{Images: "pull", Nodes: 3, GPUs: &one}})
	var different *Different
	require.ErrorAs(t, err, &different)
	require.Equal(t, []string{"with --images=host", "with --gpus=2"}, different.How)
	_, err = Up(t.Context(), Config{Home: h, Program: os.Args[0], Options: Options{InsecureRegistries: []string{"r:5000"}}})
	require.ErrorContains(t, err, "without --insecure-registry=r:5000")
	_, err = Up(t.Context(), Config{Home: h, Program: os.Args[0], Options: Options{HostPaths: []string{"/data"}, HostShow: []string{"/home/ann/tools"}}})
	require.ErrorContains(t, err, "without --host-path=/data, without --host-show=/home/ann/tools")
	_, err = Up(t.Context(), Config{Home: h, Program: os.Args[0], Options: Options{StockArgo: true}})
	require.ErrorContains(t, err, "without --stock-argo")
}

func TestImagesOfANewCluster(t *testing.T) {
	t.Setenv("TEST_CLUSTER", "good")
	for asked, want := range map[string]string{"": "host", "pull": "pull"} {
		h := open(t)
		c, err := Up(t.Context(), Config{Home: h, Program: os.Args[0], Options: Options{Images: asked}, Images: "host"})
		require.NoError(t, err)
		require.Equal(t, want, c.Info.Options.Images)
		again, err := Up(t.Context(), Config{Home: h, Program: os.Args[0], Images: "auto"})
		require.NoError(t, err, "what nobody asked for is no difference")
		require.NoError(t, again.Release())
		require.NoError(t, c.Stop(t.Context()))
	}
}

func TestAttachIsToldOfTheEnd(t *testing.T) {
	h := open(t)
	first, _, err := up(t, "good", h)
	require.NoError(t, err)
	second, _, err := up(t, "good", h)
	require.NoError(t, err)
	require.NoError(t, unix.Kill(first.Info.PID, unix.SIGKILL))
	<-second.Done()
	require.Contains(t, first.Epitaph(), "signal: killed")
	require.NotContains(t, first.Epitaph(), "ready", "what it said at its start is no news")
	require.Contains(t, second.Epitaph(), "unknown status")
	require.NoError(t, second.Stop(t.Context()))

	third, _, err := up(t, "good", h)
	require.NoError(t, err, "the record that a killed cluster left behind is not believed")
	require.False(t, third.Attached)
	require.NotEqual(t, first.Info.PID, third.Info.PID)
}

func TestUpTellsWhyItDidNotStart(t *testing.T) {
	_, _, err := up(t, "broken", open(t))
	require.ErrorContains(t, err, "argosy-cluster ended with exit status 7")
	require.ErrorContains(t, err, "no room on the disk")

	_, err = Up(t.Context(), Config{Home: open(t), Program: "/nowhere/argosy-cluster"})
	require.ErrorContains(t, err, "make build")
}

func TestStopKillsWhenTimeIsUp(t *testing.T) {
	c, _, err := up(t, "stubborn", open(t))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, c.Stop(ctx), strconv.Itoa(c.Info.PID))
	<-c.Done()
}

func TestInterruptedStart(t *testing.T) {
	t.Setenv("TEST_CLUSTER", "slow")
	h := open(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Up(ctx, Config{Home: h, Program: os.Args[0], Line: func(string) { cancel(cause) }})
	require.ErrorIs(t, err, cause)
	_, runs := h.Supervisor()
	require.False(t, runs, "what was started is stopped")
}

func TestInfoOfAnotherBuild(t *testing.T) {
	t.Parallel()
	h := open(t)
	require.NoError(t, os.WriteFile(h.Path("cluster", "info.json"), []byte(`{"version":2,"pid":5}`), 0o600))
	_, err := readInfo(h, 5)
	require.ErrorContains(t, err, "not of the same build")
	_, err = readInfo(h, 6)
	require.ErrorContains(t, err, "process 5")
}
