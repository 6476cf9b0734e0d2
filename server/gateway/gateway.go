// Package gateway is the HTTP side of the server: the REST form of the gRPC services, and what has no gRPC form: uploads,
// log streams, server-sent events, the OpenAPI document and the web UI.
package gateway

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/proto"
	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
)

// Config is what the gateway serves; all of it is required but UI, Hosts and Measures.
type Config struct {
	API       *api.API
	Pipelines *pipeline.Service
	Runs      *run.Service
	Watcher   *eventstream.Watcher
	UI        fs.FS        // with index.html at its root; nil: a page that says how to build the UI
	Hosts     []string     // names, in lower case and without a port, that the server answers to beside localhost
	Gate      *access.Gate // that admits callers; connections need access.WithCaller
	Log       *slog.Logger
	Measures  *Measures // that /metrics shows, with those of requests; nil: these alone
	// Streams ends the logs and events that are being followed, which would otherwise hold up the end of the server.
	Streams context.Context //nolint:containedctx // the life of the server, not of a call
}

type gateway struct {
	Config
	mux *runtime.ServeMux
}

// New makes the handler for everything on the HTTP port.
func New(c Config) (http.Handler, error) {
	if c.Measures == nil {
		c.Measures = NewMeasures(Gauges{})
	}
	g := &gateway{Config: c}
	g.mux = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, newMarshaler()),
		runtime.WithIncomingHeaderMatcher(everyHeader),
		runtime.WithErrorHandler(g.refuse),
		runtime.WithRoutingErrorHandler(plainError),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithMiddlewares(routed),
		runtime.WithUnescapingMode(runtime.UnescapingModeAllExceptReserved), // names of metrics have slashes in them
	)
	if err := c.API.Route(context.Background(), g.mux); err != nil {
		return nil, fmt.Errorf("REST routes: %w", err)
	}
	document, err := yaml.YAMLToJSON(proto.OpenAPI)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	page, err := docs(document)
	if err != nil {
		return nil, fmt.Errorf("the page of the OpenAPI document: %w", err)
	}

	top := http.NewServeMux()
	top.Handle("/apis/", g.mux)
	top.HandleFunc("POST /apis/v1beta1/pipelines/upload", g.uploadPipeline)
	top.HandleFunc("POST /apis/v1beta1/pipelines/upload_version", g.uploadVersion)
	top.HandleFunc("GET /apis/v1alpha1/runs/{run}/nodes/{node}/log", g.log)
	top.HandleFunc("GET /apis/v1beta1/runs/{run}/nodes/{node}/log", g.log)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/nodes/{node}/log", g.ownLog)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/nodes/{node}/log:search", g.searchLog)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/nodes/{node}/log:merge", g.mergeLogs)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/nodes/{node}/logs", g.listLogs)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/nodes/{node}/artifacts/{artifact}", g.downloadArtifact) // NAME:download
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/logs", g.listLogs)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/log:search", g.searchLog)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/log:merge", g.mergeLogs)
	top.HandleFunc("GET /apis/argosy/v1/runs/{run}/events", g.runEvents)
	top.HandleFunc("GET /apis/argosy/v1/events", g.allEvents)
	top.HandleFunc("GET /apis/openapi.yaml", serve("application/yaml", proto.OpenAPI))
	top.HandleFunc("GET /apis/docs", serve("text/html; charset=utf-8", page))
	top.HandleFunc("GET /apis/openapi.json", serve("application/json", document))
	top.Handle("GET /metrics", sameOrigin(c.Measures.handler()))
	top.Handle("GET /debug/pprof/", sameOrigin(profiles()))
	top.Handle("/", ui(c.UI))
	return c.Measures.measured(g.recovered(guarded(admitted(top, c.Gate), c.Hosts))), nil
}
