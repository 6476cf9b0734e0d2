package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
	"github.com/argosy-ml/argosy/server/store"
)

func (c *cli) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write all pipelines, experiments, runs and jobs to a file, while the server runs or not",
		Long: `Backup writes what the store holds at this moment to FILE, which must not be there yet. The server may run; nobody waits.
Artifacts and logs are in the object store, and not part of it. FILE is a SQLite database, whichever database the store is in, so
that restore can move a store from one to the other.`,
		Example: "  argosy backup argosy-$(date +%F).db\n  argosy backup argosy-$(date +%F).db --store postgres://argosy@db.example.org/argosy",
		Args:    args(cobra.ExactArgs(1), "the name of one file to write"),
		RunE: func(cmd *cobra.Command, given []string) error {
			settings, err := home.Resolve(cmd.Flags())
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			if err := store.Backup(cmd.Context(), storePlace(settings), given[0]); err != nil {
				return exit.With(exit.Refused, err)
			}
			_, err = fmt.Fprintf(c.out, "written to %s\n", given[0])
			return err
		},
	}
	homeFlag(cmd)
	storeFlag(cmd)
	return cmd
}

func (c *cli) restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put a backup in the place of the store",
		Long: `Restore checks the backup in FILE and puts it in the place of the store of the data folder. No server may run on the folder meanwhile.
The store that was there is kept beside it. A PostgreSQL database is filled from the backup, and must hold no store that is in use
yet; this is also how a store moves from a file to PostgreSQL, and back.`,
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
			if kept != "" {
				fmt.Fprintf(c.out, "the store that was there is kept as %s\n", kept)
			}
			_, err = fmt.Fprintf(c.out, "restored from %s\n", given[0])
			return err
		},
	}
	homeFlag(cmd)
	storeFlag(cmd)
	return cmd
}
