package gateway

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
)

// How slowly a body may come: the client may pause for bodyPause, and has to make up for it at minRate afterwards.
const (
	bodyPause = 30 * time.Second
	minRate   = 4 << 10 // bytes a second
)

// paced gives up on a request whose body comes too slowly, so that clients cannot hold connections and memory for nothing. The returned
// function is for the end of the request, when the server reads what the handler has left of the body. Answers may take any time.
func paced(w http.ResponseWriter, r *http.Request) (end func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	b := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), left: bodyPause}
	r.Body = b
	return func() {
		if !b.over {
			b.control.SetReadDeadline(time.Now().Add(b.left)) //nolint:errcheck // a connection that is gone reads nothing
		}
	}
}

type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	left    time.Duration // that the client may let us wait
	over    bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	begin := time.Now()
	if err := b.control.SetReadDeadline(begin.Add(b.left)); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.left = min(bodyPause, b.left-time.Since(begin)+time.Duration(n)*time.Second/minRate)
	switch {
	case errors.Is(err, io.EOF):
		b.over = true // from here on the connection is read only to see whether the client is still there
		if derr := b.control.SetReadDeadline(time.Time{}); derr != nil {
			return n, derr
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = apierr.New(apierr.Invalid, "the body came too slowly: nothing for %s, or less than %d KiB/s; send it again over a faster connection", bodyPause, minRate>>10)
	}
	return n, err
}
