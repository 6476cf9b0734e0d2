package client

import (
	"context"
	"net/http"
	"time"
)

// PruneRequest sets what to keep of runs: an age since their end, a number of runs of each experiment, or both, as in "90d,1000". Whatever
// exceeds either is removed. Empty keeps everything; if all three are empty, the server's own policy applies.
type PruneRequest struct {
	DryRun        bool   `json:"dry_run,omitempty"` // only tell what would go
	KeepRuns      string `json:"keep_runs,omitempty"`
	KeepArtifacts string `json:"keep_artifacts,omitempty"`
	KeepLogs      string `json:"keep_logs,omitempty"`
}

// Pruned lists what was removed, or in a dry run would be.
type Pruned struct {
	Policy string      `json:"policy"`
	Runs   []PrunedRun `json:"runs"`
	Bytes  int64       `json:"bytes,string"` // in the artifact store
}

// PrunedRun lists what was removed of one run.
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

// StoredObject is an object in the artifact store.
type StoredObject struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes,string"`
}

// Prune removes the excess data of runs that have ended and are not archived. If a prune is interrupted, the next one completes it.
func (s RunsService) Prune(ctx context.Context, r PruneRequest) (*Pruned, error) {
	p := &Pruned{}
	return p, s.conn.send(ctx, http.MethodPost, ownAPI+"/prune", r, p)
}
