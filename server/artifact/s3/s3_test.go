package s3_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/artifact/s3"
)

// open makes a store on a server that answers as given. The end-to-end test uses a whole one; this is about what its answers mean.
func open(t *testing.T, answer http.HandlerFunc) *s3.Store {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("location") {
			fmt.Fprint(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	s, err := s3.New(s3.Config{Endpoint: strings.TrimPrefix(server.URL, "http://"), AccessKey: "key", SecretKey: "secret", Bucket: "mlpipeline"})
	require.NoError(t, err)
	return s
}

func TestObjects(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 1)
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mlpipeline/runs/a/main.log.gz" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("ETag", `"0"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		switch r.Method {
		case http.MethodPut:
			body, _ := io.ReadAll(r.Body)
			bodies <- string(body)
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		default:
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("content"))
		}
	})
	const key = "runs/a/main.log.gz"
	require.NoError(t, s.Put(t.Context(), key, strings.NewReader("content"), 7))
	require.Contains(t, <-bodies, "content")
	r, err := s.Get(t.Context(), key)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, "content", string(got))
	require.NoError(t, s.Delete(t.Context(), key))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	answer := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>m</Message></Error>`, code)
		}
	}
	missing := open(t, answer(http.StatusNotFound, "NoSuchKey"))
	_, err := missing.Get(t.Context(), "k")
	require.Equal(t, apierr.NotFound, apierr.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "the artifact store has no k")
	require.NoError(t, missing.Delete(t.Context(), "k"))

	denied := open(t, answer(http.StatusForbidden, "AccessDenied"))
	_, err = denied.Get(t.Context(), "k")
	require.Equal(t, apierr.Internal, apierr.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "refuses to read k")

	s, err := s3.New(s3.Config{Endpoint: "127.0.0.1:1", AccessKey: "a", SecretKey: "b", Bucket: "mlpipeline"})
	require.NoError(t, err)
	_, err = s.Get(t.Context(), "k")
	require.Equal(t, apierr.Unavailable, apierr.KindOf(err), "%v", err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = s.Get(ctx, "k")
	require.Equal(t, apierr.Unavailable, apierr.KindOf(err), "%v", err)

	_, err = s3.New(s3.Config{Endpoint: "http://"})
	require.Error(t, err)
}
