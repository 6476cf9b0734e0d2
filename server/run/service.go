package run

import (
	"log/slog"
	"time"

	"github.com/argosy-ml/argosy/server/artifact"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/pipeline"
)

// Config holds what the service needs; all of it is required but the bucket and the times.
type Config struct {
	Store       Store
	Engine      Engine
	Pipelines   *pipeline.Service
	Experiments *experiment.Service
	Artifacts   artifact.Store
	Logs        *logs.Archive
	Feed        *Feed
	Namespace   string        // where Workflows are created
	Bucket      string        // of artifacts, which manifests may ask for
	NoCache     bool          // steps always run
	PromptWait  time.Duration // for the cluster to refuse a run while its caller waits; 0 is a quarter of a second
	PromptTime  time.Duration // for the cluster to take a run before the outbox tries again; 0 is three seconds
	Now         func() time.Time
	Log         *slog.Logger
}

// Service is what the API offers on runs. Errors are *apierr.Error.
type Service struct {
	Reader  *Reader  // reads runs, their steps and what these left
	Logs    *Logs    // reads the logs of steps
	Creator *Creator // starts runs
	Changer *Changer // changes, stops, retries and removes runs
	Outbox  *Outbox  // hands accepted runs to the cluster
}

// NewService makes the service. Its outbox works while Outbox.Run runs.
func NewService(c Config) *Service {
	reader, outbox := &Reader{c: &c}, &Outbox{c: &c, wake: make(chan struct{}, 1)}
	return &Service{
		Reader: reader, Logs: &Logs{c: &c, reader: reader}, Creator: &Creator{c: &c, outbox: outbox},
		Changer: &Changer{c: &c, outbox: outbox}, Outbox: outbox,
	}
}
