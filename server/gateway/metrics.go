package gateway

import (
	"context"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// measures are the server's, in Prometheus' format. No label carries users' text: routes appear as
// their patterns, and all unknown HTTP methods as one.
type measures struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	open     prometheus.Gauge
	writes   *prometheus.HistogramVec
}

// Measures is what the server tells of itself.
type Measures struct{ measures }

// NewMeasures makes measures that read gauges.
func NewMeasures(g Gauges) *Measures { return &Measures{newMeasures(g)} }

// Write notes a change of the store.
func (m *Measures) Write(took time.Duration, failed bool) {
	m.writes.WithLabelValues(strconv.FormatBool(failed)).Observe(took.Seconds())
}

func newMeasures(g Gauges) measures {
	m := measures{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "argosy_http_request_duration_seconds", Help: "How long requests took, by route and code; streams count until they end.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "route", "code"}),
		writes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "argosy_store_write_duration_seconds", Help: "How long changes of the store took, waiting for their turn included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}, []string{"failed"}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{Name: "argosy_http_requests_open", Help: "Requests and streams under way."}),
	}
	m.registry.MustRegister(m.requests, m.open, m.writes, g, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler answers with all that is measured.
func (m *measures) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4})
}

// observe notes a request that ended.
func (m *measures) observe(r *http.Request, status int, rest string, took time.Duration) {
	if status == 0 {
		status = http.StatusOK
	}
	method := r.Method
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	m.requests.WithLabelValues(method, route(r, rest), strconv.Itoa(status)).Observe(took.Seconds())
}

// profiles serves Go's profiles.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// routeKey is where routed leaves the pattern of a REST method for the request's observers.
type routeKey struct{}

// routed notes which REST method a request is for.
func routed(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, parameters map[string]string) {
		if note, ok := r.Context().Value(routeKey{}).(*string); ok {
			if pattern, ok := runtime.HTTPPattern(r.Context()); ok {
				*note = pattern.String()
			}
		}
		next(w, r, parameters)
	}
}

// route names what a request was for by the pattern that it matched, never by its path.
func route(r *http.Request, rest string) string {
	pattern := r.Pattern
	if _, after, found := strings.Cut(pattern, " "); found {
		pattern = after
	}
	switch {
	case pattern == "/apis/" && rest != "":
		return rest
	case pattern == "" || pattern == "/apis/":
		return "none"
	case pattern == "/":
		return "ui"
	}
	return pattern
}

// measured counts the requests that next answers.
func (m *measures) measured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, start, a := "", time.Now(), &answer{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), routeKey{}, &rest))
		m.open.Inc()
		defer func() { // also when next panics
			m.open.Dec()
			m.observe(r, a.status, rest, time.Since(start))
		}()
		next.ServeHTTP(a, r)
	})
}
