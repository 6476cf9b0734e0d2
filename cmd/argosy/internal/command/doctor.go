package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/embedded"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/internal/version"
)

func (c *cli) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that this machine can run Argosy, and print how to add what is missing",
		Long: `Doctor looks at namespaces, user ids, file systems, control groups, memory, disk, limits, programs, tools, GPUs and addresses,
tries what can be tried, and changes nothing. It says how well pods are isolated from this machine, and who may call the server
(docs/threat-model.md has the whole list). Below each problem it prints the command that solves it.

Exit codes: 0 Argosy runs here, with less where there are warnings; 1 something blocks it.`,
		Example: "  argosy doctor\n  argosy doctor --home /mnt/big/argosy -o json",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := home.Resolve(cmd.Flags())
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			findings, err := examine(cmd.Context(), settings)
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			p := c.printer()
			if err := p.Print(findings, func() { printFindings(p, findings) }); err != nil {
				return err
			}
			return verdict(findings)
		},
	}
	addListenFlags(cmd)
	return cmd
}

// examine gathers the findings of the machine, which argosy-cluster makes, and those around this program.
func examine(ctx context.Context, s home.Settings) ([]embedded.Finding, error) {
	h, err := home.At(s.Home)
	if err != nil {
		return nil, err
	}
	findings := []embedded.Finding{}
	if embedded.Unsupported != nil {
		says, mend, _ := strings.Cut(embedded.Unsupported.Error(), "\n")
		findings = append(findings, embedded.Finding{Check: "cluster", Level: embedded.Block, Says: says, Mend: []string{"# " + strings.ReplaceAll(mend, "\n", "\n# ")}})
	} else {
		built, machine, err := embedded.Examine(ctx, h)
		if err != nil {
			machine = []embedded.Finding{{Check: "programs", Level: embedded.Block, Says: err.Error(), Mend: []string{"make build"}}}
		} else {
			machine = append(machine, builds(built)...)
		}
		findings = append(findings, machine...)
	}
	return append(findings, hostFolders(), callers(), toolchain(), address(ctx, h, "http", s.HTTP), address(ctx, h, "grpc", s.GRPC)), nil
}

// lackingTools says which programs of this machine distributed jobs lack; empty: none.
func lackingTools(ctx context.Context, h home.Home) (string, error) {
	_, findings, err := embedded.Examine(ctx, h)
	if err != nil {
		return "", err
	}
	var says []string
	for _, f := range findings {
		if (f.Check == "tools" || f.Check == "python") && f.Level != embedded.OK {
			what, _, _ := strings.Cut(f.Says, ";")
			says = append(says, what)
		}
	}
	if len(says) == 0 {
		return "", nil
	}
	return strings.Join(says, "; ") + "; argosy doctor prints the commands that add them", nil
}

// builds are the findings about the programs beside this one, but for those that argosy-cluster looks at.
func builds(cluster string) (findings []embedded.Finding) {
	if cluster != version.Version {
		findings = append(findings, embedded.Finding{
			Check: "build", Level: embedded.Warn, Mend: []string{"make build"},
			Says: fmt.Sprintf("argosy is %s and argosy-cluster is %s: not of one build", version.Version, cluster),
		})
	}
	if self, err := os.Executable(); err == nil {
		launcher := filepath.Join(filepath.Dir(self), "argosy-launcher")
		if _, err := os.Stat(launcher); err != nil {
			findings = append(findings, embedded.Finding{
				Check: "launcher", Level: embedded.Block, Says: "there is no " + launcher + ", which runs distributed steps", Mend: []string{"make build"},
			})
		}
	}
	return findings
}

// hostFolders tells which folders of this machine pods reach beside what their images need.
func hostFolders() embedded.Finding {
	f := embedded.Finding{Check: "folders", Level: embedded.OK, Says: "pods see no homes and no known secrets of this machine"}
	if shown := filepath.SplitList(os.Getenv("ARGOSY_HOST_SHOW")); len(shown) > 0 {
		f.Says += ", except in " + strings.Join(shown, ", ") + " ($ARGOSY_HOST_SHOW)"
	}
	if mountable := filepath.SplitList(os.Getenv("ARGOSY_HOST_PATH")); len(mountable) > 0 {
		f.Says += "; they may mount " + strings.Join(mountable, ", ") + " ($ARGOSY_HOST_PATH)"
	} else {
		f.Says += ", and mount none of its folders"
	}
	return f
}

// callers names the callers that the server will answer.
func callers() embedded.Finding {
	f := embedded.Finding{Check: "callers", Level: embedded.OK, Says: "the server answers your account and root alone"}
	switch {
	case os.Getenv("ARGOSY_PASSWORD") != "":
		f.Says = "the server asks for $ARGOSY_PASSWORD"
	case runtime.GOOS != "linux":
		f.Level, f.Says = embedded.Warn, "this system does not say which account calls: all accounts of this machine may use the server"
		f.Mend = []string{"# where there are others, start it with a password of 16 characters or more:", "ARGOSY_PASSWORD=... argosy up"}
	}
	return f
}

func toolchain() embedded.Finding {
	if path, err := exec.LookPath("go"); err == nil {
		return embedded.Finding{Check: "go", Level: embedded.OK, Says: path + ", for argosy compile"}
	}
	return embedded.Finding{
		Check: "go", Level: embedded.Warn, Says: "there is no Go toolchain, which argosy compile needs", Mend: []string{"# see https://go.dev/doc/install"},
	}
}

// address tells whether the server can listen.
func address(ctx context.Context, h home.Home, flag, at string) embedded.Finding {
	f := embedded.Finding{Check: flag, Level: embedded.OK, Says: at + " is free"}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", at)
	if err == nil {
		_ = l.Close()
		return f
	}
	if pid, runs := h.Server(); runs && errors.Is(err, syscall.EADDRINUSE) {
		f.Says = fmt.Sprintf("%s is in use; Argosy runs on this data folder (process %d)", at, pid)
		return f
	}
	f.Level, f.Says = embedded.Block, err.Error()
	f.Mend = []string{fmt.Sprintf("argosy up --%s 127.0.0.1:0    # 0 picks a free port", flag)}
	return f
}

func printFindings(p output.Printer, findings []embedded.Finding) {
	for _, f := range findings {
		fmt.Fprintf(p.Out, "%s %-11s  %s\n", p.Mark(f.Level), f.Check, f.Says)
		for _, m := range f.Mend {
			for line := range strings.Lines(m) {
				fmt.Fprintf(p.Out, "      %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
}

// verdict is an error when something blocks.
func verdict(findings []embedded.Finding) error {
	var blocks []string
	for _, f := range findings {
		if f.Level == embedded.Block {
			blocks = append(blocks, f.Check)
		}
	}
	if len(blocks) > 0 {
		return fmt.Errorf("not everything is there that Argosy needs: %s", strings.Join(blocks, ", "))
	}
	return nil
}
