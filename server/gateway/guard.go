package gateway

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/argosy-ml/argosy/server/password"
)

// maxBody bounds every request, in bytes; uploads have a limit of their own below it.
const maxBody = 128 << 20

// policy lets pages use what this server gives and nothing else. Styles may stand in the page, as the UI's components write them.
const policy = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; " +
	"form-action 'self'; frame-ancestors 'none'"

// guarded keeps other web pages out. The server asks for no password on loopback, so a page from anywhere that the user
// opens must not be able to use it: requests that change something are refused when they come from another origin, and
// every request is refused that was sent to a name other than loopback's and the server's own (DNS rebinding).
func guarded(next http.Handler, hosts []string) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusForbidden, codes.PermissionDenied, "a page of another origin ("+r.Header.Get("Origin")+") may not change anything here")
	}))
	checked := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !Loopback(r.Host) && !slices.Contains(hosts, hostname(r.Host)) {
			answersTo := strings.Join(append([]string{"localhost"}, hosts...), ", ")
			writeError(w, http.StatusForbidden, codes.PermissionDenied, "this server answers to "+answersTo+" only, not to "+r.Host)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		checked.ServeHTTP(w, r)
	})
}

// locked lets nobody in who does not know the password. Whether the server is well it tells everybody, as probes ask without one.
func locked(next http.Handler, p password.Password) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/v1beta1/healthz" && !p.Admits(r.Header.Get("Authorization")) {
			w.Header().Set("WWW-Authenticate", `Basic realm="argosy", charset="UTF-8"`)
			writeError(w, http.StatusUnauthorized, codes.Unauthenticated, "this server asks for a password: set ARGOSY_PASSWORD, or send Authorization: Bearer PASSWORD")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Loopback tells whether a host, with or without a port, is this machine seen from itself.
func Loopback(host string) bool {
	host = hostname(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// hostname is the host of a host with or without a port, written in one way.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}
