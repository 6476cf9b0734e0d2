// Command bench measures the embedded cluster: against the same workflows with
// Argo's own executor and requeue time on the same control plane, and beside
// programs that run the same commands without a cluster. `make bench-cluster`
// builds what it needs and runs it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	bin     string        // folder with argosy-cluster and dagu
	runs    int           // of short measurements; their median counts
	row     int           // one-step workflows in a row
	wide    int           // width of the largest fan-out
	stock   bool          // measure with Argo's own executor and requeue time too
	jobs    bool          // measure distributed jobs only
	requeue time.Duration // of the stock control plane
	idle    time.Duration // how long the idle cluster is looked at
	out     string        // file for the figures as JSON
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "../bin", "folder with the built programs")
	flag.IntVar(&o.runs, "runs", 7, "runs of each short measurement; the median counts")
	flag.IntVar(&o.row, "row", 1000, "one-step workflows in a row, to see what grows")
	flag.IntVar(&o.wide, "wide", 1000, "width of the largest fan-out")
	flag.BoolVar(&o.stock, "stock", true, "measure with Argo's own executor and requeue time too")
	flag.BoolVar(&o.jobs, "jobs", false, "measure distributed jobs and nothing else")
	flag.DurationVar(&o.requeue, "requeue", 10*time.Second, "requeue time of the stock control plane")
	flag.DurationVar(&o.idle, "idle", 20*time.Second, "how long the idle cluster is looked at")
	flag.StringVar(&o.out, "json", "", "file for the figures as JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "argosy-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := &report{Started: time.Now().UTC()}
	if err := measure(ctx, o, dir, r); err != nil {
		return err
	}
	r.print(os.Stdout)
	if o.out == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.out, append(b, '\n'), 0o644)
}

// measure takes all figures, each part in a folder of its own.
func measure(ctx context.Context, o options, dir string, r *report) error {
	if err := measureJobs(ctx, o, filepath.Join(dir, "jobs"), r); err != nil || o.jobs {
		return err
	}
	if err := measureCluster(ctx, o, filepath.Join(dir, "cluster"), r); err != nil {
		return err
	}
	if o.stock {
		if err := measureStock(ctx, o, filepath.Join(dir, "stock"), r); err != nil {
			return err
		}
	}
	for _, other := range others(o.bin) {
		if err := other.measure(ctx, o, filepath.Join(dir, other.name), r); err != nil {
			return fmt.Errorf("%s: %w", other.name, err)
		}
	}
	return nil
}
