// Command schedule has an Argosy server run a package again and again: it uploads it, makes a job, follows the job's
// first runs, and disables the job. It shows sdk/client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/argosy-ml/argosy/sdk/client"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	name := flag.String("name", "looks", "of the pipeline and the job")
	image := flag.String("image", "host", "container image of the steps")
	cron := flag.String("cron", "*/5 * * * * *", "when runs start: second minute hour day month weekday")
	runs := flag.Int("runs", 2, "how many runs to wait for")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("usage: schedule [flags] cron.tar.gz")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server, err := client.FromEnv() // $ARGOSY_URL, ~/.config/argosy/config.json, or http://127.0.0.1:8888
	if err != nil {
		return err
	}
	return schedule(ctx, server, flag.Arg(0), *name, *image, *cron, *runs)
}

func schedule(ctx context.Context, server *client.Client, file, name, image, cron string, runs int) error {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return err
	}
	defer f.Close()
	pipeline, err := server.Pipelines.Upload(ctx, name, f)
	if client.IsConflict(err) { // it was uploaded before
		pipeline, err = server.Pipelines.ByName(ctx, name)
	}
	if err != nil {
		return err
	}
	// Brackets stand for what differs from run to run.
	job, err := server.Schedules.Create(ctx, client.NewSchedule{
		NewRun: client.NewRun{Name: name, PipelineID: pipeline.ID, Parameters: []client.Parameter{
			{Name: "image", Value: image}, {Name: "due", Value: "[[ScheduledTime.2006-01-02T15:04:05Z]]"}, {Name: "number", Value: "[[Index]]"},
		}},
		Trigger:   client.Trigger{Cron: cron},
		NoCatchup: true, // looks that were missed while the server was away are not made up for
	})
	if err != nil {
		return err
	}
	fmt.Printf("job %s, %s\n", job.Name, job.Trigger)
	for i := range runs {
		if err := follow(ctx, server, job.ID, i); err != nil {
			return err
		}
	}
	if err := server.Schedules.Disable(ctx, job.ID); err != nil {
		return err
	}
	job, err = server.Schedules.Get(ctx, job.ID)
	if err != nil {
		return err
	}
	fmt.Printf("job %s is %s\n", job.Name, job.Status)
	return nil
}

// follow waits for the i-th run of a job to start and to end.
func follow(ctx context.Context, server *client.Client, jobID string, i int) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		page, err := server.Schedules.Runs(ctx, jobID, client.ListOptions{SortBy: "created_at asc"})
		if err != nil {
			return err
		}
		if len(page.Items) > i {
			return end(ctx, server, page.Items[i])
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func end(ctx context.Context, server *client.Client, r client.Run) error {
	ended, err := server.Runs.Wait(ctx, r.ID)
	if err != nil {
		return err
	}
	fmt.Printf("run %s of %s: %s", r.Name, r.ScheduledAt.Format(time.TimeOnly), ended.Status)
	for _, m := range ended.Metrics {
		fmt.Printf(" %s=%v", m.Name, m)
	}
	fmt.Println()
	return nil
}
