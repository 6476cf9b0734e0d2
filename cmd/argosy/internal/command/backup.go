package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/store"
)

// backups are the commands that keep a store elsewhere and bring it back.
type backups struct{ *cli }

func (c backups) backup() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write all pipelines, experiments, runs and schedules to a file",
		Long: `Backup writes the current content of the store to FILE, which must not exist. A running server continues meanwhile.
Artifacts and logs are in the object store and not in the backup. FILE is always a SQLite database, so restore can also
move a store between a file and PostgreSQL.

Backup reads the store directly, in the data folder or at --store. If --server, $ARGOSY_URL or the configuration names a server,
it compares the store with that server's, and refuses to back up a different one.`,
		Example: "  argosy backup argosy-$(date +%F).db\n  argosy backup argosy-$(date +%F).db --store postgres://argosy@db.example.org/argosy",
		Args:    args(cobra.ExactArgs(1), "the name of one file to write"),
		RunE: func(cmd *cobra.Command, given []string) error {
			settings, err := home.Resolve(cmd.Flags())
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			from, file := storePlace(settings), given[0]
			has, err := c.askServer(cmd.Context())
			if err != nil {
				return err
			}
			if err := store.Backup(cmd.Context(), from, file); err != nil {
				return exit.With(exit.Refused, err)
			}
			contents, err := store.Count(cmd.Context(), file)
			if err != nil {
				return err
			}
			if err := has.compare(cmd.Context(), file, from, contents); err != nil {
				return errors.Join(err, os.Remove(file))
			}
			return c.printContents(storeView{File: file, Store: store.Describe(from), Contents: contents},
				"written to %[1]s from %[2]s: %[3]s\n")
		},
	}
	homeFlag(cmd)
	storeFlag(cmd)
	return cmd
}

func (c backups) restore() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Replace the store by a backup",
		Long: `Restore checks the backup in FILE and replaces the store of the data folder by it. Stop the server of the folder first.
The old store is kept beside the new one. A PostgreSQL database must be empty; restore fills it from the backup. In this way a
store also moves from a file to PostgreSQL, and back.`,
		Example: "  argosy restore argosy-2026-11-20.db\n  argosy restore argosy-2026-11-20.db --store postgres://argosy@db.example.org/argosy",
		Args:    args(cobra.ExactArgs(1), "the name of one file that backup wrote"),
		RunE: func(cmd *cobra.Command, given []string) error {
			settings, err := home.Resolve(cmd.Flags())
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			place := storePlace(settings)
			if !store.Remote(place) { // a database has a lock of its own
				_, lock, err := openHome(settings.Home)
				if err != nil {
					return err
				}
				defer lock.Release() //nolint:errcheck // the process ends
			}
			kept, err := store.Restore(cmd.Context(), given[0], place)
			if err != nil {
				return exit.With(exit.Refused, err)
			}
			contents, err := store.Count(cmd.Context(), given[0])
			if err != nil {
				return fmt.Errorf("restored from %s, whose contents cannot be counted: %w", given[0], err)
			}
			return c.printContents(storeView{File: given[0], Store: store.Describe(place), Kept: kept, Contents: contents},
				"restored from %[1]s into %[2]s: %[3]s\n")
		},
	}
	homeFlag(cmd)
	storeFlag(cmd)
	return cmd
}

// storeView is a store that was backed up or restored, for programs.
type storeView struct {
	File  string `json:"file"`
	Store string `json:"store"`
	Kept  string `json:"kept,omitempty"` // where the store is that was there before
	store.Contents
}

// printContents prints a line that is given the file, the store and what both hold.
func (c backups) printContents(v storeView, line string) error {
	return c.printer().Print(v, func() {
		if v.Kept != "" {
			fmt.Fprintf(c.out, "the store that was there is kept as %s\n", v.Kept)
		}
		fmt.Fprintf(c.out, line, v.File, v.Store, fmt.Sprintf("%s, %s, %s, %s", plural(v.Pipelines, "pipeline"),
			plural(v.Experiments, "experiment"), plural(v.Runs, "run"), plural(v.Jobs, "schedule")))
	})
}

// serverHas is what a server has.
type serverHas struct {
	url    string
	newest []newest
}

// newest is the newest resource of a kind, and how many there are.
type newest struct {
	kind, id, name string
	total          int
}

func newestOf[T any](kind string, p client.Page[T], named func(T) (id, name string)) newest {
	n := newest{kind: kind, total: p.Total}
	if len(p.Items) > 0 {
		n.id, n.name = named(p.Items[0])
	}
	return n
}

// askServer asks the server that the user named what it has. Without one, or when it does not answer, there is nothing to compare.
func (c backups) askServer(ctx context.Context) (*serverHas, error) {
	cl, err := c.client()
	if err != nil || !c.serverNamed() {
		return nil, err
	}
	one := client.ListOptions{SortBy: newestFirst.SortBy, PageSize: 1}
	runs, errRuns := cl.Runs.List(ctx, client.RunListOptions{ListOptions: one})
	pipelines, errPipelines := cl.Pipelines.List(ctx, one)
	jobs, errJobs := cl.Schedules.List(ctx, client.ScheduleListOptions{ListOptions: one})
	experiments, errExperiments := cl.Experiments.List(ctx, one)
	if err := errors.Join(errRuns, errPipelines, errJobs, errExperiments); client.IsUnreachable(err) {
		fmt.Fprintf(c.err, "no server answers at %s: whether it has this store is not known\n", cl.URL())
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("ask %s what it has: %w", cl.URL(), err)
	}
	return &serverHas{url: cl.URL(), newest: []newest{
		newestOf("run", runs, func(r client.Run) (string, string) { return r.ID, r.Name }),
		newestOf("pipeline", pipelines, func(p client.Pipeline) (string, string) { return p.ID, p.Name }),
		newestOf("schedule", jobs, func(j client.Schedule) (string, string) { return j.ID, j.Name }),
		newestOf("experiment", experiments, func(e client.Experiment) (string, string) { return e.ID, e.Name }),
	}}, nil
}

// compare refuses a backup that is of another store than the server's.
func (h *serverHas) compare(ctx context.Context, backup, place string, contents store.Contents) error {
	if h == nil {
		return nil
	}
	differ := func(format string, args ...any) error {
		return exit.With(exit.Refused, fmt.Errorf("the server at %s has another store than %s: %s; back up where that server runs, with its --home or --store, or unset $%s",
			h.url, store.Describe(place), fmt.Sprintf(format, args...), client.EnvURL))
	}
	stored := map[string]int64{"run": contents.Runs, "pipeline": contents.Pipelines, "schedule": contents.Jobs, "experiment": contents.Experiments}
	for _, n := range h.newest {
		if n.total == 0 {
			if stored[n.kind] > 0 {
				return differ("the server has no %s, the store has %d", n.kind, stored[n.kind])
			}
			continue
		}
		holds, err := store.Holds(ctx, backup, n.id)
		if err != nil {
			return err
		}
		if !holds {
			return differ("the server's newest %s, %s, is not in the store", n.kind, n.name)
		}
	}
	return nil
}
