// Command api measures the API server on stores that have grown, beside one that has not: `make bench-api` builds what it
// needs and runs it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/argosy-ml/argosy/server/app"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store"
	"github.com/argosy-ml/argosy/server/store/postgres"
	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// The databases that a store is on.
const (
	onSQLite   = "SQLite"
	inPostgres = "PostgreSQL"
)

// few is the size of the store that the others are compared with.
const few = 1000

// options are the flags.
type options struct {
	bin      string
	sizes    string        // of stores, in runs
	seed     uint64        // of their runs
	samples  int           // requests of each list and page
	patience time.Duration // that one list and page is measured for at most
	only     string        // text in the description of the lists that are measured
	parts    string        // what is measured
	out      string        // file for the figures as JSON
	fill     string        // file of a store to make, and nothing else
	postgres int           // size of the store that is measured on PostgreSQL as well
	stores   string        // folder where stores are kept for the next time
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder with the built programs")
	flag.StringVar(&o.sizes, "sizes", "200000,1000000", "sizes of stores, in runs")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of what is in them")
	flag.IntVar(&o.samples, "samples", 10, "requests of each list and page")
	flag.DurationVar(&o.patience, "patience", 200*time.Millisecond, "how long one list and page is measured at most")
	flag.StringVar(&o.only, "only", "", "measure only lists whose description has this text")
	flag.StringVar(&o.parts, "parts", "lists,detail,clients,create", "what to measure")
	flag.StringVar(&o.out, "json", "", "file for all figures, lists and plans as JSON")
	flag.StringVar(&o.fill, "fill", "", "make a store of the first of -sizes in this file, and measure nothing")
	flag.IntVar(&o.postgres, "postgres", 200_000, "which of -sizes is measured on PostgreSQL as well; 0: none")
	flag.StringVar(&o.stores, "stores", "", "keep the stores in this folder, and take those that are there")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func bench(ctx context.Context, o options) error {
	var sizes []int
	for text := range strings.SplitSeq(o.sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-sizes: %w", err)
		}
		sizes = append(sizes, n)
	}
	if o.fill != "" {
		return fillToLook(ctx, o.fill, seed.NewWorld(o.seed, sizes[0]))
	}
	dir, err := os.MkdirTemp("", "argosy-bench-api")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := &report{Started: time.Now().UTC()}
	if err := measure(ctx, o, dir, sizes, r); err != nil {
		return err
	}
	r.print(os.Stdout)
	if o.out == "" {
		return nil
	}
	return r.write(o.out)
}

// measure takes all figures.
func measure(ctx context.Context, o options, dir string, sizes []int, r *report) error {
	parts := strings.Split(o.parts, ",")
	if slices.Contains(parts, "lists") {
		if err := measureSizes(ctx, o, dir, sizes, r); err != nil {
			return fmt.Errorf("lists: %w", err)
		}
	}
	if slices.Contains(parts, "detail") {
		if err := measureDetail(ctx, o, dir, r); err != nil {
			return fmt.Errorf("detail: %w", err)
		}
	}
	if slices.Contains(parts, "clients") || slices.Contains(parts, "create") {
		return measureCluster(ctx, o, dir, r, parts)
	}
	return nil
}

// measureSizes measures lists on a store of few runs and then on those of the sizes.
func measureSizes(ctx context.Context, o options, dir string, sizes []int, r *report) error {
	base := map[string]float64{}
	for _, n := range append([]int{few}, sizes...) {
		home := filepath.Join(cmp.Or(o.stores, dir), fmt.Sprintf("%d-%d", n, o.seed))
		if err := os.MkdirAll(home, 0o700); err != nil {
			return err
		}
		if err := measureSize(ctx, o, home, n, r, base); err != nil {
			return fmt.Errorf("%d runs: %w", n, err)
		}
		if o.stores != "" {
			continue
		}
		if err := os.RemoveAll(home); err != nil {
			return err
		}
	}
	return nil
}

// fillToLook makes a store for the UI: the newest runs can be compared with as many curves as it promises to show.
func fillToLook(ctx context.Context, file string, w *seed.World) error {
	if err := seed.Fill(ctx, file, w); err != nil {
		return err
	}
	return seed.FillCurves(ctx, file, w, seed.Curves{Runs: run.MostCompared, Metrics: 20, Points: 10_000})
}

// fillStore makes a store, unless it is there.
func fillStore(ctx context.Context, file string, w *seed.World, r *report) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	begin := time.Now()
	unfinished := file + ".part"
	if err := errors.Join(os.RemoveAll(unfinished), seed.Fill(ctx, unfinished, w), os.Rename(unfinished, file)); err != nil {
		return err
	}
	r.note("A store of %d runs was made in %.0f s.", w.Runs, time.Since(begin).Seconds())
	return nil
}

func measureSize(ctx context.Context, o options, home string, n int, r *report, base map[string]float64) error {
	w := seed.NewWorld(o.seed, n)
	if err := fillStore(ctx, app.StoreFile(home), w, r); err != nil {
		return err
	}
	info, err := os.Stat(app.StoreFile(home))
	if err != nil {
		return err
	}
	m := newModel(w)
	var shapes []shape
	for _, sh := range slices.Concat(sorted(w), filtered(w), combined(w)) {
		if strings.Contains(sh.String(), o.only) {
			shapes = append(shapes, sh)
		}
	}
	if n != few {
		r.note("The store of %d runs has %d MB.", n, info.Size()>>20)
		if err := measurePlans(ctx, home, m, shapes, r); err != nil {
			return err
		}
	}
	if err := measureStore(ctx, o, home, "", n, r, base, m, shapes); err != nil {
		return err
	}
	if n != o.postgres {
		return nil
	}
	return onPostgres(ctx, app.StoreFile(home), func(store string) error {
		if err := planOnPostgres(ctx, store, m, shapes, r); err != nil {
			return err
		}
		return measureStore(ctx, o, home, store, n, r, base, m, shapes)
	})
}

// onPostgres gives f a PostgreSQL database with what a file has.
func onPostgres(ctx context.Context, file string, f func(address string) error) (err error) {
	database, err := pgtest.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Remove()) }()
	address, err := database.Create("bench")
	if err != nil {
		return err
	}
	if _, err := store.Restore(ctx, file, address); err != nil {
		return err
	}
	return f(address)
}

// planOnPostgres looks at the plans there.
func planOnPostgres(ctx context.Context, address string, m *model, shapes []shape, r *report) error {
	s, err := postgres.Open(ctx, address)
	if err != nil {
		return err
	}
	plans, err := planLists(ctx, s, inPostgres, m, shapes)
	r.Plans = append(r.Plans, plans...)
	return errors.Join(err, s.Close())
}

// measureStore measures the lists of a store: that in home, or the one whose address is given.
func measureStore(ctx context.Context, o options, home, address string, n int, r *report, base map[string]float64, m *model, shapes []shape) (err error) {
	kind := onSQLite
	if address != "" {
		kind = inPostgres
	}
	s, err := startServer(ctx, o.bin, home, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	lists, err := measureLists(ctx, s, m, shapes, o)
	if err != nil {
		return err
	}
	if o.only == "" {
		others, err := measureThings(ctx, s, m.world, o)
		if err != nil {
			return err
		}
		lists = append(lists, others...)
	}
	for i := range lists {
		lists[i].Runs, lists[i].Store = n, kind
	}
	r.Lists = append(r.Lists, lists...)
	r.summarize(lists, kind, n, base)
	resident, files, err := s.memory()
	if err != nil {
		return err
	}
	f := figure{Name: fmt.Sprintf("server's resident memory, %d runs, %s", n, kind), Unit: "MB", Value: resident}
	if n == 1_000_000 {
		f.Aim = 150
	}
	if n != few {
		r.add(f)
		r.note("Of the %.0f MB of the server's memory at %d runs on %s, %.0f MB are pages of the program's file.", resident, n, kind, files)
	}
	return nil
}

func measurePlans(ctx context.Context, home string, m *model, shapes []shape, r *report) error {
	s, err := sqlite.Open(ctx, app.StoreFile(home))
	if err != nil {
		return err
	}
	plans, err := planLists(ctx, s, onSQLite, m, shapes)
	if err == nil {
		r.Plans = append(r.Plans, plans...)
		err = measureRetention(ctx, s, len(m.rows), r)
	}
	return errors.Join(err, s.Close())
}

// measureRetention times the search for runs to remove when most runs are old.
func measureRetention(ctx context.Context, s *sqlstore.Store, runs int, r *report) error {
	all := retention.Cut{Newest: math.MaxInt64}
	for _, of := range []named[retention.Cut]{
		{"older than a year", retention.Cut{Before: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), Newest: math.MaxInt64}},
		{"beyond the newest 1,000 of each experiment", retention.Cut{Newest: 1000}},
	} {
		begin := time.Now()
		found, err := s.Prunable(ctx, of.value, all, all, retention.Candidate{}, 5000)
		if err != nil {
			return err
		}
		r.add(figure{Name: fmt.Sprintf("retention: to find %d runs %s, %d runs (it only reads)", len(found), of.name, runs), Unit: "ms", Value: time.Since(begin).Seconds() * 1000})
	}
	return nil
}

// summarize adds the figures of the lists of a store; those of few runs become the base of the others.
func (r *report) summarize(lists []listed, kind string, n int, base map[string]float64) {
	aim := aims[n]
	for _, group := range []string{scopesAndOrders, filters, combinations, things} {
		var rest, grpc, worst []float64
		for _, l := range lists {
			if l.Group == group {
				rest, grpc, worst = append(rest, l.Times...), append(grpc, l.OverGRPC...), append(worst, l.P50)
			}
		}
		if len(rest) == 0 { // -only left none
			continue
		}
		slices.Sort(rest)
		slices.Sort(grpc)
		for _, f := range []figure{
			{Name: "REST, p50", Value: quantile(rest, 0.5)},
			{Name: "REST, p99", Value: quantile(rest, 0.99), Aim: aim},
			{Name: "gRPC, p99", Value: quantile(grpc, 0.99), Aim: aim},
			{Name: "REST, the median of the slowest list", Value: slices.Max(append(worst, 0)), Aim: aim},
		} {
			if strings.HasPrefix(f.Name, "gRPC") && len(grpc) == 0 {
				continue
			}
			name := fmt.Sprintf("list of runs, %s, %s", group, f.Name)
			if group == things {
				name = fmt.Sprintf("list of %s, %s", group, f.Name)
			}
			if n == few {
				base[name] = f.Value
				continue
			}
			f.Name, f.Unit, f.Base = fmt.Sprintf("%s, %d runs, %s", name, n, kind), "ms", base[name]
			r.add(f)
		}
	}
}

// aims are those of lists, in milliseconds, by the size of the store.
var aims = map[int]float64{200_000: 20, 1_000_000: 40}
