package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/embedded"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
)

// clusters are the commands of the embedded cluster.
type clusters struct{ *cli }

func (c clusters) command() *cobra.Command {
	g := group("cluster", "The embedded Kubernetes cluster, by itself",
		c.start(), c.stop(), c.status(), c.kubeconfig(), c.images())
	g.Long = `The embedded cluster is a real kube-apiserver on etcd with Kubernetes' own controllers, the Argo workflow controller, the MPI
operator and a kubelet that runs pods as processes of this machine: no Docker, no root. argosy up starts one for its server;
these commands use it alone, with kubectl, argo or anything else that speaks Kubernetes.`
	g.Example = `  argosy cluster start
  export KUBECONFIG=$(argosy cluster kubeconfig --path)
  kubectl get pods -A
  argosy cluster stop`
	return g
}

// homeFlag adds the flag that says whose cluster is meant; clusterHome reads it.
func homeFlag(cmd *cobra.Command) {
	cmd.Flags().String("home", "", "data `folder` (default $ARGOSY_HOME, else $XDG_DATA_HOME/argosy, else ~/.local/share/argosy)")
	must(cmd.MarkFlagDirname("home"))
}

// clusterHome is the data folder that the command line means, whether it is there or not.
func clusterHome(cmd *cobra.Command) (home.Home, error) {
	if embedded.Unsupported != nil {
		return "", exit.With(exit.Environment, embedded.Unsupported)
	}
	settings, err := home.Resolve(cmd.Flags())
	if err != nil {
		return "", exit.With(exit.Environment, err)
	}
	h, err := home.At(settings.Home)
	return h, exit.With(exit.Environment, err)
}

// programHome is clusterHome for a command that needs argosy-cluster: without it there is nothing to be done with the folder.
func programHome(cmd *cobra.Command) (home.Home, error) {
	h, err := clusterHome(cmd)
	if err == nil {
		_, err = embedded.Program("")
	}
	return h, exit.With(exit.Environment, err)
}

// hint is a command of this group as the user has to type it: with --home unless the folder is the one that is meant
// without it.
func hint(h home.Home, command string) string {
	settings, err := home.Resolve(pflag.NewFlagSet("", pflag.ContinueOnError))
	if usual, aerr := home.At(settings.Home); err != nil || aerr != nil || usual != h {
		command += " --home " + shellQuote(string(h))
	}
	return "`argosy cluster " + command + "`"
}

// clusterFlags are the settings of a cluster at its start.
type clusterFlags struct {
	images   string
	insecure []string
	volumes  []string
	shown    []string
	nodes    int
	gpus     int
	stock    bool
	placed   string
}

var placements = []string{
	"pack\tfill the nodes with least room first: whole nodes stay free for large gangs",
	"spread\tfill the nodes with most room first",
}

var imageModes = []string{
	"auto\tpull where a registry answers, else run on this machine's files",
	"host\tthis machine's files are every pod's image",
	"pull\tpull images as Kubernetes does",
}

func (f *clusterFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.images, "images", "auto", "`mode` of images, where pods' files come from: auto, host or pull")
	cmd.Flags().StringSliceVar(&f.insecure, "insecure-registry", nil, "`registry` (host or host:port) that pods' images may be pulled from without encryption")
	cmd.Flags().StringArrayVar(&f.shown, "host-show", nil, "`folder` of this machine to show to pods although home folders are hidden; repeat it for more ($ARGOSY_HOST_SHOW, separated by colons)")
	cmd.Flags().StringArrayVar(&f.volumes, "host-path", nil, "`folder` of this machine that pods may have as a volume (hostPath); repeat it for more ($ARGOSY_HOST_PATH, separated by colons)")
	cmd.Flags().IntVar(&f.nodes, "nodes", 1, "`number` of virtual nodes that share this machine")
	cmd.Flags().IntVar(&f.gpus, "gpus", 0, "simulate this `number` of GPUs on each node (default: the machine's own)")
	cmd.Flags().BoolVar(&f.stock, "stock-argo", false, "run Argo's controller and executor unchanged, without the cluster's speed-ups")
	cmd.Flags().StringVar(&f.placed, "placement", "pack", "`order` in which Volcano fills nodes: pack (least room first) or spread (most room first)")
	must(cmd.RegisterFlagCompletionFunc("placement", cobra.FixedCompletions(placements, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("images", cobra.FixedCompletions(imageModes, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("insecure-registry", cobra.NoFileCompletions))
	must(cmd.MarkFlagDirname("host-path"))
	must(cmd.MarkFlagDirname("host-show"))
	must(cmd.RegisterFlagCompletionFunc("nodes", cobra.FixedCompletions([]string{"1", "2", "3", "4"}, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("gpus", cobra.FixedCompletions([]string{"0", "1", "2", "4", "8"}, cobra.ShellCompDirectiveNoFileComp)))
}

// options are the flags that were given; the others are the cluster's to choose.
func (f *clusterFlags) options(cmd *cobra.Command) (o embedded.Options, err error) {
	const mostNodes = 100
	if cmd.Flags().Changed("images") {
		known := slices.ContainsFunc(imageModes, func(m string) bool { return strings.HasPrefix(m, f.images+"\t") })
		if !known {
			return o, exit.Usagef("--images %s: want auto, host or pull", f.images)
		}
		o.Images = f.images
	}
	if cmd.Flags().Changed("placement") {
		if f.placed != "pack" && f.placed != "spread" {
			return o, exit.Usagef("--placement %s: want pack or spread", f.placed)
		}
		o.Placement = f.placed
	}
	o.InsecureRegistries, o.StockArgo = f.insecure, f.stock
	if o.HostPaths, err = folders(cmd, "host-path", f.volumes); err != nil {
		return o, err
	}
	if o.HostShow, err = folders(cmd, "host-show", f.shown); err != nil {
		return o, err
	}
	if cmd.Flags().Changed("nodes") {
		if f.nodes < 1 || f.nodes > mostNodes {
			return o, exit.Usagef("--nodes %d: want a number from 1 to %d", f.nodes, mostNodes)
		}
		o.Nodes = f.nodes
	}
	if cmd.Flags().Changed("gpus") {
		if f.gpus < 0 {
			return o, exit.Usagef("--gpus %d: want 0 or more", f.gpus)
		}
		o.GPUs = &f.gpus
	}
	return o, nil
}

// folders are those that a flag names, else those of its environment variable, as absolute paths.
func folders(cmd *cobra.Command, flag string, given []string) ([]string, error) {
	if !cmd.Flags().Changed(flag) {
		given = filepath.SplitList(os.Getenv("ARGOSY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))))
	}
	var all []string
	for _, dir := range given {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil, exit.Usagef("--%s %s: no such folder", flag, dir)
		}
		all = append(all, path)
	}
	return all, nil
}

func (c clusters) start() *cobra.Command {
	var flags clusterFlags
	cmd := &cobra.Command{
		Use: "start", Short: "Start the cluster in the background and wait until it is ready",
		Long: `Start returns when the cluster is ready, and prints a line that points kubectl at it. The cluster runs until argosy cluster stop;
argosy up uses it and leaves it running. If the cluster is already running, start succeeds, unless the flags differ
(exit code 3).`,
		Example: "  argosy cluster start\n  eval \"$(argosy cluster start --nodes 3 --gpus 2)\" && kubectl get nodes",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := flags.options(cmd)
			if err != nil {
				return err
			}
			h, err := programHome(cmd)
			if err != nil {
				return err
			}
			if h, err = home.Open(string(h)); err != nil {
				return exit.With(exit.Environment, err)
			}
			return c.startCluster(cmd.Context(), h, options)
		},
	}
	homeFlag(cmd)
	flags.add(cmd)
	return cmd
}

func (c clusters) startCluster(ctx context.Context, h home.Home, options embedded.Options) error {
	screen := terminal.New(c.err)
	defer screen.Idle()
	if _, runs := h.Supervisor(); !runs {
		screen.Printf("starting the cluster in %s", h)
	}
	screen.Busy("starting the cluster")
	cluster, err := embedded.Up(ctx, embedded.Config{Home: h, Options: options, Line: func(line string) { screen.Printf("  %s", line) }})
	screen.Idle()
	if ctx.Err() != nil && err != nil {
		return exit.With(exit.Interrupted, errors.New("interrupted; what was started is stopped again"))
	} else if err != nil {
		return clusterFailure(err)
	}
	info := cluster.Info
	if cluster.Attached {
		screen.Printf("the cluster on %s runs already (process %d)", h, info.PID)
		if server, runs := h.Server(); runs && info.Options.Linger > 0 {
			screen.Printf("it belongs to argosy up (process %d) and ends with it", server)
		}
	}
	answer := struct {
		Home       home.Home `json:"home"`
		PID        int       `json:"pid"`
		APIServer  string    `json:"apiserver"`
		Kubeconfig string    `json:"kubeconfig"`
	}{h, info.PID, info.APIServer, info.Kubeconfig}
	err = c.printer().Print(answer, func() {
		screen.Printf("\nPoint kubectl at it with this line, and end it with %s:\n", hint(h, "stop"))
		fmt.Fprintf(c.out, "export KUBECONFIG=%s\n", shellQuote(info.Kubeconfig))
	})
	return errors.Join(err, cluster.Release())
}

// clusterFailure gives the failure of a start its exit code.
func clusterFailure(err error) error {
	if different := (*embedded.Different)(nil); errors.As(err, &different) {
		return exit.With(exit.Refused, fmt.Errorf("%w; stop it first with %s, or choose another folder with --home", err, hint(different.Home, "stop")))
	}
	if embedded.Unsupported == nil {
		err = fmt.Errorf("%w\n`argosy doctor` looks at what this machine has for it", err)
	}
	return exit.With(exit.Environment, err)
}

// shellQuote writes a word so that a POSIX shell reads it back.
func shellQuote(word string) string {
	if regexp.MustCompile(`^[\w/.,:@%+=-]+$`).MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (c clusters) stop() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "stop", Short: "Stop the cluster with all its pods and wait until it has ended",
		Long: `Stop ends pods and components in order. The cluster's objects stay in the data folder for the next start. Without a running
cluster, stop succeeds. It refuses the cluster of a running argosy up (exit code 3): stop that command, or use --force.`,
		Args: args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := clusterHome(cmd)
			if err != nil {
				return err
			}
			return c.stopCluster(cmd.Context(), h, force)
		},
	}
	homeFlag(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "stop it even while argosy up uses it")
	return cmd
}

func (c clusters) stopCluster(ctx context.Context, h home.Home, force bool) error {
	if server, runs := h.Server(); runs && !force {
		if _, up := h.Supervisor(); up {
			who := "another process"
			if server != 0 {
				who = "process " + strconv.Itoa(server)
			}
			return exit.With(exit.Refused, fmt.Errorf("argosy up (%s) uses the cluster on %s; end it with Ctrl-C, or use --force", who, h))
		}
	}
	screen := terminal.New(c.err)
	defer screen.Busy("stopping the cluster")()
	// Ctrl-C must not make an orderly stop a disorderly one; a second one leaves the cluster stopping by itself.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clusterGrace)
	defer cancel()
	pid, err := embedded.Stop(ctx, h)
	screen.Idle()
	if err != nil {
		return err
	}
	if pid == 0 {
		fmt.Fprintf(c.out, "no cluster runs on %s\n", h)
		return nil
	}
	fmt.Fprintf(c.out, "stopped the cluster on %s\n", h)
	return nil
}

func (c clusters) kubeconfig() *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use: "kubeconfig", Short: "Print the administrator's kubeconfig of the cluster",
		Long: `Kubeconfig prints the file, or its path with --path. The file holds the administrator's key: keep it secret. Keys stay
the same over restarts, and so does the address if its port is free.`,
		Example: "  export KUBECONFIG=$(argosy cluster kubeconfig --path)\n  argosy cluster kubeconfig > ~/.kube/argosy",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := clusterHome(cmd)
			if err != nil {
				return err
			}
			file := h.Path("kubeconfig")
			content, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				return exit.With(exit.Refused, fmt.Errorf("there is no cluster on %s yet; make one with %s", h, hint(h, "start")))
			} else if err != nil {
				return exit.With(exit.Environment, err)
			}
			if _, runs := h.Supervisor(); !runs {
				terminal.New(c.err).Printf("the cluster does not run at the moment; start it with %s", hint(h, "start"))
			}
			if path {
				fmt.Fprintln(c.out, file)
				return nil
			}
			_, err = c.out.Write(content)
			return err
		},
	}
	homeFlag(cmd)
	cmd.Flags().BoolVar(&path, "path", false, "print the path of the file instead")
	return cmd
}
