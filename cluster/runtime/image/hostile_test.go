package image

import (
	"archive/tar"
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who names an image chooses who answers. However much that says, little of it is read.
func TestRegistryThatSaysTooMuch(t *testing.T) {
	t.Parallel()
	const much = 100 << 20
	for name, path := range map[string]string{"an error": "/v2/", "an error of a manifest": "/v2/app/manifests/latest", "a token": "/token"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said atomic.Int64
			var host string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path != path && path == "/token":
					w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+host+`/token"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				case r.URL.Path != path:
					return
				case path != "/token":
					w.WriteHeader(http.StatusTeapot)
				}
				for block := bytes.Repeat([]byte("x"), 1<<20); said.Load() < much; {
					said.Add(int64(len(block)))
					if _, err := w.Write(block); err != nil {
						return
					}
				}
			}))
			t.Cleanup(srv.Close)
			host = strings.TrimPrefix(srv.URL, "http://")
			c := NewClient(nil, nil)
			t.Cleanup(c.Close)
			_, err := newStore(t).Pull(t.Context(), c, parse(t, host+"/app"))
			require.Error(t, err)
			require.Positive(t, said.Load())
			require.Less(t, said.Load(), int64(much))
			require.Less(t, len(err.Error()), 2*maxComplaint)
		})
	}
}

// An archive of a few kilobytes that lists the same again and again is refused before all of that is looked at.
func TestArchiveThatRepeatsItself(t *testing.T) {
	t.Parallel()
	config := `{"architecture":"` + platform.Architecture + `","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`
	repeated := func(entry string) string { return strings.Repeat(entry+",", 3000) + entry }
	list := func(of string) string {
		return `{"manifests":[` + repeated(`{"mediaType":"application/vnd.oci.image.index.v1+json","size":1,"digest":"`+digestOf([]byte(of))+`"}`) + `]}`
	}
	blob := func(content string) tar.Header { return file(blobPath(digestOf([]byte(content))), content) }
	inner := list(`{"manifests":[]}`)
	middle := list(inner)
	for says, archive := range map[string][]byte{
		"more than 1000 images":  tarOf(t, blob(`{"manifests":[]}`), blob(inner), blob(middle), file("index.json", list(middle))),
		"more than 1000 images ": tarOf(t, file("c.json", config), file("manifest.json", `[`+repeated(`{"Config":"c.json"}`)+`]`)),
		"3001 layers":            tarOf(t, file("c.json", config), file("l", "x"), file("manifest.json", `[{"Config":"c.json","Layers":[`+repeated(`"l"`)+`]}]`)),
	} {
		_, err := newStore(t).Load(t.Context(), "-", bytes.NewReader(archive), "x")
		require.ErrorContains(t, err, strings.TrimSpace(says))
	}
}
