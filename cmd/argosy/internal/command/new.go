package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/starter"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/cmd/internal/version"
)

// release is the form of the versions that the Go module proxy knows.
var release = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[a-z]+\.\d+)?$`)

func (c *cli) newCommand() *cobra.Command {
	var p starter.Project
	var tidy bool
	cmd := &cobra.Command{
		Use: "new DIR", Short: "Create a folder with a pipeline program in Go and its test",
		Example: "  argosy new my-pipeline\n  argosy new my-pipeline --module example.com/team/my-pipeline",
		Args:    args(cobra.ExactArgs(1), "one folder, which is made"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			absolute, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			if p.Name == "" {
				p.Name = starter.NameOf(filepath.Base(absolute))
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
			} else if p.SDK == "" {
				p.SDK = checkout()
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
			todo := c.tidy(cmd.Context(), p, dir, tidy)
			view := map[string]any{"dir": dir, "name": p.Name, "module": p.Module, "files": files, "tidy": todo == ""}
			return c.printer().Print(view, func() {
				fmt.Fprintf(c.out, "wrote pipeline %s into %s", p.Name, dir)
				if p.SDK != "" {
					fmt.Fprintf(c.out, ", with the SDK in %s", p.SDK)
				}
				fmt.Fprintf(c.out, "; next:\n\n  cd %s\n%s  go test ./...\n  argosy compile . -o %s.tar.gz\n", dir, todo, p.Name)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.Name, "name", "", "`name` of the pipeline (default: the folder's, in lower case and with - for all but letters and digits)")
	f.StringVar(&p.Module, "module", "", "`path` of the Go module (default: the name)")
	f.StringVar(&p.SDK, "sdk", "", "`folder` of an Argosy checkout to build with instead of a release")
	f.BoolVar(&tidy, "tidy", true, "run go mod tidy in the new folder")
	must(cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("module", cobra.NoFileCompletions))
	must(cmd.MarkFlagDirname("sdk"))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}

// checkout is the folder of Argosy's own source, where this program was built or around the working folder: the SDK of a build that
// is not a release is in no registry.
func checkout() string {
	var folders []string
	if program, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(filepath.Dir(program))) // of bin/argosy
	}
	if folder, err := os.Getwd(); err == nil {
		for ; folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
			folders = append(folders, folder)
		}
	}
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "sdk", "dsl", "doc.go")); err == nil {
			return folder
		}
	}
	return ""
}

// tidy has Go look for what the project needs, and returns the lines to type where that is left to the user.
func (c *cli) tidy(ctx context.Context, p starter.Project, dir string, wanted bool) string {
	switch {
	case p.Version == "" && p.SDK == "":
		fmt.Fprintf(c.err, "this argosy (%s) is not a release, so Go cannot fetch its SDK: run argosy new in its source folder, name that with --sdk, or type the first line below\n", version.Version)
		return "  go mod edit -replace github.com/argosy-ml/argosy=FOLDER   # of the source\n  go mod tidy\n"
	case !wanted:
		return "  go mod tidy\n"
	}
	screen := terminal.New(c.err)
	done := screen.Busy("go mod tidy")
	tidy := exec.CommandContext(ctx, "go", "mod", "tidy")
	tidy.Dir = dir
	out, err := tidy.CombinedOutput()
	done()
	screen.Idle()
	if err == nil {
		return ""
	}
	if errors.Is(err, exec.ErrNotFound) {
		out = []byte("there is no go command on the PATH: see https://go.dev/doc/install")
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	fmt.Fprintf(c.err, "go mod tidy did not work: %s\n", lines[len(lines)-1])
	return "  go mod tidy\n"
}
