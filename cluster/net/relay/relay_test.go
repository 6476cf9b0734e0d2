package relay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/net/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRelayCarriesBothWaysAndHalfCloses(t *testing.T) {
	t.Parallel()
	path := start(t, counter(t))
	for range 3 {
		c, err := net.Dial("unix", path)
		require.NoError(t, err)
		_, err = c.Write([]byte("question"))
		require.NoError(t, err)
		require.NoError(t, c.(*net.UnixConn).CloseWrite()) // the server answers only after it has seen the end
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Equal(t, "8 bytes", string(answer))
		require.NoError(t, c.Close())
	}
}

func TestSocketBelongsToItsOwner(t *testing.T) {
	t.Parallel()
	st, err := os.Stat(start(t, counter(t)))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())
}

func TestRefusedAddressClosesTheConnection(t *testing.T) {
	t.Parallel()
	c, err := net.Dial("unix", start(t, nettest.Refusing(t)))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(5*time.Minute)))
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

// Open connections must not keep a relay from ending.
func TestEndClosesConnections(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	address := counter(t)
	go func() { ended <- Serve(ctx, path, address, slog.New(slog.DiscardHandler)) }()
	c := dial(t, path)
	defer c.Close()
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(5*time.Minute)))
	_, err := io.ReadAll(c) // the end or a reset, but not the time limit
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

// exhausted is a listener of a process that has no descriptor left at first.
type exhausted struct {
	net.Listener
	once sync.Once
}

func (e *exhausted) Accept() (_ net.Conn, err error) {
	e.once.Do(func() { err = &net.OpError{Op: "accept", Err: unix.EMFILE} })
	if err != nil {
		return nil, err
	}
	return e.Listener.Accept()
}

// Without descriptors nothing is accepted, and nothing ends either: connections wait until there are some again.
func TestAcceptOutlivesExhaustion(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Accept(ctx, &exhausted{Listener: l}, slog.New(slog.DiscardHandler), func(_ context.Context, c net.Conn) { _ = c.Close() })
	}()
	c, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	_, err = io.ReadAll(c) // to the end, which says that it was served
	require.NoError(t, err)
	require.NoError(t, c.Close())
	cancel()
	<-done
}

// start runs a relay and returns its socket once it accepts.
func start(t *testing.T, address string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, path, address, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	c := dial(t, path).(*net.UnixConn)
	require.NoError(t, c.CloseWrite())
	_, err := io.ReadAll(c) // to the end: it was accepted, and so the socket is as it is to be
	require.NoError(t, err)
	require.NoError(t, c.Close())
	return path
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	var c net.Conn
	require.Eventually(t, func() (ok bool) {
		var err error
		c, err = net.Dial("unix", path)
		return err == nil
	}, 5*time.Minute, time.Millisecond)
	return c
}

// counter is a server that reads everything and then says how much it was.
func counter(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b, _ := io.ReadAll(c)
			if len(b) > 0 {
				_, _ = fmt.Fprintf(c, "%d bytes", len(b))
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}
