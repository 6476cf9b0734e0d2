// Package app assembles the server: it opens the store, connects to the cluster, serves, and shuts down in order.
package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"

	"github.com/argosy-ml/argosy/server/gateway"
	"github.com/argosy-ml/argosy/server/password"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/sample"
)

// Config is what the server needs to know.
type Config struct {
	HTTP string // address of REST and UI; port 0 picks a free one
	GRPC string // address of gRPC; port 0 picks a free one
	// Hosts are names, in lower case, that the server answers to beside localhost. Without any it listens on loopback alone.
	Hosts []string
	// Password is required with every request except healthz, as Authorization: Bearer, or as Basic with any name. It is mandatory with
	// Hosts and then has at least password.Least bytes, since every client can run programs in the cluster. Without a password the server
	// serves only the account of its process, and root.
	Password password.Password
	Home     string // data folder; it must be there
	// Store is the location of the store: a file, or the address of a PostgreSQL database (postgres://user@host/database). Default:
	// Home/argosy.db. An address may contain a password, so it is never logged.
	Store string

	Kubeconfig string // file; empty: that of the pod the server runs in
	Namespace  string // where Workflows run; "kubeflow" unless said
	S3         S3
	ScalesUp   bool // whether the cluster adds nodes when pods ask for more: then steps that are too big for it wait

	NoCache    bool             // run every step, even when the outputs of an earlier one with the same inputs are cached
	Retention  retention.Policy // what is kept of runs; everything, unless said
	Machine    sample.Machine   // that an embedded cluster runs on; nothing on other clusters
	ImportFrom string           // networks and hosts, with commas between, that pipelines may be read from by URL beside the public internet

	Version string       // of the server, for clients
	Commit  string       // that the server was built from; may be empty
	UI      fs.FS        // the web UI, with index.html at its root; nil: none
	Log     *slog.Logger // slog.Default() unless said
}

// S3 tells where artifacts and logs are kept.
type S3 struct {
	Endpoint  string // host:port
	AccessKey string
	SecretKey string
	Bucket    string // "mlpipeline" unless said
	Secure    bool   // TLS
}

// StoreFile is where the store of a data folder lies unless said otherwise.
func StoreFile(home string) string { return filepath.Join(home, "argosy.db") }

// withDefaults fills in what was not said, and refuses what cannot be.
func (c Config) withDefaults() (Config, error) {
	if c.Home == "" && c.Store == "" {
		return c, errors.New("no data folder is set")
	}
	if c.Store == "" {
		c.Store = StoreFile(c.Home)
	}
	if c.Namespace == "" {
		c.Namespace = "kubeflow"
	}
	if c.S3.Bucket == "" {
		c.S3.Bucket = "mlpipeline"
	}
	if c.S3.Endpoint == "" {
		return c, errors.New("no S3 endpoint is set, and the server stores artifacts and logs there")
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if err := c.Password.Check(); err != nil {
		return c, err
	}
	if len(c.Hosts) > 0 {
		if c.Password == "" {
			return c, fmt.Errorf("every caller of this server can run programs in the cluster: with names of its own (--host) it needs a password of %d bytes or more; set ARGOSY_PASSWORD, for example to what `openssl rand -hex 16` prints", password.Least)
		}
		return c, nil
	}
	return c, errors.Join(onLoopback("HTTP", c.HTTP), onLoopback("gRPC", c.GRPC))
}

// onLoopback refuses an address that other machines could reach, because a client of the server can run programs in the cluster.
func onLoopback(what, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s address %q: %w; write it like 127.0.0.1:8888", what, address, err)
	}
	if !gateway.Loopback(host) {
		return fmt.Errorf("%s address %q can be reached from other machines, and needs a name and a password for that: listen on 127.0.0.1, and forward the port (ssh -L, kubectl port-forward) to reach it from elsewhere; or name the hosts that it answers to (--host), and set ARGOSY_PASSWORD", what, address)
	}
	return nil
}
