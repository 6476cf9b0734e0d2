package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/cmd/internal/version"
	"github.com/argosy-ml/argosy/frontend"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/app"
	"github.com/argosy-ml/argosy/server/password"
)

// Where the keys of the artifact store come from: not from the command line, which others can read.
const (
	envS3AccessKey = "ARGOSY_S3_ACCESS_KEY"
	envS3SecretKey = "ARGOSY_S3_SECRET_KEY"
)

func (c *cli) serverCommand() *cobra.Command {
	var cfg app.Config
	var keep keepFlags
	cmd := &cobra.Command{
		Use: "server --kubeconfig FILE --s3 HOST:PORT", Short: "Start the server for an existing cluster",
		Long: `Server serves UI, REST and gRPC for a Kubernetes cluster with Argo Workflows, the MPI operator and an S3 store. The keys of
the store are read from $` + envS3AccessKey + ` and $` + envS3SecretKey + `. When it serves, it prints "ready http://ADDRESS" on
standard output. argosy up is the same with a cluster of its own.`,
		Example: "  argosy server --kubeconfig ~/.kube/config --s3 127.0.0.1:9000",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := home.Resolve(cmd.Flags())
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			if cfg.S3.Endpoint == "" {
				return exit.Usagef("say where artifacts and logs are kept: --s3 HOST:PORT")
			}
			cfg.Home, cfg.HTTP, cfg.GRPC, cfg.Store = settings.Home, settings.HTTP, settings.GRPC, settings.Store
			cfg.ScalesUp, cfg.ImportFrom = settings.ScalesUp, settings.ImportFrom
			cfg.S3.AccessKey, cfg.S3.SecretKey = os.Getenv(envS3AccessKey), os.Getenv(envS3SecretKey)
			cfg.Password = password.Password(os.Getenv(client.EnvPassword))
			if err := keep.set(&cfg); err != nil {
				return err
			}
			return c.runServer(cmd.Context(), cfg)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Kubeconfig, "kubeconfig", "", "`file` that names the cluster (default: the cluster the server runs in)")
	f.StringVar(&cfg.Namespace, "namespace", "kubeflow", "`namespace` that workflows run in")
	f.StringVar(&cfg.S3.Endpoint, "s3", "", "`address` of the artifact store, as host:port")
	f.StringVar(&cfg.S3.Bucket, "s3-bucket", "mlpipeline", "`bucket` of artifacts and logs")
	f.BoolVar(&cfg.S3.Secure, "s3-tls", false, "use TLS towards the artifact store")
	f.StringSliceVar(&cfg.Hosts, "host", nil, "`name` that the server answers to beside localhost; with one it may listen on any address, such as :8888, "+
		"and asks for the password in $"+client.EnvPassword)
	f.Bool("scales-up", false, "the cluster adds nodes when pods ask for more: steps that are too big wait instead of failing ($ARGOSY_SCALES_UP)")
	addListenFlags(cmd)
	keep.add(cmd)
	must(cmd.MarkFlagFilename("kubeconfig"))
	for _, flag := range []string{"namespace", "s3", "s3-bucket", "host"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	return cmd
}

// addListenFlags adds the flags that up and server share; home.Resolve reads them.
func addListenFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	homeFlag(cmd)
	f.String("http", home.DefaultHTTP, "`address` of UI and REST; port 0 picks a free one ($ARGOSY_HTTP)")
	f.String("grpc", home.DefaultGRPC, "`address` of gRPC; port 0 picks a free one ($ARGOSY_GRPC)")
	f.String("import-from", "", "`networks` and hosts, beside the public internet, that pipelines may be read from by URL, such as 10.0.0.0/8,models.intranet; "+
		"every user of the API can make the server read what lies there ($ARGOSY_IMPORT_FROM)")
	for _, flag := range []string{"http", "grpc", "import-from"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	storeFlag(cmd)
}

// storeFlag adds the flag that says where the store is; home.Resolve reads it.
func storeFlag(cmd *cobra.Command) {
	cmd.Flags().String("store", "", "`place` of the store: a file, or postgres://user@host:5432/database, whose password is better in $PGPASSWORD"+
		" or ~/.pgpass than where others can read it (default: in the data folder) ($ARGOSY_STORE)")
}

// storePlace is where the store is.
func storePlace(settings home.Settings) string {
	if settings.Store != "" {
		return settings.Store
	}
	return app.StoreFile(settings.Home)
}

// runServer serves until ctx ends.
func (c *cli) runServer(ctx context.Context, cfg app.Config) error {
	h, lock, err := openHome(cfg.Home)
	if err != nil {
		return err
	}
	defer lock.Release() //nolint:errcheck // the process ends
	server, err := startServer(ctx, h, cfg, terminal.New(c.err).Logger(&c.level))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "ready http://%s\n", server.Addrs().HTTP)
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	return stopServer(context.WithoutCancel(ctx), server)
}

// openHome makes the data folder and takes it for this process.
func openHome(dir string) (home.Home, *home.Lock, error) {
	h, err := home.Open(dir)
	if err != nil {
		return "", nil, exit.With(exit.Environment, err)
	}
	lock, err := h.Lock()
	if held := (*home.Held)(nil); errors.As(err, &held) {
		return "", nil, exit.With(exit.Refused, err)
	}
	return h, lock, exit.With(exit.Environment, err)
}

// heapGrowth is GOGC where the user sets none: half of the usual. It costs large lists a tenth more processor time, and a server
// beside other work takes some 15 MB less.
const heapGrowth = 50

// startServer fills in what every server has and starts it.
func startServer(ctx context.Context, h home.Home, cfg app.Config, log *slog.Logger) (*app.App, error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	cfg.Home, cfg.Log, cfg.UI = string(h), log, frontend.Dist()
	cfg.Version, cfg.Commit = version.Version, version.Commit()
	server, err := app.New(ctx, cfg)
	if err != nil {
		return nil, exit.With(exit.Environment, err)
	}
	err = server.Start(ctx)
	if err == nil {
		return server, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w; choose another address with --http and --grpc (port 0 picks a free one)", err)
	}
	return nil, exit.With(exit.Environment, errors.Join(err, server.Stop(ctx)))
}

// stopServer ends a server and tells why it failed, if it did.
func stopServer(ctx context.Context, server *app.App) error {
	ctx, cancel := context.WithTimeout(ctx, serverGrace)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

const serverGrace = 10 * time.Second // for calls that are being answered
