package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/demo"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/embedded"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/samples"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/app"
	"github.com/argosy-ml/argosy/server/password"
	"github.com/argosy-ml/argosy/server/sample"
)

const clusterGrace = 50 * time.Second // for pods, then the components one after the other

var errInterrupted = errors.New("interrupted")

func (c *cli) upCommand() *cobra.Command {
	var sample string
	var linger time.Duration
	var flags clusterFlags
	var keep keepFlags
	cmd := &cobra.Command{
		Use: "up", Short: "Start the server with a cluster of its own; Ctrl-C stops both",
		Long: `Up starts the embedded cluster (kube-apiserver, etcd, the Argo and MPI controllers and a kubelet of its own, no Docker) and the
server with the UI, REST and gRPC. When everything is ready, it prints one line on standard output:

  ready http://127.0.0.1:8888

Progress goes to standard error. All data is in the data folder, with a kubeconfig of the cluster. The server serves the account
that started it, and root; with $` + client.EnvPassword + ` set, all accounts of this machine
that send the password. Ctrl-C stops every process it started; a second one kills them. If the server is killed, the cluster and its
runs continue for a while (--linger), and the next up on the same data folder takes them over. A cluster of argosy cluster start
is used and left running.`,
		Example: "  argosy up\n  argosy up --demo samples/mpi_run\n  argosy up --home /tmp/other --http 127.0.0.1:0 --grpc 127.0.0.1:0",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if embedded.Unsupported != nil {
				return exit.With(exit.Environment, embedded.Unsupported)
			}
			settings, err := home.Resolve(cmd.Flags())
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			if err := keep.set(&app.Config{}); err != nil { // before anything is started
				return err
			}
			if err := password.Password(os.Getenv(client.EnvPassword)).Check(); err != nil {
				return exit.With(exit.Environment, err)
			}
			options, err := flags.options(cmd)
			if err != nil {
				return err
			}
			if info, err := os.Stat(sample); sample != "" && (err != nil || !info.IsDir()) {
				return exit.Usagef("--demo %s: no such folder", sample)
			}
			u := &upper{cli: c, screen: terminal.New(c.err), settings: settings, sample: sample, linger: linger, options: options, keep: keep}
			return u.run()
		},
	}
	addListenFlags(cmd)
	keep.add(cmd)
	flags.add(cmd)
	cmd.Flags().StringVar(&sample, "demo", "", "run the sample in this `folder` once the server is ready, such as samples/mpi_run")
	cmd.Flags().DurationVar(&linger, "linger", 10*time.Minute, "how long the cluster waits for another up after this one is killed; 0 means for ever")
	must(cmd.MarkFlagDirname("demo"))
	must(cmd.RegisterFlagCompletionFunc("linger", cobra.NoFileCompletions))
	return cmd
}

// upper is one `argosy up`.
type upper struct {
	*cli
	screen   *terminal.Screen
	settings home.Settings
	sample   string
	linger   time.Duration
	options  embedded.Options
	keep     keepFlags
}

// run starts everything, serves until a signal, and stops everything. The root's own signal handling would leave at the
// second Ctrl-C without killing the cluster, so this one takes its place.
func (u *upper) run() (err error) {
	ctx, force, done := signals(sameWish)
	defer done()
	defer u.screen.Idle()

	h, lock, err := openHome(u.settings.Home)
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the process ends
	if err := u.probe(ctx); err != nil {
		return exit.With(exit.Environment, err)
	}
	u.screen.Printf("argosy in %s", h)

	cluster, err := u.startCluster(ctx, h)
	if err != nil {
		return interruptedOr(clusterFailure(err))
	}
	defer func() { err = errors.Join(err, u.leaveCluster(force, h, cluster)) }()
	server, err := u.startServer(ctx, h, cluster)
	if err != nil {
		return interruptedOr(err)
	}
	defer func() {
		defer u.screen.Busy("stopping the server")()
		err = errors.Join(err, stopServer(force, server))
	}()
	return u.serve(ctx, h, cluster, server)
}

func (u *upper) startCluster(ctx context.Context, h home.Home) (*embedded.Cluster, error) {
	idle := u.screen.Busy("starting the cluster")
	defer idle()
	cfg := embedded.Config{Home: h, Linger: u.linger, Options: u.options, Line: func(line string) { u.screen.Printf("  %s", line) }}
	if u.sample != "" { // samples are made for this machine's files: mpirun, sshd and python of build/packages.sh
		cfg.Images = "host"
	}
	cluster, err := embedded.Up(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if cluster.Attached {
		u.screen.Printf("  cluster runs already (process %d)%s", cluster.Info.PID, strings.Join(append([]string{""}, cluster.Info.Options.Flags()...), " "))
	}
	return cluster, nil
}

// probe finds out that an address is taken before a cluster is started for nothing.
func (u *upper) probe(ctx context.Context) error {
	var listen net.ListenConfig
	for flag, address := range map[string]string{"http": u.settings.HTTP, "grpc": u.settings.GRPC} {
		l, err := listen.Listen(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("%w; choose another address with --%s or ARGOSY_%s (port 0 picks a free one)", err, flag, strings.ToUpper(flag))
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (u *upper) startServer(ctx context.Context, h home.Home, cluster *embedded.Cluster) (*app.App, error) {
	begin := time.Now()
	defer u.screen.Busy("starting the server")()
	s3 := cluster.Info.S3
	cfg := app.Config{
		HTTP: u.settings.HTTP, GRPC: u.settings.GRPC, Store: u.settings.Store, ImportFrom: u.settings.ImportFrom, Kubeconfig: cluster.Info.Kubeconfig,
		Password: password.Password(os.Getenv(client.EnvPassword)),
		S3:       app.S3{Endpoint: s3.Endpoint, AccessKey: s3.AccessKey, SecretKey: s3.SecretKey, Bucket: s3.Bucket},
		Machine:  sample.Machine{Shared: h.Shared(), Lacks: func(ctx context.Context) (string, error) { return lackingTools(ctx, h) }},
	}
	if err := u.keep.set(&cfg); err != nil {
		return nil, err
	}
	server, err := startServer(ctx, h, cfg, u.screen.Logger(&u.level))
	if err == nil {
		u.screen.Printf("  server ready %.1fs", time.Since(begin).Seconds())
	}
	return server, err
}

// serve says that all is ready, runs the demo if one is wanted, and returns when it is time to stop.
func (u *upper) serve(ctx context.Context, h home.Home, cluster *embedded.Cluster, server *app.App) error {
	url := "http://" + server.Addrs().HTTP
	u.screen.Printf("  gRPC %s · kubectl --kubeconfig %s get wf,mpijobs,pods -A", server.Addrs().GRPC, cluster.Info.Kubeconfig)
	fmt.Fprintln(u.out, "ready "+url)

	var demos sync.WaitGroup
	defer demos.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if u.sample != "" {
		demos.Go(func() { u.demo(ctx, h, url) })
	}
	select {
	case <-ctx.Done():
		u.screen.Printf("\nstopping")
		return nil
	case <-cluster.Done():
		return exit.Environmentf("the embedded cluster is gone: %s\n(more in %s)", cluster.Epitaph(), h.Path("cluster", "log"))
	case <-server.Done():
		return nil // Stop tells why
	}
}

// demo runs the sample. The server continues even if it fails.
func (u *upper) demo(ctx context.Context, h home.Home, url string) {
	cfg := demo.Config{Screen: u.screen, Dir: u.sample, Work: h.Path("demo"), Shared: h.Shared()}
	var err error
	if cfg.Client, err = client.New(url, client.WithPassword(os.Getenv(client.EnvPassword))); err == nil {
		cfg.Nodes, err = offers(ctx, h)
	}
	if err == nil {
		err = demo.Run(ctx, cfg)
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil && !errors.Is(err, demo.ErrRunFailed):
		u.screen.Printf("\n%s the demo failed: %s", u.screen.Mark(terminal.Bad), strings.TrimSpace(err.Error()))
	}
	u.screen.Printf("\nArgosy serves at %s until Ctrl-C", url)
}

// offers asks the cluster what each of its nodes offers to pods.
func offers(ctx context.Context, h home.Home) ([]samples.Node, error) {
	status, err := embedded.ReadStatus(ctx, h)
	if err != nil {
		return nil, err
	}
	var nodes []samples.Node
	for _, n := range status.Nodes {
		cpu, err := resource.ParseQuantity(n.CPU)
		if err != nil {
			return nil, fmt.Errorf("node %s offers %q CPUs: %w", n.Name, n.CPU, err)
		}
		nodes = append(nodes, samples.Node{MilliCPU: cpu.MilliValue(), Memory: n.Memory})
	}
	return nodes, nil
}

// leaveCluster stops the cluster, unless it was there before on its own.
func (u *upper) leaveCluster(force context.Context, h home.Home, cluster *embedded.Cluster) error {
	if cluster.Stays() {
		u.screen.Printf("the cluster goes on; end it with %s", hint(h, "stop"))
		return cluster.Release()
	}
	defer u.screen.Busy("stopping the cluster")()
	ctx, cancel := context.WithTimeout(force, clusterGrace)
	defer cancel()
	return cluster.Stop(ctx)
}

// sameWish is how soon after the first signal another is the same wish: make, timeout and service managers signal a
// process and its group.
const sameWish = time.Second

// signals gives a context that the first SIGINT, SIGTERM or SIGHUP ends, and one that the first ends which comes later
// than within.
func signals(within time.Duration) (first, second context.Context, stop func()) {
	first, cancelFirst := context.WithCancelCause(context.Background())
	second, cancelSecond := context.WithCancelCause(context.Background())
	arrived := make(chan os.Signal, 2)
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		wanted = append(wanted, syscall.SIGHUP)
	}
	signal.Notify(arrived, wanted...)
	quit := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		var asked time.Time
		for {
			select {
			case <-arrived:
			case <-quit:
				return
			}
			switch {
			case asked.IsZero():
				asked = time.Now()
				cancelFirst(errInterrupted)
			case time.Since(asked) > within:
				cancelSecond(errInterrupted)
				return
			}
		}
	})
	return first, second, func() {
		signal.Stop(arrived)
		close(quit)
		reader.Wait()
		cancelFirst(nil)
		cancelSecond(nil)
	}
}

// interruptedOr makes a start that was interrupted an orderly end.
func interruptedOr(err error) error {
	if errors.Is(err, errInterrupted) {
		return nil
	}
	return err
}
