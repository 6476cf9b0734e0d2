// Package api is the gRPC side of the server: the services of Kubeflow Pipelines v1 (package api on the wire) and
// Argosy's own (argosy.v1). It turns wire messages into domain types and back, and does nothing else.
package api

import (
	"context"
	"errors"
	"log/slog"
	"math"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	wire "github.com/argosy-ml/argosy/proto/api"
	own "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/password"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/series"
	"github.com/argosy-ml/argosy/server/task"
	"github.com/argosy-ml/argosy/server/watch"
)

// Services are the parts of the domain that the API offers.
type Services struct {
	Pipelines   *pipeline.Service
	Experiments *experiment.Service
	Runs        *run.Service
	Schedules   *schedule.Service
	Tasks       *task.Service
	Watcher     *watch.Watcher
	Series      *series.Reader
	Pruner      *retention.Pruner
	// Streams ends what follows runs, which would otherwise hold up the end of the server.
	Streams context.Context //nolint:containedctx // the life of the server, not of a call
	Version string          // of the server, for healthz
	Commit  string          // that the server was built from; may be empty
	// PrivateURLs lets pipelines be read from URLs of this machine and of private networks. Without it whoever may
	// use the API could make the server read what only the server can reach.
	PrivateURLs bool
}

// API holds one implementation of every gRPC service.
type API struct {
	pipelines   *pipelines
	experiments *experiments
	runs        *runs
	jobs        *jobs
	reports     *reports
	tasks       *tasks
	healthz     *healthz
	views       *views
	graphs      *graphs
	metrics     *metrics
	pruning     *pruning
	visuals     *visuals
}

// New makes the gRPC services.
func New(s Services) *API {
	return &API{
		pipelines:   &pipelines{service: s.Pipelines, fetcher: newFetcher(s.PrivateURLs)},
		experiments: &experiments{service: s.Experiments},
		runs:        &runs{service: s.Runs},
		jobs:        &jobs{service: s.Schedules},
		reports:     &reports{runs: s.Runs, schedules: s.Schedules},
		tasks:       &tasks{service: s.Tasks},
		healthz:     &healthz{version: s.Version, commit: s.Commit},
		views:       &views{service: s.Runs, watcher: s.Watcher, streams: s.Streams},
		graphs:      &graphs{service: s.Pipelines},
		metrics:     &metrics{reader: s.Series},
		pruning:     &pruning{pruner: s.Pruner},
		visuals:     &visuals{service: s.Runs},
	}
}

// Server makes the gRPC server with every service, health and reflection; health alone is told without the password. Messages may be of any size, as with KFP:
// a Workflow of thousands of nodes is one message.
func (a *API) Server(log *slog.Logger, asks password.Password) *grpc.Server {
	s := grpc.NewServer(
		grpc.MaxRecvMsgSize(math.MaxInt32),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.ChainUnaryInterceptor(locked(asks), logged(log), recovered(log)),
		grpc.ChainStreamInterceptor(lockedStream(asks), loggedStream(log), recoveredStream(log)),
	)
	wire.RegisterPipelineServiceServer(s, a.pipelines)
	wire.RegisterExperimentServiceServer(s, a.experiments)
	wire.RegisterRunServiceServer(s, a.runs)
	wire.RegisterJobServiceServer(s, a.jobs)
	wire.RegisterReportServiceServer(s, a.reports)
	wire.RegisterTaskServiceServer(s, a.tasks)
	wire.RegisterVisualizationServiceServer(s, visualizations{})
	wire.RegisterAuthServiceServer(s, auth{})
	wire.RegisterHealthzServiceServer(s, a.healthz)
	own.RegisterRunServiceServer(s, a.views)
	own.RegisterPipelineServiceServer(s, a.graphs)
	own.RegisterMetricServiceServer(s, a.metrics)
	own.RegisterRetentionServiceServer(s, a.pruning)
	own.RegisterVisualServiceServer(s, a.visuals)
	alive := health.NewServer()
	for service := range s.GetServiceInfo() {
		alive.SetServingStatus(service, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	grpc_health_v1.RegisterHealthServer(s, alive)
	reflection.Register(s)
	return s
}

// Route adds the REST form of every service to mux. Calls go straight to the implementations, without a connection between,
// so mux has to turn their errors into answers with Status.
func (a *API) Route(ctx context.Context, mux *runtime.ServeMux) error {
	return errors.Join(
		wire.RegisterPipelineServiceHandlerServer(ctx, mux, a.pipelines),
		wire.RegisterExperimentServiceHandlerServer(ctx, mux, a.experiments),
		wire.RegisterRunServiceHandlerServer(ctx, mux, a.runs),
		wire.RegisterJobServiceHandlerServer(ctx, mux, a.jobs),
		wire.RegisterReportServiceHandlerServer(ctx, mux, a.reports),
		wire.RegisterTaskServiceHandlerServer(ctx, mux, a.tasks),
		wire.RegisterVisualizationServiceHandlerServer(ctx, mux, visualizations{}),
		wire.RegisterAuthServiceHandlerServer(ctx, mux, auth{}),
		wire.RegisterHealthzServiceHandlerServer(ctx, mux, a.healthz),
		own.RegisterRunServiceHandlerServer(ctx, mux, a.views),
		own.RegisterPipelineServiceHandlerServer(ctx, mux, a.graphs),
		own.RegisterMetricServiceHandlerServer(ctx, mux, a.metrics),
		own.RegisterRetentionServiceHandlerServer(ctx, mux, a.pruning),
		own.RegisterVisualServiceHandlerServer(ctx, mux, a.visuals),
	)
}
