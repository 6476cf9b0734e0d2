package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/lru"

	"github.com/argosy-ml/argosy/cluster/cgroup"
	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/image"
	"github.com/argosy-ml/argosy/cluster/podnet"
	"github.com/argosy-ml/argosy/cluster/provisioner"
)

const (
	// maxStarting bounds how many containers are being set up at once; more at a time only get in each other's way.
	maxStarting = 32
	// maxKins bounds for how many kinds of pods it is remembered how long they run.
	maxKins = 1000
	// nodeShutdown is the reason for which pods end when the node stops.
	nodeShutdown = "NodeShutdown"
	// shutdownGrace is how long pods get to end when the node stops.
	shutdownGrace = 3 * time.Second
	// lastWords is how long after that their ends are tried to be reported; what is not, the next kubelet reports.
	lastWords = 5 * time.Second
	// refreshEvery is how soon a pod sees a change of what its volumes are made from.
	refreshEvery = 10 * time.Second
)

// Config says where the kubelet works and whom it serves.
type Config struct {
	Nodes     []Node
	Home      string       // data folder; hidden from pods but for its folder `shared`
	Listener  net.Listener // for logs and exec; the kubelet closes it
	Port      int          // the listener's, for the Node object
	Helpers   string       // folder with argosy-podinit, argoexec and argosy-launcher
	Client    *rest.Config
	TLS       tls.Certificate // of the listener
	ClientCAs *x509.CertPool  // who may sign the apiserver's client certificate
	CA        []byte          // the cluster's authority in PEM, for pods
	Cgroups   *cgroup.Tree    // below it each container has a group; nil: limits are enforced in other ways
	Limits    string          // how limits are enforced, for the reader

	Images             string         // one of ImageModes
	ImageStore         string         // folder
	Dial               image.DialFunc // reaches registries over the host's network
	InsecureRegistries []string       // those that may speak plain http

	Log *slog.Logger
}

// Kubelet runs pods.
type Kubelet struct {
	cfg       Config
	log       *slog.Logger
	client    kubernetes.Interface
	events    map[string]record.EventRecorder // by node
	rooms     map[string]*room                // by node
	pods      corelisters.PodLister           // of all nodes, finished ones too
	services  services
	base      hostImage
	images    *images
	addresses *podnet.Addresses
	tokens    *tokens
	folders   *folders // of logs that are followed
	limits    *limiter
	berths    berths
	leftovers *leftovers
	starting  chan struct{}
	lasted    *lru.Cache // how long the latest pod of a kin ran
	// reporting ends when the ends of pods are no longer to be reported: the apiserver may be gone for good.
	reporting context.Context
	silence   context.CancelFunc

	mu    sync.Mutex
	known map[types.UID]*pod      // every pod that was ever started here, until its object is gone
	left  map[types.UID]podRecord // pods that an earlier kubelet started, until they are seen
	over  map[types.UID]bool      // pods that ended before this kubelet was started
	ended bool                    // no more pods are taken on
	work  sync.WaitGroup          // pods and what is done for them
}

// Run runs pods until the context ends, then ends them.
func Run(ctx context.Context, cfg Config) error {
	k, err := newKubelet(cfg)
	if err != nil {
		return err
	}
	defer k.folders.close()
	defer k.silence()
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	for _, n := range cfg.Nodes {
		k.events[n.Name] = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: n.Name})
	}
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: k.client.CoreV1().Events("")})

	// What must outlive the order to stop: pods end in peace and their last words are still sent.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer k.images.close()
	var services sync.WaitGroup
	defer services.Wait()
	defer end()
	failed := make(chan error, 2)
	volumes := provisioner.New(k.client, broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: provisioner.Name}), k.claimsDir(), k.log)
	services.Go(func() {
		if err := volumes.Run(life); err != nil {
			failed <- fmt.Errorf("provision volumes: %w", err)
		}
	})
	if err = k.begin(ctx, life, &services, failed); err == nil {
		k.log.Info("ready", "nodes", len(cfg.Nodes), "limits", cfg.Limits, "userNamespace", container.InUserNamespace(), "singleID", container.SingleID())
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	k.shutdown()
	if ctx.Err() != nil { // nothing that was given up for that is a failure
		return nil
	}
	return err
}

// begin takes over the pods there are, and offers the nodes for others. Nobody is served before the pods are known.
func (k *Kubelet) begin(ctx, life context.Context, services *sync.WaitGroup, failed chan<- error) error {
	if err := k.watch(ctx, life, services); err != nil {
		return err
	}
	server := k.server()
	services.Go(func() {
		if err := server.Serve(tls.NewListener(lines{k.cfg.Listener}, k.tlsConfig())); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve logs and exec: %w", err)
		}
	})
	services.Go(func() {
		<-life.Done()
		_ = server.Close()
	})
	services.Go(func() { k.refresh(life) })
	services.Go(func() { k.keepBerths(life) })
	services.Go(func() { k.clearLeftovers(life) })
	services.Go(func() { k.sweepImages(life) })
	services.Go(func() { k.keepStorage(life) })
	services.Go(func() { k.heartbeat(life) })
	return k.registerNodes(ctx)
}

func newKubelet(cfg Config) (*Kubelet, error) {
	rc := rest.CopyConfig(cfg.Client)
	rc.QPS, rc.Burst = 2000, 4000
	rc.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return nil, err
	}
	k := &Kubelet{
		cfg: cfg, log: cfg.Log, client: client,
		addresses: podnet.NewAddresses(),
		tokens:    newTokens(client),
		starting:  make(chan struct{}, maxStarting),
		lasted:    lru.New(maxKins),
		berths:    berths{wanted: make(chan struct{}, 1)},
		leftovers: newLeftovers(),
		known:     map[types.UID]*pod{}, left: map[types.UID]podRecord{}, over: map[types.UID]bool{},
		events: map[string]record.EventRecorder{},
		rooms:  map[string]*room{},
	}
	for _, n := range cfg.Nodes {
		k.rooms[n.Name] = newRoom(n)
	}
	k.reporting, k.silence = context.WithCancel(context.Background())
	if err := k.makeHalls(); err != nil {
		return nil, err
	}
	if k.base, err = k.lookAtHost(); err != nil {
		return nil, err
	}
	if k.images, err = newImages(cfg); err != nil {
		return nil, err
	}
	if _, err := os.Stat(k.helper("argosy-podinit")); err != nil {
		return nil, fmt.Errorf("%w (it belongs beside argosy-cluster)", err)
	}
	if k.limits, err = newLimiter(cfg.Cgroups); err != nil {
		return nil, err
	}
	k.folders, err = watchFolders()
	return k, err
}

func (k *Kubelet) helper(name string) string { return filepath.Join(k.cfg.Helpers, name) }

func (k *Kubelet) clusterDir() string { return filepath.Join(k.cfg.Home, "cluster") }

func (k *Kubelet) podsDir() string { return filepath.Join(k.clusterDir(), "pods") }

func (k *Kubelet) podDir(uid types.UID) string { return filepath.Join(k.podsDir(), string(uid)) }

// shutdown ends all pods and waits until nothing of them is left.
func (k *Kubelet) shutdown() {
	k.mu.Lock()
	k.ended = true
	for _, p := range k.known {
		p.terminate(shutdownGrace, nodeShutdown, "The embedded cluster was stopped while the pod was running.")
	}
	k.mu.Unlock()
	timer := time.AfterFunc(shutdownGrace+lastWords, k.silence)
	defer timer.Stop()
	k.work.Wait()
}

// refresh keeps tokens, configuration and secrets of running pods up to date.
func (k *Kubelet) refresh(ctx context.Context) {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, p := range k.running() {
			if err := p.refreshVolumes(ctx); err != nil && ctx.Err() == nil {
				p.log.Warn("volumes not refreshed", "err", err)
			}
		}
	}
}

func (k *Kubelet) running() (pods []*pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.known {
		if p.isRunning() {
			pods = append(pods, p)
		}
	}
	return pods
}
