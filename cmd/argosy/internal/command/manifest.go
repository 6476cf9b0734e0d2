package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/server/engine/manifest"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

func (c packages) lint() *cobra.Command {
	return &cobra.Command{
		Use: "lint FILE...", Short: "Find the faults of packages of any origin, with their lines",
		Long: `Lint reads packages (.tar.gz, .zip, .yaml, .json; - is YAML on standard input) and tells each fault with its line and
column: faults of YAML, fields that Argo does not have, values of the wrong type, and what Argo's own validation
refuses. It needs no server. The exit code is 1 when something is wrong; warnings alone give 0.`,
		Example:           "  argosy lint mpi_run.tar.gz\n  argosy lint -o json *.yaml",
		Args:              args(cobra.MinimumNArgs(1), "one file or more, or - for standard input"),
		ValidArgsFunction: completePackages,
		RunE: func(_ *cobra.Command, args []string) error {
			type result struct {
				File   string           `json:"file"`
				Valid  bool             `json:"valid"`
				Faults []manifest.Fault `json:"faults"`
			}
			results := []result{}
			wrong := 0
			for _, file := range args {
				text, err := c.readPackage(file)
				if err != nil {
					return err
				}
				r := result{File: file, Valid: true, Faults: append([]manifest.Fault{}, manifest.Lint(text)...)}
				for _, f := range r.Faults {
					if !f.Warning {
						r.Valid = false
						wrong++
					}
				}
				results = append(results, r)
			}
			p := c.printer()
			err := p.Print(results, func() {
				for _, r := range results {
					for _, f := range r.Faults {
						fmt.Fprintln(c.out, faultLine(r.File, f, p.Mark))
					}
					if r.Valid {
						fmt.Fprintf(c.out, "%s %s is valid\n", p.Mark("ok"), r.File)
					}
				}
			})
			if err == nil && wrong > 0 {
				err = fmt.Errorf("%s", plural(wrong, "fault"))
			}
			return err
		},
	}
}

// faultLine is a fault as compilers write them, so that editors find the place.
func faultLine(file string, f manifest.Fault, mark func(string) string) string {
	line, level := file, "block"
	if f.Line > 0 {
		line += fmt.Sprintf(":%d:%d", f.Line, f.Column)
	}
	if f.Warning {
		level = "warn"
	}
	line += ": " + f.Message
	if f.Path != "" && !strings.Contains(f.Message, f.Path) {
		line += " (" + f.Path + ")"
	}
	return mark(level) + " " + line
}

func plural[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// errDifferent ends a diff that found something.
var errDifferent = errors.New("the workflows differ")

func (c packages) diff() *cobra.Command {
	exact := false
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Show what two packages do differently",
		Long: `Diff compares what the workflows of two packages do (.tar.gz, .zip, .yaml, .json; one may be - for YAML on standard
input): each step with all values in their places, the conditions and loops around it, and the steps that it waits for.
How they are written makes no difference: the names of templates, tasks, inputs and outputs; the order of tasks, parameters
and variables; how steps are grouped; numbers and texts such as 5 and "5"; defaults that are written out; and who compiled
them when. Such a change shows where it is, not in the steps after it.
With --exact, the workflows are compared task by task, and all of this makes a difference but the names and order of
templates, the order of parameters and variables, quantities such as 1 and 1000m, and who compiled them when.
The exit code is 0 when they do the same, 1 when not.`,
		Example:           "  argosy diff old.tar.gz new.tar.gz\n  argosy compile . -o - | argosy diff --exact released.tar.gz -",
		Args:              args(cobra.ExactArgs(2), "two files"),
		ValidArgsFunction: completePackages,
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == "-" && args[1] == "-" {
				return exit.Usagef("only one of the files can be standard input")
			}
			a, err := c.readPackage(args[0])
			if err != nil {
				return err
			}
			b, err := c.readPackage(args[1])
			if err != nil {
				return err
			}
			compare := manifest.DiffMeaning
			if exact {
				compare = manifest.Diff
			}
			changes, err := compare(a, b)
			if err != nil {
				return exit.With(exit.Usage, fmt.Errorf("%s and %s: %w", args[0], args[1], err))
			}
			view := struct {
				Equal   bool              `json:"equal"`
				Changes []manifest.Change `json:"changes"`
			}{len(changes) == 0, append([]manifest.Change{}, changes...)}
			if err := c.printer().Print(view, func() { c.showChanges(changes) }); err != nil || view.Equal {
				return err
			}
			return errDifferent
		},
	}
	cmd.Flags().BoolVar(&exact, "exact", false, "compare task by task, including names and grouping")
	return cmd
}

// showChanges lists changes below the steps they are in.
func (c packages) showChanges(changes []manifest.Change) {
	p := c.printer()
	if len(changes) == 0 {
		fmt.Fprintln(c.out, "no difference")
	}
	step := ""
	for i, ch := range changes {
		if ch.Step != step || i == 0 {
			if step = ch.Step; step == "" {
				fmt.Fprintln(c.out, "workflow")
			} else {
				fmt.Fprintln(c.out, "step "+step)
			}
		}
		path := ch.Path
		if path == "" {
			path = "the step"
		}
		switch {
		case ch.From == nil:
			fmt.Fprintf(c.out, "  %s %s: %s\n", p.Sign("+"), path, compact(ch.To))
		case ch.To == nil:
			fmt.Fprintf(c.out, "  %s %s: %s\n", p.Sign("-"), path, compact(ch.From))
		default:
			fmt.Fprintf(c.out, "  %s %s: %s -> %s\n", p.Sign("~"), path, compact(ch.From), compact(ch.To))
		}
	}
}

// compact writes a value on one line.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// readPackage gives the manifest in a package.
func (c packages) readPackage(file string) ([]byte, error) {
	name, open := file, func() (io.ReadCloser, error) { return os.Open(file) }
	if file == "-" {
		name, open = "standard input.yaml", func() (io.ReadCloser, error) { return io.NopCloser(c.in), nil }
	}
	r, err := open()
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, pkgfile.MaxSize+1))
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("reading %s: %w", name, err))
	}
	text, err := pkgfile.Read(filepath.Base(name), data)
	return text, exit.With(exit.Usage, err)
}

func completePackages(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"gz", "tgz", "zip", "yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}
