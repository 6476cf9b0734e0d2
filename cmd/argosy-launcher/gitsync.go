package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/launcher/gitsync"
	"github.com/argosy-ml/argosy/launcher/job"
)

const gitSyncHelp = `Clones a repository once and ends. What to fetch is in the environment:

  GIT_SYNC_REPO          URL (https, http, ssh) or absolute path
  GIT_SYNC_ROOT          folder the clone goes below
  GIT_SYNC_DEST          name of the clone there (that of the repository)
  GIT_SYNC_BRANCH        branch or tag (the repository's default)
  GIT_SYNC_REV           commit (the newest of the branch)
  GIT_SYNC_USERNAME, GIT_SYNC_PASSWORD or GIT_SYNC_PASSWORD_FILE
  GIT_SYNC_SSH_KEY_FILE  private key; GIT_SYNC_SSH_KNOWN_HOSTS=false trusts any host
  GIT_SYNC_SUBMODULES    off leaves submodules out`

func gitSyncCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "git-sync",
		Short: "Fetch the code of a job",
		Long:  gitSyncHelp,
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := gitsync.FromEnv(os.Getenv)
			if err != nil {
				return usageError{err}
			}
			config.CommitFile = job.DefaultPaths().Termination // from where the launcher takes it
			return gitsync.Sync(c.Context(), config, c.OutOrStdout())
		},
	}
}
