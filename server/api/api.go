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
	"google.golang.org/grpc/reflection"

	wire "github.com/argosy-ml/argosy/proto/api"
	own "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/benchmark"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
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
	Cluster     *cluster.Service
	Benchmark   *benchmark.Service
	// Streams ends what follows runs, which would otherwise hold up the end of the server.
	Streams context.Context //nolint:containedctx // the life of the server, not of a call
	Version string          // of the server, for healthz
	Commit  string          // that the server was built from; may be empty
	// Sources are the networks and hosts, beside the public internet, from which pipelines may be read by URL. All others are refused:
	// users of the API could otherwise make the server read what only the server can reach.
	Sources Sources
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
	restoring   *ownExperiments
	clusters    *clusters
	scalings    *scalings
}

// New makes the gRPC services.
func New(s Services) *API {
	return &API{
		pipelines:   &pipelines{service: s.Pipelines, fetcher: newFetcher(s.Sources)},
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
		visuals:     &visuals{runs: s.Runs.Reader},
		restoring:   &ownExperiments{service: s.Experiments},
		clusters:    &clusters{service: s.Cluster},
		scalings:    &scalings{service: s.Benchmark},
	}
}

// maxMessage bounds the messages of callers, in bytes, also after they are decompressed: the largest manifest, and what goes with it.
const maxMessage = pkgfile.MaxManifest + 1<<20

// Server makes the gRPC server with every service, health and reflection, for the callers that the gate admits. Answers may be of any size,
// as with KFP: a Workflow of thousands of nodes is one message.
func (a *API) Server(log *slog.Logger, gate *access.Gate) *grpc.Server {
	s := grpc.NewServer(
		grpc.Creds(newPlainText()),
		grpc.InTapHandle(admitted(gate)),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.ChainUnaryInterceptor(logged(log), recovered(log)),
		grpc.ChainStreamInterceptor(loggedStream(log), recoveredStream(log)),
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
	own.RegisterExperimentServiceServer(s, a.restoring)
	own.RegisterPipelineServiceServer(s, a.graphs)
	own.RegisterMetricServiceServer(s, a.metrics)
	own.RegisterRetentionServiceServer(s, a.pruning)
	own.RegisterVisualServiceServer(s, a.visuals)
	own.RegisterClusterServiceServer(s, a.clusters)
	own.RegisterScalingServiceServer(s, a.scalings)
	registerHealth(s)
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
		own.RegisterExperimentServiceHandlerServer(ctx, mux, a.restoring),
		own.RegisterPipelineServiceHandlerServer(ctx, mux, a.graphs),
		own.RegisterMetricServiceHandlerServer(ctx, mux, a.metrics),
		own.RegisterRetentionServiceHandlerServer(ctx, mux, a.pruning),
		own.RegisterVisualServiceHandlerServer(ctx, mux, a.visuals),
		own.RegisterClusterServiceHandlerServer(ctx, mux, a.clusters),
		own.RegisterScalingServiceHandlerServer(ctx, mux, a.scalings),
	)
}
