package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
)

// pipes is a listener whose connections lie in memory, so that their deadlines follow the test's clock.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// serveMemory serves a handler behind guarded, and gives a connection to it.
func serveMemory(t *testing.T, handler http.HandlerFunc) net.Conn {
	t.Helper()
	listener := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{IdleTimeout: time.Hour, Handler: guarded(handler, nil)} //nolint:gosec // a test
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	client, end := net.Pipe()
	listener.accepted <- end
	t.Cleanup(func() {
		client.Close()
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return client
}

// read answers with how much of the body came, as the server's handlers do.
func read(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		writeError(w, http.StatusBadRequest, codes.InvalidArgument, err.Error())
		return
	}
	fmt.Fprint(w, n)
}

// drip sends a body in pieces with a pause after each, until all is sent or the server has ended the connection.
func drip(c net.Conn, size, piece int, pause time.Duration) {
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", size)
	for sent := 0; sent < size; sent += piece {
		if _, err := c.Write(bytes.Repeat([]byte("x"), min(piece, size-sent))); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

func answerOf(t *testing.T, c net.Conn) (int, string) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}

func TestDrippingBody(t *testing.T) {
	t.Parallel()
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	for name, c := range map[string]struct {
		handler     http.HandlerFunc
		size, piece int
		pause       time.Duration
		status      int
		within      time.Duration
	}{
		"a byte a second":           {read, 1 << 20, 1, time.Second, 400, 31 * time.Second},
		"a pause of a minute":       {read, 1 << 20, 1 << 19, time.Minute, 400, 31 * time.Second},
		"half the rate":             {read, 1 << 30, minRate, 2 * time.Second, 400, 2 * bodyPause},
		"twice the rate":            {read, 4 << 20, 2 * minRate, time.Second, 200, time.Hour},
		"with pauses":               {read, 4 << 20, 1 << 20, 20 * time.Second, 200, time.Hour},
		"refused before it is read": {refuse, 1 << 17, 1, time.Second, 401, 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn := serveMemory(t, c.handler)
				begin := time.Now()
				sent := make(chan struct{})
				go func() { drip(conn, c.size, c.piece, c.pause); close(sent) }()
				status, body := answerOf(t, conn)
				require.Equal(t, c.status, status, body)
				require.LessOrEqual(t, time.Since(begin), c.within)
				if status == 400 {
					require.Contains(t, body, "the body came too slowly")
				}
				conn.Close()
				<-sent
			})
		})
	}
}

// TestSlowAnswers: what bounds the bodies of requests bounds no answer, and nothing of the connection's next request.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := serveMemory(t, func(w http.ResponseWriter, r *http.Request) {
			read(w, r)
			for range 60 { // as a log that is followed
				select {
				case <-r.Context().Done():
					return
				case <-time.After(time.Minute):
				}
				fmt.Fprint(w, ".")
				http.NewResponseController(w).Flush() //nolint:errcheck // the client sees
			}
		})
		for range 2 {
			go drip(conn, 10, 10, 0)
			_, body := answerOf(t, conn)
			require.Equal(t, "10"+string(bytes.Repeat([]byte("."), 60)), body)
			time.Sleep(time.Minute)
		}
	})
}
