package node

import (
	"context"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseSubordinate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file  string
		names []string
		want  idRange
		fails string
	}{
		"by name":        {"root:1:1\nann:100000:65536\n", []string{"1000", "ann"}, idRange{100000, 65536}, ""},
		"by id":          {"1000:5:7\n", []string{"1000", "ann"}, idRange{5, 7}, ""},
		"first row wins": {"ann:1:2\nann:3:4\n", []string{"ann"}, idRange{1, 2}, ""},
		"blanks":         {"  ann:1:2  \n\n", []string{"ann"}, idRange{1, 2}, ""},
		"other rows":     {"nonsense\nann:1:2", []string{"ann"}, idRange{1, 2}, ""},
		"not there":      {"bob:1:2\n", []string{"1000", "ann"}, idRange{}, "no range for 1000 or ann"},
		"empty range":    {"ann:1:0\n", []string{"ann"}, idRange{}, "not name:start:count"},
		"not a number":   {"ann:x:1\n", []string{"ann"}, idRange{}, "not name:start:count"},
		"too large":      {"ann:4294967295:2\n", []string{"ann"}, idRange{}, "not name:start:count"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseSubordinate(strings.NewReader(c.file), c.names)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzParseSubordinate(f *testing.F) {
	f.Add("ann:100000:65536\n")
	f.Add("ann:::\n:1:2\nann:-1:4\n")
	f.Fuzz(func(t *testing.T, file string) {
		r, err := parseSubordinate(strings.NewReader(file), []string{"ann"})
		if err == nil && (r.count == 0 || r.start+r.count > 1<<32) {
			t.Fatalf("%q gave the impossible range %+v", file, r)
		}
	})
}

func TestRelayJoinsBothWays(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s.sock")
	server, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer server.Close()
	served := make(chan error, 1)
	go func() {
		c, err := server.Accept()
		if err != nil {
			served <- err
			return
		}
		defer c.Close()
		// Answers only when the other end has finished: half a connection must be able to close.
		all, err := io.ReadAll(c)
		if err == nil {
			_, err = c.Write(append([]byte("echo "), all...))
		}
		served <- err
	}()
	r := &relays{log: slog.New(slog.DiscardHandler)}
	require.NoError(t, r.start(t.Context(), "127.0.0.1:0", socket))
	defer r.stop()
	c, err := net.Dial("tcp", r.listeners[0].Addr().String())
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "echo hello", string(answer))
	require.NoError(t, <-served)
}

func TestRelayClosesWhenNobodyAnswers(t *testing.T) {
	t.Parallel()
	r := &relays{log: slog.New(slog.DiscardHandler)}
	require.NoError(t, r.start(t.Context(), "127.0.0.1:0", filepath.Join(t.TempDir(), "none.sock")))
	defer r.stop()
	c, err := net.Dial("tcp", r.listeners[0].Addr().String())
	require.NoError(t, err)
	defer c.Close()
	_, err = io.ReadAll(c)
	require.NoError(t, err)
}

func TestRelayEndsOpenConnections(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s.sock")
	server, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &relays{log: slog.New(slog.DiscardHandler)}
	require.NoError(t, r.start(ctx, "127.0.0.1:0", socket))
	c, err := net.Dial("tcp", r.listeners[0].Addr().String())
	require.NoError(t, err)
	defer c.Close()
	other, err := server.Accept()
	require.NoError(t, err)
	defer other.Close()
	cancel()
	r.stop()
	_, err = io.ReadAll(other)
	require.NoError(t, err)
}
