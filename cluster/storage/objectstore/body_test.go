package objectstore

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConnectionAfterAnEmptyUpload uploads nothing in signed chunks, whose last bytes come after the chunk that ends them, and then
// asks again on the same connection.
func TestConnectionAfterAnEmptyUpload(t *testing.T) {
	t.Parallel()
	stored := make(chan int64, 1)
	srv := httptest.NewServer(complete(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			stored <- r.ContentLength
		}
	}), t.TempDir()))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	answers := bufio.NewReader(conn)
	send := func(text string) {
		_, err := io.WriteString(conn, text)
		require.NoError(t, err)
	}
	answer := func() int {
		resp, err := http.ReadResponse(answers, nil)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}

	send("PUT /bucket/empty HTTP/1.1\r\nHost: s3\r\nContent-Length: 25\r\nX-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\n" +
		"X-Amz-Decoded-Content-Length: 0\r\n\r\n0;chunk-signature=abc\r\n")
	require.Zero(t, <-stored)
	send("\r\n")
	require.Equal(t, http.StatusOK, answer())
	send("GET /bucket/empty HTTP/1.1\r\nHost: s3\r\n\r\n")
	require.Equal(t, http.StatusOK, answer())
}
