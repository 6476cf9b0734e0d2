package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/submit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/sdk/client"
)

const submitHelp = `%s, as a run of one step.

It takes the flags of arena submit %s, in today's spelling (--sync-mode) and the older one (--syncMode). The command is one
argument in quotes, or follows --. The run has metrics, logs and a page like the run of a pipeline.`

// submissions are the commands that start a run of one distributed job.
type submissions struct{ *cli }

func (c submissions) command() *cobra.Command {
	g := group("submit", "Run one distributed job, with the flags of Arena's submit: mpijob, tfjob, pytorchjob, ...")
	g.Example = `  argosy submit mpijob --name=tf-eni --workers=2 --gpus=8 --image=uber/horovod:0.13.10-tf1.9.0-torch0.4.0-py3.5 "mpirun python train.py"` +
		"\n  argosy submit pytorchjob --image=train:1 --workers=4 --dry-run -o go \"python train.py\""
	for _, kind := range submit.Kinds {
		g.AddCommand(c.kind(kind))
	}
	g.FParseErrWhitelist.UnknownFlags = true // a kind that is not there has flags
	g.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		_, err := submit.KindNamed(args[0])
		return err
	}
	return g
}

// submission is what a command line asks for beside the job itself.
type submission struct {
	*cli
	job                     *submit.Job
	experiment, description string
	out                     string
	named                   bool // by the user
	dryRun, wait, logs      bool
}

func (c submissions) kind(kind *submit.Kind) *cobra.Command {
	s := &submission{cli: c.cli, job: submit.New(kind)}
	cmd := &cobra.Command{
		Use: kind.Name + ` --image IMAGE [flags] "COMMAND"`, Aliases: kind.Aliases, Short: kind.Short,
		Long: fmt.Sprintf(submitHelp, kind.Short, kind.Name), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.named = s.job.Name != ""
			manifest, err := s.job.Workflow(args)
			switch {
			case err != nil:
				return err
			case s.dryRun:
				return s.show(manifest)
			case s.out == "go":
				return exit.Usagef("-o go is for --dry-run, which starts nothing")
			case s.out != "":
				if err := s.format.Set(s.out); err != nil {
					return fmt.Errorf("-o %s: %w", s.out, err)
				}
			}
			return s.start(cmd.Context(), string(manifest))
		},
	}
	f := cmd.Flags()
	s.job.Bind(f)
	f.StringVar(&s.experiment, "experiment", "", "`experiment` the run belongs to; made if there is none of that name (default \"Default\")")
	f.StringVar(&s.description, "description", "", "`text` shown with the run")
	f.BoolVar(&s.dryRun, "dry-run", false, "print the workflow, or with -o go its Go source, and start nothing")
	f.BoolVar(&s.wait, "wait", false, "wait until the run ends; the exit code is 1 if it fails")
	f.BoolVar(&s.logs, "logs", false, "print what the run prints, to its end; the exit code is 1 when it does not succeed")
	// Beside the formats that all commands have there is Go.
	f.StringVarP(&s.out, "output", "o", "", "`format` of the answer: table, json or yaml; of --dry-run: yaml or go")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(append([]string{"go"}, output.Formats...), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("experiment", c.completeExperiments(true)))
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "output" && flag.Name != "experiment" {
			must(cmd.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(submit.Choices(flag.Name), cobra.ShellCompDirectiveNoFileComp)))
		}
	})
	return cmd
}

// show prints what would be started.
func (s *submission) show(manifest []byte) error {
	switch s.out {
	case "", "yaml":
	case "go":
		source, err := decompile.Source(manifest)
		if err != nil {
			return err
		}
		manifest = source
	default:
		return exit.Usagef("-o %s: --dry-run prints yaml or go", s.out)
	}
	_, err := s.cli.out.Write(manifest)
	return err
}

func (s *submission) start(ctx context.Context, manifest string) error {
	cl, err := s.client()
	if err != nil {
		return err
	}
	name := s.job.Name
	if !s.named {
		name = client.RunName(name)
	} else if err := free(ctx, cl, "run", name, runsNamed); err != nil {
		return err
	}
	n := client.NewRun{Name: name, Description: s.description, Manifest: manifest}
	if s.experiment != "" {
		e, err := find(ctx, s.experiment, cl.Experiments.Get, cl.Experiments.Ensure)
		if err != nil {
			return err
		}
		n.ExperimentID = e.ID
	}
	r, err := cl.Runs.Create(ctx, n)
	if err != nil {
		return err
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(s.err, "warning: %s\n", w)
	}
	switch {
	case s.logs:
		return s.followToEnd(ctx, cl, r)
	case s.wait:
		return runs{s.cli}.await(ctx, cl, r.ID)
	}
	return s.printer().Print(r, func() { fmt.Fprintf(s.cli.out, "run %s %s\n%s\n", r.Name, r.ID, cl.RunURL(r.ID)) })
}

// followToEnd prints the logs, and why the run failed if it did.
func (s *submission) followToEnd(ctx context.Context, cl *client.Client, r *client.Run) error {
	fmt.Fprintln(s.err, cl.RunURL(r.ID))
	if err := (runs{s.cli}).followLogs(ctx, cl, r.ID); err != nil {
		return err
	}
	r, err := cl.Runs.Get(ctx, r.ID)
	if err != nil || r.Status == client.Succeeded {
		return err
	}
	runview.Explain(ctx, terminal.New(s.err).Writer(), cl, r)
	return fmt.Errorf("run %s: %s", r.Name, strings.ToLower(r.Status))
}
