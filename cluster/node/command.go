// Package node is the node half of the embedded cluster: the sandbox of
// namespaces that pods live in, the relays between it and the host's loopback,
// and the holder that keeps a kubelet running inside.
//
// Each of three processes is a child of the one before. The supervisor starts
// the node, outside the sandbox. The holder is the first process of the sandbox
// and owns the pods' network. The kubelet may die and is restarted while the
// pods go on, held by processes of their own. When the node dies, in any way,
// the kernel ends everything in the sandbox. A fourth process, uplink, runs
// while pods talk to the outside.
package node

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/images"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/nodestatus"
)

// LimitsAnnotation says on a Node how the limits of its containers are enforced.
const LimitsAnnotation = nodestatus.LimitsAnnotation

// Descriptors that the processes of the node hand down.
const (
	listenerFD = 3 // the kubelet's HTTPS listener, of the host's loopback
	lifelineFD = 4 // ends when the node is gone
	outsideFD  = 5 // takes the packets that leave the sandbox

	nodeNetworkFD = 4 // of the kubelet: the network namespace of pods with hostNetwork
)

// ImageModes are what the names of images can stand for, the default first.
var ImageModes = images.Modes

// options are the same for all three processes.
type options struct {
	home     string
	port     int
	nodes    int
	gpus     int
	images   string   // what the names of images stand for
	insecure []string // registries that may speak plain http

	hostPaths []string // folders of the machine that pods may have as volumes
	hostShow  []string // folders of the machine that pods see although they are hidden

	stockArgo bool // the work of Argo's executor is its own

	cgroup   string // folder for the groups of containers; empty: there are none
	noCgroup string // why there are none

	root    string   // where the machine's root file system is seen without what is mounted there; empty: nowhere but at /
	covered []string // folders of the machine that pods see empty
}

func (o options) args(command ...string) []string {
	args := append(append([]string{"argosy-cluster", "node"}, command...), "--home", o.home, "--port", itoa(o.port),
		"--nodes", itoa(o.nodes), "--gpus", itoa(o.gpus), "--images", o.images, "--cgroup", o.cgroup, "--no-cgroup", o.noCgroup)
	for _, r := range o.insecure {
		args = append(args, "--insecure-registry", r)
	}
	for _, dir := range o.hostPaths {
		args = append(args, "--host-path", dir)
	}
	for _, dir := range o.hostShow {
		args = append(args, "--host-show", dir)
	}
	if o.stockArgo {
		args = append(args, "--stock-argo")
	}
	args = append(args, "--root", o.root)
	for _, c := range o.covered {
		args = append(args, "--covered", c)
	}
	return args
}

// Command is the subcommand `node` of argosy-cluster. The supervisor starts it
// with the kubelet's HTTPS listener as file descriptor 3.
func Command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:           "node",
		Short:         "Run the node: its sandbox and the kubelet inside",
		Args:          cobra.NoArgs,
		Hidden:        true,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.Open(o.home)
			if err != nil {
				return err
			}
			o.home = string(h)
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return run(ctx, o, logger("node"))
		},
	}
	cmd.PersistentFlags().StringVar(&o.home, "home", "", "data folder of the cluster")
	cmd.PersistentFlags().IntVar(&o.port, "port", 0, "port of the kubelet's listener, for the Node object")
	cmd.PersistentFlags().IntVar(&o.nodes, "nodes", 1, "number of nodes")
	cmd.PersistentFlags().IntVar(&o.gpus, "gpus", -1, "number of simulated GPUs on each node (-1: the machine's own)")
	cmd.PersistentFlags().StringVar(&o.images, "images", images.Auto, "what the names of images stand for")
	cmd.PersistentFlags().StringSliceVar(&o.insecure, "insecure-registry", nil, "registries that may speak plain http")
	cmd.PersistentFlags().StringArrayVar(&o.hostPaths, "host-path", nil, "folders of the machine that pods may have as volumes")
	cmd.PersistentFlags().StringArrayVar(&o.hostShow, "host-show", nil, "folders of the machine that pods see although they are hidden")
	cmd.PersistentFlags().BoolVar(&o.stockArgo, "stock-argo", false, "run Argo's own executor in every pod")
	cmd.PersistentFlags().StringVar(&o.cgroup, "cgroup", "", "folder for the control groups of containers, for the node's own processes")
	cmd.PersistentFlags().StringVar(&o.noCgroup, "no-cgroup", "", "why there is no such folder")
	cmd.PersistentFlags().StringVar(&o.root, "root", "", "where the machine's root file system is seen without what is mounted there, for the node's own processes")
	cmd.PersistentFlags().StringArrayVar(&o.covered, "covered", nil, "folder of the machine that pods see empty, for the node's own processes")
	cmd.AddCommand(holderCommand(&o), kubeletCommand(&o), uplinkCommand())
	return cmd
}

func holderCommand(o *options) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:    "holder",
		Short:  "Hold the sandbox: its network, its relays and its kubelet",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wait {
				return becomeRoot(*o)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return hold(ctx, *o, logger("holder"))
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the user ids of the sandbox are mapped")
	return cmd
}

func kubeletCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:    "kubelet",
		Short:  "Run pods, inside the sandbox",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return runKubelet(ctx, *o, logger("kubelet"))
		},
	}
}

func logger(process string) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, nil)).With("process", process)
}
