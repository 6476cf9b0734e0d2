package objectstore

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

var testKeys = home.S3{AccessKey: "access", SecretKey: "secret", Bucket: home.Bucket}

// Keys that need care in a canonical request are among the names.
func TestObjectsComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	store := serveStore(t, t.TempDir())
	client := connect(t, store, testKeys.AccessKey, testKeys.SecretKey)
	for _, key := range []string{"artifacts/wf-1/pod-2/main.tgz", "a b/ü+=&?#%41.txt", "logs/~x(1)'*!.log"} {
		for _, size := range []int{0, 1, 1 << 20, 20 << 20} { // the last one goes in parts
			want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			_, err := client.PutObject(t.Context(), home.Bucket, key, bytes.NewReader(want), int64(size), minio.PutObjectOptions{})
			require.NoError(t, err, "%s %d", key, size)
			require.True(t, bytes.Equal(want, read(t, client, key)), "%s %d", key, size)
		}
	}
	var listed []string
	for o := range client.ListObjects(t.Context(), home.Bucket, minio.ListObjectsOptions{Prefix: "artifacts/", Recursive: true}) {
		require.NoError(t, o.Err)
		listed = append(listed, o.Key)
	}
	require.Equal(t, []string{"artifacts/wf-1/pod-2/main.tgz"}, listed)
	require.NoError(t, client.RemoveObject(t.Context(), home.Bucket, listed[0], minio.RemoveObjectOptions{}))
	_, err := client.StatObject(t.Context(), home.Bucket, listed[0], minio.StatObjectOptions{})
	require.Equal(t, "NoSuchKey", minio.ToErrorResponse(err).Code)
}

func TestNothingIsListedWhereNothingIs(t *testing.T) {
	t.Parallel()
	client := connect(t, serveStore(t, t.TempDir()), testKeys.AccessKey, testKeys.SecretKey)
	for _, o := range []minio.ListObjectsOptions{{Prefix: "none/"}, {Prefix: "none/below/x"}, {Prefix: "none/", Recursive: true}, {}} {
		for object := range client.ListObjects(t.Context(), home.Bucket, o) {
			require.NoError(t, object.Err, "%+v", o)
			t.Fatalf("%+v: there is %s", o, object.Key)
		}
	}
	for object := range client.ListObjects(t.Context(), "another", minio.ListObjectsOptions{Prefix: "none/"}) {
		require.Equal(t, "NoSuchBucket", minio.ToErrorResponse(object.Err).Code)
	}
	_, err := client.StatObject(t.Context(), home.Bucket, "none/below/x", minio.StatObjectOptions{})
	require.Equal(t, "NoSuchKey", minio.ToErrorResponse(err).Code)
}

func TestObjectsOutliveTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	client := connect(t, serveStore(t, dir), testKeys.AccessKey, testKeys.SecretKey)
	_, err := client.PutObject(t.Context(), home.Bucket, "k", strings.NewReader("v"), 1, minio.PutObjectOptions{})
	require.NoError(t, err)
	client = connect(t, serveStore(t, dir), testKeys.AccessKey, testKeys.SecretKey)
	require.Equal(t, "v", string(read(t, client, "k")))
}

func TestWrongKeysAreRefused(t *testing.T) {
	t.Parallel()
	store := serveStore(t, t.TempDir())
	for code, keys := range map[string][2]string{
		"SignatureDoesNotMatch": {testKeys.AccessKey, "guess"},
		"InvalidAccessKeyId":    {"guess", testKeys.SecretKey},
	} {
		_, err := connect(t, store, keys[0], keys[1]).PutObject(t.Context(), home.Bucket, "k", strings.NewReader("v"), 1, minio.PutObjectOptions{})
		require.Equal(t, code, minio.ToErrorResponse(err).Code, "%v", err)
		_, err = connect(t, store, keys[0], keys[1]).ListBuckets(t.Context())
		require.Equal(t, code, minio.ToErrorResponse(err).Code, "%v", err)
	}
}

func TestUnsignedIsRefused(t *testing.T) {
	t.Parallel()
	store := serveStore(t, t.TempDir())
	for _, header := range []string{"", "Bearer x", algorithm, algorithm + " Credential=access/20260101/r/s3/aws4_request, SignedHeaders=host, Signature=00"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, store.URL+"/"+home.Bucket, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusForbidden, resp.StatusCode, header)
		require.Contains(t, string(body), "<Error>")
	}
}

// What came only in part, or changed on its way, must not replace what was there.
func TestBrokenUploadLeavesTheObjectAsItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, err := Handler(dir, testKeys)
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	client := connect(t, srv, testKeys.AccessKey, testKeys.SecretKey)
	_, err = client.PutObject(t.Context(), home.Bucket, "k", strings.NewReader("whole"), 5, minio.PutObjectOptions{})
	require.NoError(t, err)

	store := complete(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it reached the store") }), t.TempDir())
	for name, r := range map[string]*http.Request{
		"breaks off": {Body: io.NopCloser(strings.NewReader("ha")), ContentLength: 4},
		"other bytes": {
			Body: io.NopCloser(strings.NewReader("evil")), ContentLength: 4,
			Header: http.Header{payloadHash: {strings.Repeat("0", sha256HexChars)}},
		},
		"last chunk is missing": {
			Body: io.NopCloser(strings.NewReader("4;chunk-signature=00\r\nhalf\r\n")), ContentLength: 100,
			Header: http.Header{payloadHash: {streaming + "AWS4-HMAC-SHA256-PAYLOAD"}, decodedLength: {"8"}},
		},
		"no length": {
			Body: io.NopCloser(strings.NewReader("0;chunk-signature=00\r\n\r\n")), ContentLength: -1,
			Header: http.Header{payloadHash: {streaming + "AWS4-HMAC-SHA256-PAYLOAD"}},
		},
	} {
		r.Method = http.MethodPut
		if r.Header == nil {
			r.Header = http.Header{}
		}
		w := httptest.NewRecorder()
		store.ServeHTTP(w, r)
		require.Equal(t, http.StatusBadRequest, w.Code, name)
	}
	require.Equal(t, "whole", string(read(t, client, "k")))
}

func TestUploadInParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	core := minio.Core{Client: connect(t, serveStore(t, dir), testKeys.AccessKey, testKeys.SecretKey)}
	id, err := core.NewMultipartUpload(t.Context(), home.Bucket, "big", minio.PutObjectOptions{})
	require.NoError(t, err)
	put := func(n int, body string) minio.CompletePart {
		p, err := core.PutObjectPart(t.Context(), home.Bucket, "big", id, n, strings.NewReader(body), int64(len(body)), minio.PutObjectPartOptions{})
		require.NoError(t, err)
		return minio.CompletePart{PartNumber: n, ETag: p.ETag}
	}
	second := put(2, "two")
	put(1, "wrong")
	first := put(1, "one ") // again, as a client does after a timeout
	listed, err := core.ListObjectParts(t.Context(), home.Bucket, "big", id, 0, 10)
	require.NoError(t, err)
	require.Len(t, listed.ObjectParts, 2)

	_, err = core.CompleteMultipartUpload(t.Context(), home.Bucket, "big", id,
		[]minio.CompletePart{first, {PartNumber: 2, ETag: first.ETag}}, minio.PutObjectOptions{})
	require.Equal(t, "InvalidPart", minio.ToErrorResponse(err).Code)
	_, err = core.CompleteMultipartUpload(t.Context(), home.Bucket, "big", id, []minio.CompletePart{first, second}, minio.PutObjectOptions{})
	require.NoError(t, err)
	require.Equal(t, "one two", string(read(t, core.Client, "big")))

	id, err = core.NewMultipartUpload(t.Context(), home.Bucket, "never", minio.PutObjectOptions{})
	require.NoError(t, err)
	require.NoError(t, core.AbortMultipartUpload(t.Context(), home.Bucket, "never", id))
	_, err = core.ListObjectParts(t.Context(), home.Bucket, "never", id, 0, 10)
	require.Equal(t, "NoSuchUpload", minio.ToErrorResponse(err).Code)
	left, err := os.ReadDir(filepath.Join(dir, "uploads"))
	require.NoError(t, err)
	require.Empty(t, left, "parts go with their upload")
}

// A signature is good for what was signed and for a while.
func TestSignatureCoversTheRequest(t *testing.T) {
	t.Parallel()
	signed := capture(t)
	v := newVerifier(testKeys)
	at, err := time.Parse("20060102T150405Z", signed.Header.Get("X-Amz-Date"))
	require.NoError(t, err)
	code, err := v.verify(signed.Clone(t.Context()), at)
	require.NoError(t, err, code)

	for want, change := range map[string]func(*http.Request){
		"method": func(r *http.Request) { r.Method = http.MethodDelete },
		"path":   func(r *http.Request) { r.URL.Path = "/mlpipeline/other" },
		"query":  func(r *http.Request) { r.URL.RawQuery = "uploads=" },
		"host":   func(r *http.Request) { r.Host = "elsewhere" },
		"header": func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") },
	} {
		r := signed.Clone(t.Context())
		change(r)
		code, err := v.verify(r, at)
		require.Error(t, err, want)
		require.Equal(t, "SignatureDoesNotMatch", code, want)
	}
	for _, skew := range []time.Duration{-maxSkew - time.Second, maxSkew + time.Second} {
		code, err := v.verify(signed.Clone(t.Context()), at.Add(skew))
		require.Error(t, err)
		require.Equal(t, "RequestTimeTooSkewed", code)
	}
}

func TestKeysAreMadeOnce(t *testing.T) {
	t.Parallel()
	h, err := home.Open(t.TempDir())
	require.NoError(t, err)
	first, err := Keys(h)
	require.NoError(t, err)
	require.NotEmpty(t, first.AccessKey)
	require.GreaterOrEqual(t, len(first.SecretKey), 40)
	again, err := Keys(h)
	require.NoError(t, err)
	require.Equal(t, first, again)
	st, err := os.Stat(h.ObjectKeys())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode().Perm())

	require.NoError(t, os.WriteFile(h.ObjectKeys(), []byte("{}"), 0o600))
	_, err = Keys(h)
	require.ErrorContains(t, err, "holds no keys")
}

func FuzzParseAuthorization(f *testing.F) {
	f.Add(algorithm + " Credential=access/20260101/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=00")
	f.Add(algorithm + " Credential=////,Signature=")
	f.Add("AWS access:signature")
	v := newVerifier(testKeys)
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest(http.MethodGet, "/mlpipeline/k", nil)
		r.Header.Set("Authorization", header)
		r.Header.Set("X-Amz-Date", "20260101T000000Z")
		if _, err := v.verify(r, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
			t.Fatalf("%q was let in", header)
		}
	})
}

// capture is a request as a real client signs it.
func capture(t *testing.T) *http.Request {
	t.Helper()
	got := make(chan *http.Request, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Clone(context.Background())
	}))
	t.Cleanup(srv.Close)
	_, _ = connect(t, srv, testKeys.AccessKey, testKeys.SecretKey).StatObject(t.Context(), home.Bucket, "k", minio.StatObjectOptions{})
	return <-got
}

func serveStore(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	h, err := Handler(dir, testKeys)
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func connect(t *testing.T, srv *httptest.Server, access, secret string) *minio.Client {
	t.Helper()
	c, err := minio.New(strings.TrimPrefix(srv.URL, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(access, secret, ""), Region: "us-east-1", MaxRetries: 1,
	})
	require.NoError(t, err)
	return c
}

func read(t *testing.T, c *minio.Client, key string) []byte {
	t.Helper()
	o, err := c.GetObject(t.Context(), home.Bucket, key, minio.GetObjectOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, o.Close()) }()
	b, err := io.ReadAll(o)
	require.NoError(t, err)
	return b
}
