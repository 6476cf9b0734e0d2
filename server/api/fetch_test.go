package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "::ffff:93.184.216.34": true,
		"127.0.0.1": false, "::1": false, "0.0.0.0": false, "0.1.2.3": false, "::": false, "10.0.0.1": false, "172.16.0.1": false,
		"192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"fc00::1": false, "fe80::1": false, "::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "198.18.0.1": false,
	} {
		require.Equal(t, want, public(netip.MustParseAddr(address)), address)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/dir/p.yaml", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("kind: Workflow")) })                //nolint:errcheck // the test sees what arrives
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { w.Write(bytes.Repeat([]byte("#"), pkgfile.MaxSize+1)) }) //nolint:errcheck // the test sees what arrives
	mux.Handle("/moved", http.RedirectHandler("/dir/p.yaml", http.StatusFound))
	site := httptest.NewServer(mux)
	defer site.Close()

	allowed := newFetcher(true)
	for _, path := range []string{"/dir/p.yaml", "/moved"} {
		u, err := allowed.fetch(t.Context(), site.URL+path)
		require.NoError(t, err)
		require.Equal(t, "kind: Workflow", string(u.Data))
	}
	for url, says := range map[string]string{
		site.URL + "/missing":      "404",
		site.URL + "/large":        "32 MiB",
		"":                         "no http or https",
		"file:///etc/passwd":       "no http or https",
		"http://":                  "no http or https",
		"http://x.invalid/p":       "cannot be read",
		"http://u:secret@%zz":      "no http or https",
		"http://u:secret@[::1]:1/": "cannot be read",
	} {
		_, err := allowed.fetch(t.Context(), url)
		require.ErrorContains(t, err, says, url)
		require.Equal(t, fault.Invalid, fault.KindOf(err), url)
	}
	_, err := allowed.fetch(t.Context(), "http://u:secret@[::1]:1/")
	require.NotContains(t, err.Error(), "secret")

	_, err = newFetcher(false).fetch(t.Context(), site.URL+"/dir/p.yaml")
	require.ErrorContains(t, err, "not on the public internet")
	require.Equal(t, fault.Invalid, fault.KindOf(err))
}
