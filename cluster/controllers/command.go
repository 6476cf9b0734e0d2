// Package controllers holds the children that act on the cluster's objects:
// Kubernetes' own controllers, the Argo workflow controller and mpi-operator.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cluster/home"
	"github.com/argosy-ml/argosy/cluster/readiness"
)

// Requests per second that a controller may send. The apiserver is one process
// on the same machine; the usual limits of 5 to 20 would only slow pods down.
const (
	qps   = 1000
	burst = 2000
)

// Commands are the children of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		child("controller-manager", "Run Kubernetes' own controllers", runControllerManager),
		child("argo", "Run the Argo workflow controller", runArgo),
		child("mpi-operator", "Run mpi-operator", runMPIOperator),
	}
}

func child(name, short string, run func(context.Context, home.Home) error) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    name,
		Short:  short,
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.Open(dir)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if err := run(ctx, h); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "home", "", "data folder of the cluster")
	return cmd
}

// client is the configuration with which a component talks to the apiserver.
func client(h home.Home, component string) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", h.KubeconfigOf(component))
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = qps, burst
	cfg.UserAgent = "argosy-cluster/" + component
	return cfg, nil
}

// announce reports readiness; a supervisor that cannot be told will find out by its own time limit.
func announce() {
	if err := readiness.Announce(); err != nil {
		slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("announce readiness", "error", err)
	}
}
