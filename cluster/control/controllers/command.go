// Package controllers holds the children that act on the cluster's objects:
// Kubernetes' own controllers and scheduler with the Argo workflow controller,
// and those of distributed jobs: mpi-operator, training-operator and Volcano.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cluster/control/heap"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/host/readiness"
)

// Requests per second that a controller may send. The apiserver is one process
// on the same machine; the usual limits of 5 to 20 would only slow pods down.
const (
	qps   = 1000
	burst = 2000
)

// component runs until the context ends, and calls ready once when it watches what it acts on.
type component func(ctx context.Context, h home.Home, ready func()) error

// Commands are the children of this package.
func Commands() []*cobra.Command {
	var stock bool
	together := child("controllers", "Run Kubernetes' own controllers and scheduler, and the Argo workflow controller",
		runControllerManager,
		func(ctx context.Context, h home.Home, ready func()) error { return runScheduler(ctx, h, stock, ready) },
		func(ctx context.Context, h home.Home, ready func()) error { return runArgo(ctx, h, stock, ready) })
	together.Flags().BoolVar(&stock, "stock-argo", false, "run Argo without the cluster's speed-ups")
	var placement string
	volcano := child("volcano", "Run Volcano's scheduler and controllers",
		func(ctx context.Context, h home.Home, ready func()) error {
			return runVolcanoScheduler(ctx, h, placement, ready)
		}, runVolcanoControllers)
	volcano.Flags().StringVar(&placement, "placement", home.Pack, "how gangs are placed: "+home.Pack+" or "+home.Spread)
	return []*cobra.Command{
		together,
		child("mpi-operator", "Run mpi-operator", runMPIOperator),
		child("training-operator", "Run training-operator", runTrainingOperator),
		volcano,
	}
}

// child is a command that runs components side by side. Each process of this program holds some 40 MB of its own, whatever it
// does, so components that are restarted together share one.
func child(name, short string, components ...component) *cobra.Command {
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
			if err := setFeatures(); err != nil {
				return err
			}
			if err := runAll(ctx, h, components); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "home", "", "data folder of the cluster")
	return cmd
}

// runAll returns when the context ends or the first component does; it does not wait for the others, since the
// process ends with it. They hold no state: what one was about to do it does after the next start.
func runAll(ctx context.Context, h home.Home, components []component) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { heap.Watch(ctx) })
	defer watching.Wait()
	defer cancel()
	ended := make(chan error, len(components))
	var waiting sync.WaitGroup
	for _, run := range components {
		waiting.Add(1)
		go func() { ended <- run(ctx, h, sync.OnceFunc(waiting.Done)) }()
	}
	go func() {
		waiting.Wait()
		announce()
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
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

// announce reports readiness to the supervisor. If that fails, the supervisor's own time limit ends the start.
func announce() {
	if err := readiness.Announce(); err != nil {
		slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("announce readiness", "error", err)
	}
}
