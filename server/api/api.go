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

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/benchmark"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/sample"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/series"
	"github.com/argosy-ml/argosy/server/task"
)

// Services are the parts of the domain that the API offers.
type Services struct {
	Pipelines   *pipeline.Service
	Experiments *experiment.Service
	Runs        *run.Service
	Schedules   *schedule.Service
	Tasks       *task.Service
	Watcher     *eventstream.Watcher
	Series      *series.Reader
	Pruner      *retention.Pruner
	Cluster     *cluster.Service
	Benchmark   *benchmark.Service
	Samples     *sample.Service
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
	schedules   *ownSchedules
	samples     *samples
}

// New makes the gRPC services.
func New(s Services) *API {
	jobs := &jobs{service: s.Schedules}
	return &API{
		pipelines:   &pipelines{service: s.Pipelines, fetcher: newFetcher(s.Sources)},
		experiments: &experiments{service: s.Experiments},
		runs:        &runs{service: s.Runs},
		jobs:        jobs,
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
		schedules:   &ownSchedules{jobs: jobs},
		samples:     &samples{service: s.Samples},
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
	kfpv1.RegisterPipelineServiceServer(s, a.pipelines)
	kfpv1.RegisterExperimentServiceServer(s, a.experiments)
	kfpv1.RegisterRunServiceServer(s, a.runs)
	kfpv1.RegisterJobServiceServer(s, a.jobs)
	kfpv1.RegisterReportServiceServer(s, a.reports)
	kfpv1.RegisterTaskServiceServer(s, a.tasks)
	kfpv1.RegisterVisualizationServiceServer(s, visualizations{})
	kfpv1.RegisterAuthServiceServer(s, auth{})
	kfpv1.RegisterHealthzServiceServer(s, a.healthz)
	argosyv1.RegisterRunServiceServer(s, a.views)
	argosyv1.RegisterExperimentServiceServer(s, a.restoring)
	argosyv1.RegisterPipelineServiceServer(s, a.graphs)
	argosyv1.RegisterMetricServiceServer(s, a.metrics)
	argosyv1.RegisterRetentionServiceServer(s, a.pruning)
	argosyv1.RegisterVisualServiceServer(s, a.visuals)
	argosyv1.RegisterClusterServiceServer(s, a.clusters)
	argosyv1.RegisterScalingServiceServer(s, a.scalings)
	argosyv1.RegisterScheduleServiceServer(s, a.schedules)
	argosyv1.RegisterSampleServiceServer(s, a.samples)
	registerHealth(s)
	reflection.Register(s)
	return s
}

// Route adds the REST form of every service to mux. Calls go straight to the implementations, without a connection between,
// so mux has to turn their errors into answers with Status.
func (a *API) Route(ctx context.Context, mux *runtime.ServeMux) error {
	return errors.Join(
		kfpv1.RegisterPipelineServiceHandlerServer(ctx, mux, a.pipelines),
		kfpv1.RegisterExperimentServiceHandlerServer(ctx, mux, a.experiments),
		kfpv1.RegisterRunServiceHandlerServer(ctx, mux, a.runs),
		kfpv1.RegisterJobServiceHandlerServer(ctx, mux, a.jobs),
		kfpv1.RegisterReportServiceHandlerServer(ctx, mux, a.reports),
		kfpv1.RegisterTaskServiceHandlerServer(ctx, mux, a.tasks),
		kfpv1.RegisterVisualizationServiceHandlerServer(ctx, mux, visualizations{}),
		kfpv1.RegisterAuthServiceHandlerServer(ctx, mux, auth{}),
		kfpv1.RegisterHealthzServiceHandlerServer(ctx, mux, a.healthz),
		argosyv1.RegisterRunServiceHandlerServer(ctx, mux, a.views),
		argosyv1.RegisterExperimentServiceHandlerServer(ctx, mux, a.restoring),
		argosyv1.RegisterPipelineServiceHandlerServer(ctx, mux, a.graphs),
		argosyv1.RegisterMetricServiceHandlerServer(ctx, mux, a.metrics),
		argosyv1.RegisterRetentionServiceHandlerServer(ctx, mux, a.pruning),
		argosyv1.RegisterVisualServiceHandlerServer(ctx, mux, a.visuals),
		argosyv1.RegisterClusterServiceHandlerServer(ctx, mux, a.clusters),
		argosyv1.RegisterScalingServiceHandlerServer(ctx, mux, a.scalings),
		argosyv1.RegisterScheduleServiceHandlerServer(ctx, mux, a.schedules),
		argosyv1.RegisterSampleServiceHandlerServer(ctx, mux, a.samples),
	)
}
