package api

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
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

	here, err := ParseSources("127.0.0.0/8, ::1")
	require.NoError(t, err)
	allowed := newFetcher(here)
	for _, path := range []string{"/dir/p.yaml", "/moved"} {
		u, err := allowed.fetch(t.Context(), site.URL+path)
		require.NoError(t, err)
		require.Equal(t, "kind: Workflow", string(u.Data))
	}
	for url, says := range map[string]string{
		site.URL + "/missing":      "404",
		site.URL + "/large":        "32 MiB",
		"":                         "not an http or https",
		"file:///etc/passwd":       "not an http or https",
		"http://":                  "not an http or https",
		"http://x.invalid/p":       "cannot be read",
		"http://u:secret@%zz":      "not an http or https",
		"http://u:secret@[::1]:1/": "cannot be read",
	} {
		_, err := allowed.fetch(t.Context(), url)
		require.ErrorContains(t, err, says, url)
		require.Equal(t, apierr.Invalid, apierr.KindOf(err), url)
	}
	_, err = allowed.fetch(t.Context(), "http://u:secret@[::1]:1/")
	require.NotContains(t, err.Error(), "secret")

	_, err = newFetcher(Sources{}).fetch(t.Context(), site.URL+"/dir/p.yaml")
	require.ErrorContains(t, err, "not on the public internet; upload the file instead, or start the server with --import-from 127.0.0.1 (ARGOSY_IMPORT_FROM)")
	require.Equal(t, apierr.Invalid, apierr.KindOf(err))
}

// A host is allowed by the name in the URL; the target of a redirect must be allowed by its own name.
func TestSources(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://"+r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()+"/p.yaml", http.StatusFound)
			return
		}
		w.Write([]byte("kind: Workflow")) //nolint:errcheck // the test sees what arrives
	}))
	defer site.Close()
	byName := strings.Replace(site.URL, "127.0.0.1", "LocalHost", 1)
	for list, want := range map[string][]bool{ // by address, by name, by name and from there by address
		"":                       {false, false, false},
		"10.0.0.0/8,192.168.1.1": {false, false, false},
		" localhost , ":          {false, true, false},
		"127.0.0.1":              {true, true, true},
		"127.0.0.0/8,::1":        {true, true, true},
	} {
		sources, err := ParseSources(list)
		require.NoError(t, err, list)
		for i, url := range []string{site.URL + "/p.yaml", byName + "/p.yaml", byName + "/away"} {
			_, err := newFetcher(sources).fetch(t.Context(), url)
			require.Equal(t, want[i], err == nil, "%q: %s: %v", list, url, err)
		}
	}
	for _, bad := range []string{"http://host", "10.0.0.0/40", "host:80", "a b"} {
		_, err := ParseSources(bad)
		require.ErrorContains(t, err, "neither a network, such as 10.0.0.0/8, nor the name of a host", bad)
	}
}
