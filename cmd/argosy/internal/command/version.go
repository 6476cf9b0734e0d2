package command

import (
	"cmp"
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/internal/version"
	"github.com/argosy-ml/argosy/sdk/client"
)

// versionView is what the command tells of versions.
type versionView struct {
	Version  string                    `json:"version"`
	Commit   string                    `json:"commit,omitempty"`
	Go       string                    `json:"go"`
	Platform string                    `json:"platform"`
	Server   *client.Health            `json:"server,omitempty"`
	Cluster  []client.ComponentVersion `json:"cluster,omitempty"`
}

func (c *cli) versionCommand() *cobra.Command {
	var cluster bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version; with --cluster also those of the server and of its cluster", Args: args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionView{Version: version.Version, Commit: version.Commit(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			if cluster {
				if err := c.askVersions(cmd.Context(), &v); err != nil {
					return err
				}
			}
			p := c.printer()
			return p.Print(v, func() {
				fields := []string{"argosy", v.Version, "commit", v.Commit, "go", v.Go, "platform", v.Platform}
				if v.Server != nil {
					fields = append(fields, "server", cmp.Or(v.Server.Tag, v.Server.Commit))
				}
				for _, component := range v.Cluster {
					fields = append(fields, component.Name, component.Version)
				}
				p.Fields(fields...)
			})
		},
	}
	cmd.Flags().BoolVar(&cluster, "cluster", false, "ask the server for its version and those of Kubernetes, Argo, the operators and the scheduler")
	return cmd
}

func (c *cli) askVersions(ctx context.Context, v *versionView) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	if v.Server, err = cl.Health(ctx); err != nil {
		return err
	}
	found, err := cl.Cluster.Get(ctx)
	if err == nil {
		v.Cluster = found.Versions
	}
	return err
}
