package client

import (
	"context"
	"net/http"
	"time"
)

// PruneRequest says what is to be kept of runs: an age since their end, a number of runs of each experiment, or both, as in
// "90d,1000". What is beyond either goes. Empty keeps all; when all three are empty the server's own policy counts.
type PruneRequest struct {
	DryRun        bool   `json:"dry_run,omitempty"` // only tell what would go
	KeepRuns      string `json:"keep_runs,omitempty"`
	KeepArtifacts string `json:"keep_artifacts,omitempty"`
	KeepLogs      string `json:"keep_logs,omitempty"`
}

// Pruned is what went, or would go.
type Pruned struct {
	Policy string      `json:"policy"`
	Runs   []PrunedRun `json:"runs"`
	Bytes  int64       `json:"bytes,string"` // in the artifact store
}

// PrunedRun is what went of one run.
type PrunedRun struct {
	RunID      string         `json:"run_id"`
	Name       string         `json:"name"`
	Experiment string         `json:"experiment"`
	FinishedAt time.Time      `json:"finished_at"`
	Run        bool           `json:"run"` // all of it
	Artifacts  []StoredObject `json:"artifacts"`
	Logs       []StoredObject `json:"logs"`
	Bytes      int64          `json:"bytes,string"`
	Kept       string         `json:"kept"` // why something of it stays that was to go
}

// StoredObject is something in the artifact store.
type StoredObject struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes,string"`
}

// Prune removes what is not to be kept of runs that have ended and are not archived. One that is broken off is completed by
// the next.
func (s RunsService) Prune(ctx context.Context, r PruneRequest) (*Pruned, error) {
	p := &Pruned{}
	return p, s.conn.send(ctx, http.MethodPost, ownAPI+"/prune", r, p)
}
