// Package home defines the layout of the embedded cluster's data folder, the
// locks that guard it, the addresses that the cluster listens on, and the
// record with which other programs reach it.
package home

import (
	"fmt"
	"os"
	"path/filepath"
)

// Bucket is the object store's bucket for artifacts and logs.
const Bucket = "mlpipeline"

// maxSocketPath is the longest path a unix socket can have on Linux (sun_path less its terminating zero).
const maxSocketPath = 107

// Home is a cluster's data folder, as an absolute path.
type Home string

// At is the data folder dir, whether it is there or not.
func At(dir string) (Home, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data folder %q: %w", dir, err)
	}
	return Home(abs), nil
}

// Open makes the data folder and its subfolders where they are missing.
func Open(dir string) (Home, error) {
	h, err := At(dir)
	if err != nil {
		return "", err
	}
	if err := h.Check(); err != nil {
		return "", fmt.Errorf("data folder %s: %w; choose a shorter --home", h, err)
	}
	abs := string(h)
	for _, d := range []string{"", "cluster", "cluster/pki", "cluster/etcd", "cluster/s3", "cluster/pods", "cluster/log", "cluster/run"} {
		if err := os.MkdirAll(filepath.Join(abs, d), 0o700); err != nil {
			return "", fmt.Errorf("data folder: %w", err)
		}
	}
	// Pods of an ordinary user run under other user ids and must be able to read it.
	if err := os.MkdirAll(h.Shared(), 0o755); err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return h, nil
}

// Check tells whether the folder's path will do.
func (h Home) Check() error {
	if longest := h.Socket("etcd-peer"); len(longest) > maxSocketPath {
		return fmt.Errorf("the path is too long for unix sockets by %d characters", len(longest)-maxSocketPath)
	}
	return nil
}

// Lock is the file that `argosy up` holds while it lives.
func (h Home) Lock() string { return filepath.Join(string(h), "lock") }

// ClusterLock is the file that the supervisor holds while it lives.
func (h Home) ClusterLock() string { return h.cluster("lock") }

// Kubeconfig is the administrator's kubeconfig.
func (h Home) Kubeconfig() string { return filepath.Join(string(h), "kubeconfig") }

// KubeconfigOf is the kubeconfig of one of the cluster's components.
func (h Home) KubeconfigOf(component string) string { return h.cluster(component + ".kubeconfig") }

// Shared is the folder that every pod sees, read-only, at the same path.
func (h Home) Shared() string { return filepath.Join(string(h), "shared") }

// PKI is the folder of keys and certificates.
func (h Home) PKI() string { return h.cluster("pki") }

// Etcd is etcd's data folder.
func (h Home) Etcd() string { return h.cluster("etcd") }

// Objects is the object store's data folder.
func (h Home) Objects() string { return h.cluster("s3") }

// ObjectKeys is the file with the object store's access keys.
func (h Home) ObjectKeys() string { return h.cluster("s3.json") }

// VolcanoConfig is the configuration of Volcano's scheduler, alone in its folder because the scheduler watches all of it.
func (h Home) VolcanoConfig() string { return h.cluster("volcano", "scheduler.conf") }

// PyTorchWait is the template of what a PyTorchJob's workers run first.
func (h Home) PyTorchWait() string { return h.cluster("pytorch-wait.yaml") }

// Images is the store of OCI images.
func (h Home) Images() string { return h.cluster("images") }

// Log is the log file of a component.
func (h Home) Log(component string) string { return h.cluster("log", component+".log") }

// Socket is the unix socket of a service.
func (h Home) Socket(service string) string { return h.cluster("run", service+".sock") }

// IDs is the file with the user ids of the pods of a cluster that root runs.
func (h Home) IDs() string { return h.cluster("ids.json") }

// Machine is where a cluster that root runs sees the machine's root file system without what is mounted there.
func (h Home) Machine() string { return h.cluster("machine") }

func (h Home) info() string       { return h.cluster("info.json") }
func (h Home) components() string { return h.cluster("components.json") }
func (h Home) ports() string      { return h.cluster("ports.json") }

func (h Home) cluster(elem ...string) string {
	return filepath.Join(append([]string{string(h), "cluster"}, elem...)...)
}
