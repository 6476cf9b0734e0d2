package command

import (
	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/server/app"
)

// keepFlags say what a server keeps of runs, and makes use of again.
type keepFlags struct {
	noCache bool
}

func (k *keepFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&k.noCache, "no-cache", false, "run every step, also when an earlier one that was given the same left its outputs")
}

func (k *keepFlags) set(cfg *app.Config) { cfg.NoCache = k.noCache }
