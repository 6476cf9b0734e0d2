package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cluster/control/bootstrap"
	"github.com/argosy-ml/argosy/cluster/control/kubeconfig"
	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/control/versions"
	"github.com/argosy-ml/argosy/cluster/doctor"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/host/supervisor"
	"github.com/argosy-ml/argosy/cluster/net/relay"
	"github.com/argosy-ml/argosy/cluster/node"
	"github.com/argosy-ml/argosy/cluster/storage/objectstore"
)

// startLimit is how long a start may take; a slow disk or a busy machine needs some of it.
const startLimit = 2 * time.Minute

// maxNodes is far more than share one machine in a useful way.
const maxNodes = 100

var errLingered = errors.New("no program uses the cluster any more")

func upCommand() *cobra.Command {
	var dir string
	var o home.Options
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run the cluster until SIGINT or SIGTERM",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A reader of our output that dies must not take the cluster along. Ignoring the signal
			// instead would be inherited by every process of every pod.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if o.Nodes < 1 || o.Nodes > maxNodes {
				return fmt.Errorf("--nodes %d: want 1 to %d", o.Nodes, maxNodes)
			}
			if !slices.Contains(node.ImageModes, o.Images) {
				return fmt.Errorf("--images %s: want %s", o.Images, strings.Join(node.ImageModes, ", "))
			}
			if !slices.Contains(home.Placements, o.Placement) {
				return fmt.Errorf("--placement %s: want %s", o.Placement, strings.Join(home.Placements, ", "))
			}
			h, err := home.Open(dir)
			if err != nil {
				return err
			}
			if err := errors.Join(checkFolders(h, "--host-path", o.HostPaths), checkFolders(h, "--host-show", o.HostShow)); err != nil {
				return err
			}
			err = up(ctx, h, o, cmd.OutOrStdout())
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // told to stop before there was anything to be stopped
			}
			return err
		},
	}
	homeFlag(cmd, &dir)
	cmd.Flags().DurationVar(&o.Linger, "linger", 0, "end once no program has held HOME/lock for this long (0: never)")
	cmd.Flags().DurationVar(&o.Requeue, "requeue", 0, "wait before Argo looks at a changed workflow again (0: by how much there is to do; Argo's own default is 10s)")
	_ = cmd.Flags().MarkHidden("requeue") // for comparisons only
	cmd.Flags().BoolVar(&o.StockArgo, "stock-argo", false, "run Argo's controller and executor unchanged, without the cluster's speed-ups")
	cmd.Flags().IntVar(&o.Nodes, "nodes", 1, "number of nodes, which share the machine's processors, memory and GPUs")
	cmd.Flags().IntVar(&o.GPUs, "gpus", -1, "number of simulated GPUs on each node (-1: the machine's own)")
	cmd.Flags().StringVar(&o.Placement, "placement", home.Pack,
		"which nodes Volcano fills first: pack (those with least room, so that whole nodes stay free for large gangs), spread (those with most)")
	cmd.Flags().StringVar(&o.Images, "images", node.ImageModes[0],
		"what the names of images stand for: pull (images of registries), host (this machine's own files), auto (images while their registry can be reached, else this machine's files)")
	cmd.Flags().StringSliceVar(&o.InsecureRegistries, "insecure-registry", nil, "registry (host or host:port) that may be talked to without encryption; those of this machine always are")
	cmd.Flags().StringArrayVar(&o.HostPaths, "host-path", nil, "folder of this machine that pods may have as a volume (hostPath), with all that is in it; repeat it for more")
	cmd.Flags().StringArrayVar(&o.HostShow, "host-show", nil, "folder of this machine that pods without an image see, though it lies in somebody's home or among secrets; repeat it for more")
	return cmd
}

// checkFolders refuses listed folders that no pod may see, such as the data folder.
func checkFolders(h home.Home, flag string, folders []string) error {
	for _, dir := range folders {
		info, err := os.Stat(dir)
		if err == nil && (!info.IsDir() || !filepath.IsAbs(dir)) {
			err = errors.New("want the absolute path of a folder")
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", flag, dir, err)
		}
		for _, kept := range []string{string(h), "/proc", "/sys"} {
			if holds(dir, kept) || holds(kept, dir) {
				return fmt.Errorf("%s %s: pods would see %s; name another folder, or one inside that leaves it out", flag, dir, kept)
			}
		}
	}
	return nil
}

// holds says whether a path is the folder or lies in it, links followed.
func holds(folder, path string) bool {
	real := func(path string) string {
		if followed, err := filepath.EvalSymlinks(path); err == nil {
			return followed
		}
		return path
	}
	rel, err := filepath.Rel(real(folder), real(path))
	return err == nil && filepath.IsLocal(rel)
}

// up runs the cluster until the context ends or a child can't be started.
func up(ctx context.Context, h home.Home, o home.Options, out io.Writer) error {
	lock, err := home.Acquire(h.ClusterLock())
	if err != nil {
		return fmt.Errorf("a cluster is up on %s already: %w", h, err)
	}
	defer func() { _ = lock.Release() }() // the end of the process releases it in any case
	if err := doctor.Namespaces(ctx); err != nil {
		return err
	}
	// Left by a supervisor that was killed.
	if err := errors.Join(h.RemoveInfo(), h.RemoveComponents()); err != nil {
		return err
	}
	c, err := prepare(ctx, h, o, out)
	if err != nil {
		return err
	}
	defer c.close()

	ctx, cancel := context.WithCancelCause(ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel(nil)
	for service, port := range map[string]int{apiserver: c.ports[apiserver], objectStore: c.ports[objectStore]} {
		tasks.Go(func() {
			if err := relay.Serve(c.relays, h.Socket(service), loopback(port), c.log); err != nil {
				cancel(err)
			}
		})
	}
	defer c.endRelays()
	if o.Linger > 0 {
		tasks.Go(func() {
			if home.WaitUnheld(ctx, h.Lock(), o.Linger) == nil {
				cancel(errLingered)
			}
		})
	}

	err = c.start(ctx)
	if err == nil {
		err = c.serveDemand(ctx)
	}
	if err == nil {
		<-ctx.Done()
	}
	cause := context.Cause(ctx)
	c.log.Info("stopping", "why", cause)
	c.stop()
	if err != nil && ctx.Err() == nil {
		return err
	}
	if errors.Is(cause, context.Canceled) || errors.Is(cause, errLingered) {
		return nil
	}
	return cause
}

// cluster is what a start prepares.
type cluster struct {
	home        home.Home
	options     home.Options
	keys        home.S3
	admin       *rest.Config
	files       map[string]*os.File
	ports       map[string]int
	children    *supervisor.Supervisor
	program     string // of the upstream children
	programFile *os.File
	log         *slog.Logger
	logFile     *os.File
	report      *report
	relays      context.Context // lives longer than the start's context: pods stop while they can still reach the apiserver
	endRelays   context.CancelFunc
}

// prepare makes keys, addresses and credentials.
func prepare(ctx context.Context, h home.Home, o home.Options, out io.Writer) (*cluster, error) {
	c := &cluster{home: h, options: o}
	var err error
	if c.log, c.logFile, err = openLog(h); err != nil {
		return nil, err
	}
	if err := pki.Ensure(h.PKI(), time.Now()); err != nil {
		return nil, err
	}
	if c.keys, err = objectstore.Keys(h); err != nil {
		return nil, err
	}
	listeners, err := h.Listen(ctx, apiserver, objectStore, kubelet)
	if err != nil {
		return nil, err
	}
	if c.files, c.ports, err = inherit(listeners); err != nil {
		return nil, err
	}
	c.keys.Endpoint = loopback(c.ports[objectStore])
	if err := c.writeKubeconfigs(); err != nil {
		return nil, err
	}
	if c.admin, err = clientcmd.BuildConfigFromFlags("", h.Kubeconfig()); err != nil {
		return nil, err
	}
	c.report = &report{home: h, out: out, log: c.log}
	if c.program, c.programFile, err = openProgram(controlPlaneProgram); err != nil {
		return nil, err
	}
	// By this name a child that starts again after a rebuild is still the same program.
	c.children = supervisor.New(supervisor.Config{Program: "/proc/self/exe", Log: h.Log, Event: c.report.event})
	c.relays, c.endRelays = context.WithCancel(context.WithoutCancel(ctx))
	return c, nil
}

func (c *cluster) writeKubeconfigs() error {
	server := "https://" + loopback(c.ports[apiserver])
	write := func(path, namespace, user string) error {
		return kubeconfig.Write(path, server, namespace, c.home.PKI(), user)
	}
	if err := write(c.home.Kubeconfig(), "kubeflow", pki.Admin); err != nil {
		return err
	}
	for component, user := range map[string]string{
		kubelet: pki.Kubelet, pki.ControllerManager: pki.ControllerManager, pki.Scheduler: pki.Scheduler,
		pki.Argo: pki.Argo, pki.MPIOperator: pki.MPIOperator, pki.TrainingOperator: pki.TrainingOperator,
		pki.VolcanoScheduler: pki.VolcanoScheduler, pki.VolcanoControllers: pki.VolcanoControllers,
	} {
		if err := write(c.home.KubeconfigOf(component), "", user); err != nil {
			return err
		}
	}
	return nil
}

// start returns when every component serves.
func (c *cluster) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not within %v", startLimit))
	defer cancel()
	names, err := c.launch(base(c.home, c.files))
	if err != nil {
		return err
	}
	if err := c.children.Wait(ctx, apiserver); err != nil {
		return err
	}
	program, err := beside(controlPlaneProgram)
	if err != nil {
		return err
	}
	build, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	if err := bootstrap.Apply(ctx, c.admin, c.keys, versions.Of(build)); err != nil {
		return err
	}
	more, err := c.launch(dependent(c.home, c.options, c.files, c.ports, c.admin))
	if err != nil {
		return err
	}
	if err := c.children.Wait(ctx, append(names, more...)...); err != nil {
		return err
	}
	if err := c.home.WriteInfo(home.Info{
		Version: 1, PID: os.Getpid(),
		APIServer: c.admin.Host, Kubeconfig: c.home.Kubeconfig(), S3: c.keys, Shared: c.home.Shared(),
		Started: time.Now(), Options: c.options,
	}); err != nil {
		return err
	}
	c.report.cluster(c.children.Uptime())
	return nil
}

func (c *cluster) launch(children []supervisor.Child) (names []string, err error) {
	for _, ch := range children {
		if upstream[ch.Name] {
			ch.Program = c.program
		}
		if err := c.children.Start(ch); err != nil {
			return nil, err
		}
		names = append(names, ch.Name)
	}
	return names, nil
}

func (c *cluster) stop() {
	c.report.stop()
	if err := c.home.RemoveInfo(); err != nil {
		c.log.Error("remove the record of the cluster", "error", err)
	}
	c.children.Stop()
	if err := c.home.RemoveComponents(); err != nil {
		c.log.Error("remove the record of the components", "error", err)
	}
}

func (c *cluster) close() {
	for _, f := range c.files {
		_ = f.Close()
	}
	_ = c.programFile.Close()
	_ = c.logFile.Close()
}

func openLog(h home.Home) (*slog.Logger, *os.File, error) {
	f, err := supervisor.OpenLog(h.Log("supervisor"))
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewTextHandler(f, nil)), f, nil
}

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
