package s3

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"
)

// oss is a service behind a RoundTripper.
type oss struct {
	host string
	mu   sync.Mutex
	kept map[string]string
}

func (o *oss) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := httptest.NewRecorder()
	w.Header().Set("ETag", `"0"`)
	w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT")
	switch {
	case r.URL.Host != o.host, strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING"):
		w.WriteHeader(http.StatusForbidden) // to OSS a bucket in the path is SecondLevelDomainForbidden, and a signed chunk NotImplemented
	case r.URL.Query().Has("location"):
		fmt.Fprint(w, "<LocationConstraint>oss-cn-hangzhou</LocationConstraint>")
	case r.Method == http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		o.kept[r.URL.Path] = string(body)
	default:
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(o.kept[r.URL.Path]))
	}
	return w.Result(), nil
}

// OSS takes S3's requests with the bucket in the host's name alone, and no bodies in signed chunks.
func TestOSS(t *testing.T) {
	t.Parallel()
	c := Config{Endpoint: "oss-cn-hangzhou.aliyuncs.com", AccessKey: "key", SecretKey: "secret", Bucket: "mlpipeline", Secure: true}
	service := &oss{host: "mlpipeline." + c.Endpoint, kept: map[string]string{}}
	o := c.options()
	o.Transport = service
	client, err := minio.New(c.Endpoint, o)
	require.NoError(t, err)
	s := &Store{client: client, bucket: c.Bucket}
	require.NoError(t, s.Put(t.Context(), "runs/a/main.log.gz", strings.NewReader("content"), 7))
	require.Equal(t, map[string]string{"/runs/a/main.log.gz": "content"}, service.kept)
	r, err := s.Get(t.Context(), "runs/a/main.log.gz")
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, "content", string(got))
}
