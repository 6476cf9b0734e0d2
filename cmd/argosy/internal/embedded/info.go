package embedded

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// Info is the record that a cluster leaves in cluster/info.json when it is ready.
type Info struct {
	Version    int    `json:"version"` // of the record; 1
	PID        int    `json:"pid"`     // of the supervisor
	APIServer  string `json:"apiserver"`
	Kubeconfig string `json:"kubeconfig"`
	S3         S3     `json:"s3"`
	Shared     string `json:"shared"` // every pod sees this folder, read-only

	Options Running `json:"options"`
}

// Running are the options that a cluster was started with.
type Running struct {
	Options
	Linger time.Duration `json:"linger"` // 0: it stays until it is stopped
}

// S3 tells how to reach the object store.
type S3 struct {
	Endpoint  string `json:"endpoint"` // host:port, plain HTTP
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	Bucket    string `json:"bucket"`
}

const infoVersion = 1

// readInfo reads the record of the supervisor pid. A killed one leaves its record behind, so the pid must be the same.
func readInfo(h home.Home, pid int) (Info, error) {
	var info Info
	path := h.Path("cluster", "info.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("%s: %w", path, err)
	}
	if info.PID != pid {
		return info, fmt.Errorf("%s is of process %d, the cluster is run by process %d", path, info.PID, pid)
	}
	if info.Version != infoVersion {
		return info, fmt.Errorf("%s has version %d, this argosy reads %d: argosy and argosy-cluster are not of the same build", path, info.Version, infoVersion)
	}
	return info, nil
}

// healthy asks the kube-apiserver, with the rights of the kubeconfig, whether it serves.
func healthy(ctx context.Context, info Info) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	transport, err := transportOf(info.Kubeconfig)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, info.APIServer+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("kube-apiserver at %s: %s: %s", info.APIServer, resp.Status, body)
	}
	return nil
}

// transportOf makes a transport with the certificates in a kubeconfig of the embedded cluster. (A few lines instead of
// client-go: only the engine talks to Kubernetes; this asks for its pulse.)
func transportOf(kubeconfig string) (*http.Transport, error) {
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, err
	}
	var k struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", kubeconfig, err)
	}
	if len(k.Clusters) == 0 || len(k.Users) == 0 {
		return nil, fmt.Errorf("%s names no cluster or no user", kubeconfig)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(k.Clusters[0].Cluster.CA) {
		return nil, fmt.Errorf("%s: no certificate authority in it", kubeconfig)
	}
	pair, err := tls.X509KeyPair(k.Users[0].User.Cert, k.Users[0].User.Key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: client certificate", kubeconfig), err)
	}
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}, nil
}
