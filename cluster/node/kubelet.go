package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/net/dialer"
	"github.com/argosy-ml/argosy/cluster/node/kubelet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/runtime/cgroup"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

func runKubelet(ctx context.Context, o options, log *slog.Logger) error {
	cfg, err := kubeletConfig(o, log)
	if err != nil {
		return err
	}
	return kubelet.Run(ctx, cfg)
}

// clientConfig reaches the apiserver from within the sandbox, as the kubelet.
func clientConfig(h home.Home) (*rest.Config, error) {
	client, err := clientcmd.BuildConfigFromFlags("", h.KubeconfigOf("kubelet"))
	if err != nil {
		return nil, err
	}
	// The address in the file is that of the host's loopback, which is not this one. Nothing stands in between: the apiserver is what
	// the node talks to most.
	client.Dial = dialer.DialContext(h.Socket("dial"))
	return client, nil
}

func kubeletConfig(o options, log *slog.Logger) (kubelet.Config, error) {
	var cfg kubelet.Config
	h := home.Home(o.home)
	m, err := machine.Look(o.home)
	if err != nil {
		return cfg, err
	}
	self, err := os.Executable()
	if err != nil {
		return cfg, err
	}
	client, err := clientConfig(h)
	if err != nil {
		return cfg, err
	}
	pair, err := tls.LoadX509KeyPair(pki.File(h.PKI(), "kubelet", "crt"), pki.File(h.PKI(), "kubelet", "key"))
	if err != nil {
		return cfg, fmt.Errorf("the kubelet's certificate: %w", err)
	}
	ca, err := os.ReadFile(pki.File(h.PKI(), "ca", "crt"))
	if err != nil {
		return cfg, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return cfg, errors.New("ca.crt holds no certificate")
	}
	listener, err := net.FileListener(os.NewFile(listenerFD, "listener"))
	if err != nil {
		return cfg, fmt.Errorf("descriptor %d is not the kubelet's listener: %w", listenerFD, err)
	}
	groups, limits := limitsOf(o)
	return kubelet.Config{
		Cgroups: groups, Limits: limits,
		NodeNetwork: os.NewFile(nodeNetworkFD, "network of the node"),
		Nodes:       admission.Nodes(m, o.nodes, o.gpus),
		HostPaths:   o.hostPaths, HostShow: o.hostShow,
		Home: string(h), Listener: listener, Port: o.port, Helpers: filepath.Dir(self),
		Client: client, TLS: pair, ClientCAs: pool, CA: ca,
		Root: o.root, Covered: o.covered, StockArgo: o.stockArgo,
		Images: o.images, ImageStore: h.Images(), Dial: dialer.DialContext(h.Socket("dial")), InsecureRegistries: o.insecure,
		Log: log,
	}, nil
}

// limitsOf says how limits are enforced.
func limitsOf(o options) (*cgroup.Tree, string) {
	if o.cgroup != "" {
		return cgroup.Open(o.cgroup), "control groups: CPU and memory of each container are limited by the kernel"
	}
	return nil, "no control groups (" + o.noCgroup + "): CPU is limited to whole processors, memory is added up several times a second"
}
