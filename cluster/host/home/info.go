package home

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Info tells other programs how to reach a running cluster.
type Info struct {
	Version    int    `json:"version"` // of this format; 1
	PID        int    `json:"pid"`     // of the supervisor
	APIServer  string `json:"apiserver"`
	Kubeconfig string `json:"kubeconfig"`
	S3         S3     `json:"s3"`
	Shared     string `json:"shared"`

	Started time.Time `json:"started"` // when it was ready
	Options Options   `json:"options"`
}

// Options are the flags that a cluster was started with.
type Options struct {
	Linger             time.Duration `json:"linger"`  // nanoseconds; 0: it stays until it is stopped
	Requeue            time.Duration `json:"requeue"` // nanoseconds; wait before Argo looks at a changed workflow again; 0: by how much there is to do
	Nodes              int           `json:"nodes"`
	GPUs               int           `json:"gpus"`                          // of each node, pretended; -1: those that are found
	Images             string        `json:"images"`                        // auto, host or pull: what the names of images stand for
	InsecureRegistries []string      `json:"insecure_registries,omitempty"` // those that may speak plain http
	HostPaths          []string      `json:"host_paths,omitempty"`          // folders of the machine that pods may have as volumes
	HostShow           []string      `json:"host_show,omitempty"`           // folders of the machine that pods see although they are hidden
	StockArgo          bool          `json:"stock_argo,omitempty"`          // nothing makes Argo quicker than it is
	Placement          string        `json:"placement"`                     // pack or spread: which nodes Volcano fills first
}

// Pack and Spread are placements: Volcano fills the nodes with least room first, or those with most.
const (
	Pack   = "pack"
	Spread = "spread"
)

// Placements are those that a cluster can have, its default first.
var Placements = []string{Pack, Spread}

// S3 tells how to reach the object store.
type S3 struct {
	Endpoint  string `json:"endpoint"` // host:port, plain HTTP
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	Bucket    string `json:"bucket"`
}

// WriteInfo records a cluster that is ready.
func (h Home) WriteInfo(info Info) error {
	b, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(h.info(), append(b, '\n'))
}

// RemoveInfo removes the record, if there is one.
func (h Home) RemoveInfo() error { return remove(h.info()) }

// ReadInfo reads the record. The cluster lives only if ClusterLock is held too: a killed supervisor leaves its record behind.
func (h Home) ReadInfo() (Info, error) {
	var info Info
	b, err := os.ReadFile(h.info())
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(b, &info); err != nil {
		return info, fmt.Errorf("%s: %w", h.info(), err)
	}
	return info, nil
}
