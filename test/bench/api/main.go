// Command api measures the API server on stores that have grown: `make bench-api`.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/argosy-ml/argosy/server/app"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// options are the flags.
type options struct {
	bin      string
	sizes    string
	samples  int
	patience time.Duration
	out      string
	only string
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder with the built programs")
	flag.IntVar(&o.samples, "samples", 12, "requests of each list and page")
	flag.DurationVar(&o.patience, "patience", time.Second, "how long one list and page is measured at most")
	flag.StringVar(&o.only, "only", "", "measure only the lists whose description has this text")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := quick(ctx, o, flag.Arg(0), flag.Arg(1)); err != nil {
		log.Fatal(err)
	}
}

func quick(ctx context.Context, o options, runs, db string) error {
	dir, err := os.MkdirTemp("", "argosy-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var n int
	fmt.Sscan(runs, &n)
	w := seed.NewWorld(1, n)
	if db == "" {
		if err := seed.Fill(ctx, app.StoreFile(dir), w); err != nil {
			return err
		}
	} else if err := os.Link(db, app.StoreFile(dir)); err != nil {
		return err
	}
	s, err := startServer(ctx, o.bin, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	var shapes []shape
	for _, sh := range slices.Concat(sorted(w), filtered(w)) {
		if strings.Contains(sh.String(), o.only) {
			shapes = append(shapes, sh)
		}
	}
	ls, err := measureLists(ctx, s, w, shapes, o)
	if err != nil {
		b, _ := os.ReadFile(filepath.Join(dir, "bench.log"))
		fmt.Println(string(b))
		return err
	}
	slices.SortFunc(ls, func(a, b listed) int { return cmp.Compare(b.P50, a.P50) })
	for _, l := range ls[:min(400, len(ls))] {
		fmt.Printf("%8.1f %8.1f %7d  %s, %s\n", l.P50, l.P99, l.Total, l.Shape, l.Page)
	}
	fmt.Println(s.memory())
	return nil
}
