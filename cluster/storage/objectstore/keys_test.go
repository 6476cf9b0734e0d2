package objectstore

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

// TestKeysThatClimb: keys that lead out of the bucket's folder are refused by S3's error, whatever asks for them.
func TestKeysThatClimb(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := serveStore(t, dir)
	client := connect(t, store, testKeys.AccessKey, testKeys.SecretKey)
	core := minio.Core{Client: client}
	_, err := client.PutObject(t.Context(), home.Bucket, "k", strings.NewReader("v"), 1, minio.PutObjectOptions{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "outside"), []byte("x"), 0o600))

	for key, code := range map[string]string{
		"..": "InvalidArgument", "../x": "InvalidArgument", "../../outside": "InvalidArgument", "a/../../../x": "InvalidArgument", "a/..": "InvalidArgument", "a/./b": "InvalidArgument",
		"a/" + strings.Repeat("x", 256) + "/b": "KeyTooLongError",
	} {
		for method, header := range map[string]http.Header{
			http.MethodGet: nil, http.MethodHead: nil, http.MethodPut: nil, http.MethodDelete: nil,
			"copy": {"X-Amz-Copy-Source": {"/" + home.Bucket + "/k"}}, "upload": nil,
		} {
			path := "/" + home.Bucket + "/" + key
			switch method {
			case "copy":
				method = http.MethodPut
			case "upload":
				method, path = http.MethodPost, path+"?uploads="
			}
			status, body := signed(t, store.URL, method, path, header)
			require.Equal(t, http.StatusBadRequest, status, "%s %s: %s", method, key, body)
			if method != http.MethodHead {
				require.Contains(t, body, "<Code>"+code+"</Code>", "%s %s", method, key)
			}
		}
	}
	for _, from := range []string{"../outside", "%2e%2e/outside"} {
		status, body := signed(t, store.URL, http.MethodPut, "/"+home.Bucket+"/copy", http.Header{"X-Amz-Copy-Source": {"/" + home.Bucket + "/" + from}})
		require.Equal(t, http.StatusBadRequest, status, "%s: %s", from, body)
	}
	_, err = core.ListObjectsV2(home.Bucket, "../", "", "", "/", 10)
	require.Equal(t, "InvalidArgument", minio.ToErrorResponse(err).Code, "%v", err)
	status, body := signed(t, store.URL, http.MethodGet, "/../x", nil)
	require.Equal(t, http.StatusNotFound, status, body)

	gone, long := make(chan minio.ObjectInfo, 3), strings.Repeat("x", 256)
	gone <- minio.ObjectInfo{Key: "../outside"} // the client hides InvalidArgument
	gone <- minio.ObjectInfo{Key: long}
	gone <- minio.ObjectInfo{Key: "k"}
	close(gone)
	var refused []string
	for e := range client.RemoveObjects(t.Context(), home.Bucket, gone, minio.RemoveObjectsOptions{}) {
		refused = append(refused, e.ObjectName)
	}
	require.Equal(t, []string{long}, refused)
	_, err = client.StatObject(t.Context(), home.Bucket, "k", minio.StatObjectOptions{})
	require.Equal(t, "NoSuchKey", minio.ToErrorResponse(err).Code, "the others are deleted")
	require.FileExists(t, filepath.Join(dir, "outside"))
}

// signed sends a request that clients refuse to send, with a signature.
func signed(t *testing.T, url, method, path string, header http.Header) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
	if header != nil {
		r.Header = header.Clone()
	}
	v, empty := newVerifier(testKeys), sha256.Sum256(nil)
	require.NoError(t, v.signer.SignHTTP(t.Context(), v.keys, r, hex.EncodeToString(empty[:]), "s3", "us-east-1", time.Now()))
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}
