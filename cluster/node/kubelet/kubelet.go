package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
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

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/argo"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/hostimage"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/images"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/leftovers"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/logs"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/nodestatus"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podrecord"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/report"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/spec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/stream"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/volumes"
	"github.com/argosy-ml/argosy/cluster/runtime/cgroup"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/image"
	"github.com/argosy-ml/argosy/cluster/storage/provisioner"
)

const (
	// maxStarting bounds how many containers are being set up at once; more at a time only get in each other's way.
	maxStarting = 32
	// nodeShutdown is the reason for which pods end when the node stops.
	nodeShutdown = "NodeShutdown"
	// shutdownGrace is how long pods get to end when the node stops.
	shutdownGrace = 3 * time.Second
	// lastWords is how long after that their ends are tried to be reported; what is not, the next kubelet reports.
	lastWords = 5 * time.Second
	// refreshEvery is how soon a pod sees a change of what its volumes are made from.
	refreshEvery = 10 * time.Second
)

// Config says where the kubelet works and which clients it serves.
type Config struct {
	Nodes     []admission.Node
	Home      string       // data folder; hidden from pods but for its folder `shared`
	HostPaths []string     // folders of the machine that pods may have as volumes
	HostShow  []string     // folders of the machine that pods see although they are hidden
	Listener  net.Listener // for logs and exec; the kubelet closes it
	Port      int          // the listener's, for the Node object
	Root      string       // where the machine's root file system is seen without what is mounted there; may be empty
	Covered   []string     // folders of the machine that pods see empty
	Helpers   string       // folder with argosy-podinit, argoexec and argosy-launcher
	Client    *rest.Config
	TLS       tls.Certificate // of the listener
	ClientCAs *x509.CertPool  // who may sign the apiserver's client certificate
	CA        []byte          // the cluster's authority in PEM, for pods
	Cgroups   *cgroup.Tree    // below it each container has a group; nil: limits are enforced in other ways
	Limits    string          // how limits are enforced, for the reader

	StockArgo bool // the pods of workflows are left to Argo's own executor

	NodeNetwork *os.File // the network namespace of pods with hostNetwork

	Images             string         // one of images.Modes
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
	rooms     map[string]*admission.Room      // by node
	pods      corelisters.PodLister           // of all nodes, finished ones too
	services  environment.Services
	spec      spec.Node
	images    *images.Finder
	addresses *podnet.Addresses
	volumes   volumes.Node
	reporters *argo.Reporters
	folders   *logs.Watcher // of logs that are followed
	limits    *admission.Limiter
	sandboxes *sandbox.Pool
	leftovers *leftovers.Folders
	reports   *report.Reporter
	nodes     nodestatus.Reporter
	starting  chan struct{}
	// reporting ends when the ends of pods are no longer to be reported: the apiserver may be gone for good.
	reporting context.Context
	silence   context.CancelFunc

	mu    sync.Mutex
	known map[types.UID]*pod             // every pod that was ever started here, until its object is gone
	left  map[types.UID]podrecord.Record // pods that an earlier kubelet started, until they are seen
	over  map[types.UID]bool             // pods that ended before this kubelet was started
	ended bool                           // no more pods are taken on
	work  sync.WaitGroup                 // pods and what is done for them
}

// Run runs pods until the context ends, then ends them.
func Run(ctx context.Context, cfg Config) error {
	k, err := newKubelet(cfg)
	if err != nil {
		return err
	}
	defer k.folders.Close()
	defer k.silence()
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	for _, n := range cfg.Nodes {
		k.events[n.Name] = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: n.Name})
	}
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: k.client.CoreV1().Events("")})

	// What must outlive the order to stop: pods end in peace and their last words are still sent.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer k.images.Close()
	var services sync.WaitGroup
	defer services.Wait()
	defer end()
	failed := make(chan error, 2)
	claims := provisioner.New(k.client, broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: provisioner.Name}), k.volumes.Claims, k.log)
	services.Go(func() {
		if err := claims.Run(life); err != nil {
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

// begin takes over the pods there are, and offers the nodes for others. It serves no request before it knows the pods.
func (k *Kubelet) begin(ctx, life context.Context, services *sync.WaitGroup, failed chan<- error) error {
	if err := k.watch(ctx, life, services); err != nil {
		return err
	}
	server := stream.Server{Pods: served{k}, Watcher: k.folders, TLS: k.cfg.TLS, ClientCAs: k.cfg.ClientCAs, Log: k.log}
	services.Go(func() {
		if err := server.Serve(life, k.cfg.Listener); err != nil {
			failed <- err
		}
	})
	services.Go(func() { k.refresh(life) })
	services.Go(func() { k.sandboxes.Fill(life, k.calm) })
	services.Go(func() { k.leftovers.Clear(life, k.calm) })
	services.Go(func() { k.images.KeepClean(life, k.usesImage) })
	services.Go(func() { k.keepStorage(life) })
	services.Go(func() { k.nodes.Keep(life) })
	return k.nodes.Register(ctx)
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
		reporters: argo.NewReporters(client),
		starting:  make(chan struct{}, maxStarting),
		sandboxes: sandbox.NewPool(),
		leftovers: leftovers.New(),
		reports:   report.New(client),
		known:     map[types.UID]*pod{}, left: map[types.UID]podrecord.Record{}, over: map[types.UID]bool{},
		events: map[string]record.EventRecorder{},
		rooms:  map[string]*admission.Room{},
	}
	for _, n := range cfg.Nodes {
		k.rooms[n.Name] = admission.NewRoom(n)
	}
	k.reporting, k.silence = context.WithCancel(context.Background())
	k.sandboxes.Program, k.sandboxes.Folder = k.helper("argosy-podinit"), filepath.Join(k.clusterDir(), "sandboxes")
	k.sandboxes.Addresses, k.sandboxes.NodeNetwork, k.sandboxes.Log, k.sandboxes.Go = k.addresses, cfg.NodeNetwork, cfg.Log, k.work.Go
	if err := k.makeFolders(); err != nil {
		return nil, err
	}
	k.volumes = volumes.Node{Client: client, Tokens: volumes.NewTokens(client), Claims: filepath.Join(k.clusterDir(), "volumes"), SingleID: container.SingleID()}
	if k.volumes.Host, err = volumes.HostFolders(cfg.HostPaths); err != nil {
		return nil, err
	}
	var given []string
	for _, f := range k.volumes.Host {
		given = append(given, f.Path)
	}
	k.spec = spec.Node{Home: cfg.Home, HostShow: cfg.HostShow, Helpers: cfg.Helpers}
	if k.spec.Base, err = hostimage.Look(hostimage.Config{
		Home: cfg.Home, Cluster: k.clusterDir(), Scratch: filepath.Join(k.podsDir(), ".probe"), Root: cfg.Root, Covered: cfg.Covered, Volumes: given, Log: cfg.Log,
	}); err != nil {
		return nil, err
	}
	if k.images, err = images.New(images.Config{
		Mode: cfg.Images, Folder: cfg.ImageStore, Dial: cfg.Dial, InsecureRegistries: cfg.InsecureRegistries, Log: cfg.Log,
	}); err != nil {
		return nil, err
	}
	k.nodes = nodestatus.Reporter{
		Client: client, Nodes: cfg.Nodes, Home: cfg.Home, Disk: k.clusterDir(), Limits: cfg.Limits, Port: cfg.Port, Images: k.images.List, Log: cfg.Log,
	}
	if _, err := os.Stat(k.helper("argosy-podinit")); err != nil {
		return nil, fmt.Errorf("%w (it belongs beside argosy-cluster)", err)
	}
	if k.limits, err = admission.NewLimiter(cfg.Cgroups); err != nil {
		return nil, err
	}
	k.folders, err = logs.NewWatcher()
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
			if err := p.volumeSet().Refresh(ctx); err != nil && ctx.Err() == nil && !p.isEnding() {
				p.log.Warn("volumes not refreshed", "err", err)
			}
		}
	}
}

func (k *Kubelet) running() (pods []*pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.known {
		if p.status.Phase() == corev1.PodRunning {
			pods = append(pods, p)
		}
	}
	return pods
}

// makeFolders makes the folders of pods and of warm sandboxes.
func (k *Kubelet) makeFolders() error {
	for _, dir := range []string{k.podsDir(), k.sandboxes.Folder} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return err
		}
		if err := sandbox.Spread(dir); err != nil {
			k.log.Warn("pods may start slower", "folder", dir, "err", err)
		}
	}
	return nil
}

// calm says whether no pod is being set up.
func (k *Kubelet) calm() bool { return k.sandboxes.Busy.Load() == 0 && len(k.starting) == 0 }
