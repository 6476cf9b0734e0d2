package gateway

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/argosy-ml/argosy/server/access"
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
	origin.SetDenyHandler(http.HandlerFunc(refuseOrigin))
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
		defer paced(w, r)()
		checked.ServeHTTP(w, r)
	})
}

func refuseOrigin(w http.ResponseWriter, r *http.Request) {
	writeError(w, http.StatusForbidden, codes.PermissionDenied, "a page of another origin ("+r.Header.Get("Origin")+") may not do this here")
}

// sameOrigin keeps pages of other origins from what costs the server work although it changes nothing: they cannot read the answer, but
// each image on a page may ask for it.
func sameOrigin(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		strict := r.Clone(r.Context())
		strict.Method = http.MethodPost // a GET would pass
		if origin.Check(strict) != nil {
			refuseOrigin(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var refusalAnswers = map[access.Reason]struct {
	status int
	code   codes.Code
}{
	access.Stranger:   {http.StatusForbidden, codes.PermissionDenied},
	access.NoPassword: {http.StatusUnauthorized, codes.Unauthenticated},
	access.Guessing:   {http.StatusTooManyRequests, codes.ResourceExhausted},
}

// admitted serves the callers that the gate admits. The health check answers every caller, as probes have no password.
func admitted(next http.Handler, gate *access.Gate) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis/v1beta1/healthz" {
			next.ServeHTTP(w, r)
			return
		}
		refusal := gate.Admit(r.Context(), access.CallerFrom(r.Context()), r.Header.Get("Authorization"))
		if refusal == nil {
			next.ServeHTTP(w, r)
			return
		}
		switch refusal.Reason {
		case access.NoPassword:
			w.Header().Set("WWW-Authenticate", `Basic realm="argosy", charset="UTF-8"`)
		case access.Guessing:
			w.Header().Set("Retry-After", fmt.Sprintf("%.0f", refusal.After.Seconds()))
		}
		answer := refusalAnswers[refusal.Reason]
		writeError(w, answer.status, answer.code, refusal.Message)
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
