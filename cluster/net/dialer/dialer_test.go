package dialer

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/cluster/net/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// broker serves until the test ends.
func broker(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dial.sock")
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, path, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-served)
	})
	for {
		var answered *Error
		if _, err := DialContext(path)(ctx, "none", ""); errors.As(err, &answered) {
			return path
		}
		select {
		case err := <-served:
			served <- err
			t.Fatal(err)
		default:
		}
	}
}

func TestConnectionsAreHandedOver(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = server.Close() }()
	dial := DialContext(broker(t))
	conn, err := dial(t.Context(), "tcp", strings.Replace(server.Addr().String(), "127.0.0.1", "localhost", 1))
	require.NoError(t, err)
	defer conn.Close()
	other, err := server.Accept()
	require.NoError(t, err)
	defer other.Close()
	require.Equal(t, conn.LocalAddr().String(), other.RemoteAddr().String())

	_, err = conn.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	got, err := io.ReadAll(other)
	require.NoError(t, err, "nobody else has the connection open")
	require.Equal(t, "hello", string(got))
}

func TestUDPKeepsItsPackets(t *testing.T) {
	t.Parallel()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = server.Close() }()
	conn, err := DialContext(broker(t))(t.Context(), "udp", server.LocalAddr().String())
	require.NoError(t, err)
	defer conn.Close()
	for _, p := range []string{"one", "two"} {
		_, err := conn.Write([]byte(p))
		require.NoError(t, err)
	}
	buf := make([]byte, 16)
	for _, want := range []string{"one", "two"} {
		n, _, err := server.ReadFrom(buf)
		require.NoError(t, err)
		require.Equal(t, want, string(buf[:n]))
	}
}

func TestFailuresSayWhy(t *testing.T) {
	t.Parallel()
	closed := nettest.Refusing(t)
	dial := DialContext(broker(t))
	_, err := dial(t.Context(), "tcp", closed)
	require.ErrorContains(t, err, "refused")
	require.ErrorContains(t, err, closed)
	_, err = dial(t.Context(), "unix", "/run/x")
	require.ErrorContains(t, err, "neither TCP nor UDP")
	_, err = DialContext(filepath.Join(t.TempDir(), "none"))(t.Context(), "tcp", closed)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAnAskerMayGiveUp(t *testing.T) {
	t.Parallel()
	path := broker(t)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := DialContext(path)(ctx, "tcp", "192.0.2.77:81") // reserved for documentation
		failed <- err
	}()
	cancel()
	require.Error(t, <-failed)
}

func TestOnlyTheOwnerMayAsk(t *testing.T) {
	t.Parallel()
	st, err := os.Stat(broker(t))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte(`{"network":"unix","address":"/x"}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, question []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is to be reached
		if conn, err := connect(ctx, question); err == nil {
			_ = conn.Close()
			t.Fatalf("%q connected", question)
		}
	})
}
