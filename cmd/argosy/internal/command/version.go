package command

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/internal/version"
)

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: args(cobra.NoArgs, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Commit   string `json:"commit,omitempty"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version.Version, version.Commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			p := c.printer()
			return p.Print(v, func() {
				p.Fields("argosy", v.Version, "commit", v.Commit, "go", v.Go, "platform", v.Platform)
			})
		},
	}
}
