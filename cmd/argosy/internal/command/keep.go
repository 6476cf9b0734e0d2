package command

import (
	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/server/app"
	"github.com/argosy-ml/argosy/server/retention"
)

// keepFlags say what a server keeps of runs, and makes use of again.
type keepFlags struct {
	noCache               bool
	runs, artifacts, logs string
}

func (k *keepFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&k.noCache, "no-cache", false, "run every step, even if the cache has its outputs")
	keepRules(cmd, &k.runs, &k.artifacts, &k.logs)
}

func (k *keepFlags) set(cfg *app.Config) error {
	cfg.NoCache = k.noCache
	for _, rule := range []struct {
		flag, text string
		into       *retention.Rule
	}{
		{"keep-runs", k.runs, &cfg.Retention.Runs}, {"keep-artifacts", k.artifacts, &cfg.Retention.Artifacts}, {"keep-logs", k.logs, &cfg.Retention.Logs},
	} {
		var err error
		if *rule.into, err = retention.Keep(rule.text); err != nil {
			return exit.Usagef("--%s: %v", rule.flag, err)
		}
	}
	return nil
}
