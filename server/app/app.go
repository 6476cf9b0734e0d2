package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/artifact/s3"
	"github.com/argosy-ml/argosy/server/benchmark"
	clusterview "github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/manifest"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/gateway"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/reconcile"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/sample"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/series"
	"github.com/argosy-ml/argosy/server/store"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/server/task"
)

// Limits of the HTTP server. Whole requests have no time limit, because logs are streams; the gateway limits slow uploads.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// worker is a part of the server that works until its context ends.
type worker struct {
	name string
	run  func(context.Context) error
}

// App is one server. Make it with New, then Start it, and Stop it at the end whatever happened.
type App struct {
	config  Config
	store   *sqlstore.Store
	workers []worker
	// setUpRunner applies the service account of runs to the cluster.
	setUpRunner func(context.Context) error

	http *http.Server
	grpc *grpc.Server

	endStreams context.CancelFunc

	mu      sync.Mutex // of what follows
	running *running   // nil until Start, and after Stop
	stopped bool
}

// New opens the store, which it migrates, and puts the parts together. Nothing runs yet and nothing listens.
func New(ctx context.Context, c Config) (*App, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	sources, err := api.ParseSources(c.ImportFrom)
	if err != nil {
		return nil, fmt.Errorf("--import-from (ARGOSY_IMPORT_FROM): %w", err)
	}
	cluster, err := engine.Connect(c.Kubeconfig, c.Namespace, c.Log)
	if err != nil {
		return nil, err
	}
	cluster.ScalesUp(c.ScalesUp)
	objects, err := s3.New(s3.Config(c.S3))
	if err != nil {
		return nil, err
	}
	store, err := store.Open(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	streams, endStreams := context.WithCancel(context.Background())
	a := &App{config: c, store: store, setUpRunner: cluster.EnsureRunner, endStreams: endStreams}
	feed := &run.Feed{}
	pipelines := pipeline.NewService(store, cluster, manifest.Faults, time.Now)
	experiments := experiment.NewService(store, time.Now)
	archive := logs.New(logs.Config{Store: store, Cluster: cluster, Artifacts: objects, Log: c.Log})
	runs := run.NewService(run.Config{
		Store: store, Engine: cluster, Pipelines: pipelines, Experiments: experiments, Artifacts: objects, Logs: archive,
		Feed: feed, Namespace: c.Namespace, Bucket: c.S3.Bucket, NoCache: c.NoCache, Now: time.Now, Log: c.Log,
	})
	schedules := schedule.NewService(schedule.Config{Store: store, Runs: runs, Now: time.Now, Log: c.Log})
	reconciler := reconcile.New(reconcile.Config{
		Store: store, Cache: store, Cluster: cluster, Artifacts: objects, Logs: archive, Feed: feed, Log: c.Log, NoCache: c.NoCache,
	})
	pruner := &retention.Pruner{Store: store, Runs: runs.Changer, Policy: c.Retention, Log: c.Log}
	a.workers = []worker{
		{"store", store.Keep},
		{"lists", func(ctx context.Context) error {
			store.Follow(ctx, func(err error) {
				c.Log.ErrorContext(ctx, "lists of runs that no index has cannot be read ahead", "error", err)
			})
			return nil
		}},
		{"retention", pruner.Run},
		{"outbox", runs.Outbox.Run},
		{"reconciler", reconciler.Run},
		{"logs", archive.Run},
		{"schedules", schedules.Run},
		{"metric series", series.NewCollector(series.Config{
			Store: store, Feed: feed, Log: c.Log,
			Open: func(ctx context.Context, id, node string, from int64) (logs.Lines, error) {
				return runs.Logs.Lines(ctx, logs.Query{RunID: id, NodeID: node, From: from, Follow: true})
			},
		}).Run},
		{"default experiment", func(ctx context.Context) error { // KFP's clients expect it from the start
			_, err := experiments.Default(ctx)
			return err
		}},
	}
	measures := gateway.NewMeasures(gateway.Gauges{RunsByStatus: store.RunsByStatus, OutboxSize: store.OutboxSize, ReconcilerLag: reconciler.Lag, Logs: archive.Stats})
	store.OnWrite(measures.Write)
	watcher := eventstream.New(eventstream.Config{Store: store, Runs: runs, Log: c.Log})
	curves := series.NewReader(store)
	services := api.New(api.Services{
		Watcher: watcher, Series: curves, Benchmark: benchmark.NewService(benchmark.Config{Runs: runs.Reader, Experiments: experiments, Series: curves}), Pruner: pruner, Streams: streams, Cluster: clusterview.NewService(cluster.View(), runs, c.Home),
		Pipelines: pipelines, Experiments: experiments, Runs: runs, Schedules: schedules, Tasks: task.NewService(store),
		Samples: sample.NewService(sample.Config{Pipelines: pipelines, Inspector: cluster, Runs: runs, Cluster: cluster.View(), Machine: c.Machine}),
		Version: c.Version, Commit: c.Commit, Sources: sources,
	})
	gate := access.New(c.Password, c.Log)
	a.grpc = services.Server(c.Log, gate)
	handler, err := gateway.New(gateway.Config{
		API: services, Pipelines: pipelines, Runs: runs, Watcher: watcher, Measures: measures, UI: c.UI, Hosts: c.Hosts, Gate: gate, Log: c.Log, Streams: streams,
	})
	if err != nil {
		endStreams()
		return nil, errors.Join(err, store.Close())
	}
	a.http = &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ConnContext: access.WithCaller,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	a.http.RegisterOnShutdown(endStreams)
	return a, nil
}
