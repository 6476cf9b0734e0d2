package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/starter"
	"github.com/argosy-ml/argosy/cmd/internal/version"
)

// release is the form of the versions that the Go module proxy knows.
var release = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[a-z]+\.\d+)?$`)

func (c *cli) newCommand() *cobra.Command {
	var p starter.Project
	cmd := &cobra.Command{
		Use: "new DIR", Short: "Begin a pipeline: a folder with a Go program that compiles, and its test",
		Example: "  argosy new my-pipeline\n  argosy new my-pipeline --module example.com/team/my-pipeline",
		Args:    args(cobra.ExactArgs(1), "one folder, which is made"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			absolute, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			if p.Name == "" {
				p.Name = filepath.Base(absolute)
			}
			if p.Module == "" {
				p.Module = p.Name
			}
			if p.SDK != "" {
				if p.SDK, err = filepath.Abs(p.SDK); err != nil {
					return err
				}
			}
			if release.MatchString(version.Version) {
				p.Version = version.Version
			}
			if err := p.Check(); err != nil {
				return exit.With(exit.Usage, err)
			}
			files, err := p.Write(dir)
			if errors.Is(err, fs.ErrExist) {
				return exit.With(exit.Refused, err)
			}
			if err != nil {
				return err
			}
			view := map[string]any{"dir": dir, "name": p.Name, "module": p.Module, "files": files}
			return c.printer().Print(view, func() {
				fmt.Fprintf(c.out, "wrote pipeline %s into %s; next:\n\n  cd %s\n  go mod tidy\n  go test ./...\n  argosy compile . -o %s.tar.gz\n", p.Name, dir, dir, p.Name)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.Name, "name", "", "`name` of the pipeline (default: the folder's)")
	f.StringVar(&p.Module, "module", "", "`path` of the Go module (default: the name)")
	f.StringVar(&p.SDK, "sdk", "", "`folder` of an Argosy checkout to build with instead of a release")
	must(cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("module", cobra.NoFileCompletions))
	must(cmd.MarkFlagDirname("sdk"))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}
