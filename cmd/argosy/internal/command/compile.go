package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/server/engine/manifest"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

const compileHelp = `Compile builds and runs the pipeline program in DIR (a package main that calls compiler.Main) and writes what it records
as an Argo Workflow: FILE ends in .tar.gz, .tgz, .zip or .yaml, is - for YAML on standard output, or is a folder that
gets a package for each pipeline. The same source gives the same bytes. It needs the Go toolchain.

Instead of a package it can draw the pipeline (--graph), start a run of it (--submit) or only check it (--validate).
The program itself takes the same flags: go run DIR --graph svg -o pipeline.svg.`

// packages are the commands of pipelines before they are uploaded.
type packages struct{ *cli }

func (c packages) compile() *cobra.Command {
	var out, pipeline, graph, experiment, image string
	var params []string
	var submit, validate, dryRun bool
	cmd := &cobra.Command{
		Use: "compile DIR -o FILE", Short: "Compile a pipeline written in Go to a package", Long: compileHelp,
		Example: `  argosy compile samples/mpi_run -o mpi_run.tar.gz
  argosy compile samples/mpi_run -o - --param workers=4
  argosy compile samples/mpi_run --graph svg -o mpi_run.svg
  argosy compile samples/mpi_run --submit --param data= --dry-run`,
		Args: args(cobra.ExactArgs(1), "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return exit.Usagef("%s is not a folder", args[0])
			}
			var flags []string
			add := func(name, value string) {
				if value != "" {
					flags = append(flags, name, value)
				}
			}
			add("-o", out)
			add("--pipeline", pipeline)
			add("--graph", graph)
			add("--experiment", experiment)
			add("--image", image)
			for _, p := range params {
				add("--param", p)
			}
			for name, on := range map[string]bool{"--submit": submit, "--validate": validate, "--dry-run": dryRun} {
				if on {
					flags = append(flags, name)
				}
			}
			if submit {
				add("--server", c.server)
			}
			if validate {
				if err := lintProgram(cmd.Context(), args[0], pipeline, image, params); err != nil {
					return err
				}
			}
			return compileError(compiler.RunDir(cmd.Context(), args[0], flags, c.out))
		},
	}
	f := cmd.Flags()
	// The -o of compile is a file, so it takes the place of the -o that all commands have.
	f.StringVarP(&out, "output", "o", "", "`file` to write; - is standard output")
	f.StringVar(&pipeline, "pipeline", "", "`name` of the pipeline, where the program has several")
	f.StringArrayVarP(&params, "param", "p", nil, "another default of a parameter, as `name=value`; also its value in the run of --submit; may be repeated")
	f.StringVar(&graph, "graph", "", "draw the pipeline as `svg`, dot or mermaid")
	f.StringVar(&image, "image", "", "container `image` of the program, made by argosy image, in which its functions run")
	f.BoolVar(&submit, "submit", false, "start a run of the pipeline on the server")
	f.StringVar(&experiment, "experiment", "", "`name` of that run's experiment; made if there is none")
	f.BoolVar(&validate, "validate", false, "check all pipelines: by Argo's own validation, and that each compiles to the same bytes twice")
	f.BoolVar(&dryRun, "dry-run", false, "say what would be written or started, and do nothing")
	must(cmd.RegisterFlagCompletionFunc("pipeline", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("param", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("image", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("graph", cobra.FixedCompletions([]string{"svg", "dot", "mermaid"}, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("experiment", c.completeExperiments(true)))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}

// lintProgram compiles all pipelines of a program, and refuses them if Argo would.
func lintProgram(ctx context.Context, dir, pipeline, image string, params []string) (err error) {
	tmp, err := os.MkdirTemp("", "argosy-validate-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	flags := []string{"-o", tmp}
	if pipeline != "" {
		flags = append(flags, "--pipeline", pipeline)
	}
	if image != "" {
		flags = append(flags, "--image", image)
	}
	for _, p := range params {
		flags = append(flags, "--param", p)
	}
	if err := compiler.RunDir(ctx, dir, flags, io.Discard); err != nil {
		return compileError(err)
	}
	packages, err := filepath.Glob(filepath.Join(tmp, "*"))
	if err != nil {
		return err
	}
	var faults []string
	for _, file := range packages {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text, err := pkgfile.Read(filepath.Base(file), data)
		if err != nil {
			return err
		}
		for _, f := range manifest.Lint(text) {
			if !f.Warning {
				faults = append(faults, fmt.Sprintf("pipeline %s: %s (%s)", nameOf(file), f.Message, f.Path))
			}
		}
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}

// compileError gives the error of a compilation its exit code.
func compileError(err error) error {
	if refused := (*compiler.ProgramError)(nil); errors.As(err, &refused) {
		return exit.With(refused.Code, err)
	}
	if _, missing := exec.LookPath("go"); err != nil && errors.Is(missing, exec.ErrNotFound) {
		return exit.With(exit.Environment, err)
	}
	return err
}
