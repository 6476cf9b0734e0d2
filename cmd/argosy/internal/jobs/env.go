// Package jobs is the command `argosy job`: the distributed jobs of runs, their workers, and what these do.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/sdk/client"
)

// Env is what the commands work with.
type Env struct {
	Out, Err *os.File
	Color    bool // Out is a terminal that shows colours
	Terminal bool // Out is a terminal
	Client   func() (*client.Client, error)
	// Run takes an id or a name; of several runs of a name it gives the newest. Only takes a name that one run has.
	Run, Only func(ctx context.Context, cl *client.Client, name string) (*client.Run, error)
	// Confirm asks a question, or refuses without a terminal to answer on.
	Confirm func(question, refusal string) error
	// Complete offers runs and their steps.
	Complete func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)
}

// Commands are those of the group `argosy job` that are here.
func Commands(e Env) []*cobra.Command {
	return []*cobra.Command{e.list(), e.get(), e.top(), e.delete()}
}

// format is how an answer is written: as everywhere, or as a table with more columns. It is a flag value.
type format struct {
	output.Format
	wide bool
}

const wide = "wide"

// Set is part of pflag.Value.
func (f *format) Set(s string) error {
	f.Format, f.wide = output.Table, s == wide
	if f.wide {
		return nil
	}
	if err := f.Format.Set(s); err != nil {
		return fmt.Errorf("%w, %s", err, wide)
	}
	return nil
}

func (f *format) add(cmd *cobra.Command) {
	f.Format = output.Table
	names := append([]string{wide}, output.Formats...)
	cmd.Flags().VarP(f, "output", "o", "`format` of the answer: table, wide, json or yaml")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
}

func (e Env) printer(f format) output.Printer {
	return output.Printer{Out: e.Out, Format: f.Format, Color: e.Color}
}

// Target finds the run that words name, and the name of its step: RUN, RUN STEP or RUN/STEP.
func Target(ctx context.Context, cl *client.Client, find func(context.Context, *client.Client, string) (*client.Run, error), words []string) (r *client.Run, step string, err error) {
	r, err = find(ctx, cl, words[0])
	if run, rest, cut := strings.Cut(words[0], "/"); cut && len(words) == 1 && client.IsNotFound(err) {
		step = rest
		r, err = find(ctx, cl, run)
	}
	if len(words) > 1 {
		step = words[1]
	}
	return r, step, err
}

// Job finds the distributed job of a run, or of one of its steps.
func Job(ctx context.Context, cl *client.Client, r *client.Run, step string) (*client.RunJob, error) {
	found, err := cl.Jobs.OfRun(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if step != "" {
		return ofStep(r, found, step)
	}
	var names []string
	for _, j := range found.Jobs {
		names = append(names, "'"+r.Name+"/"+stepLabel(r, &j)+"'")
	}
	switch len(found.Jobs) {
	case 0:
		return nil, none(found, "run "+r.Name+" has no distributed job in the cluster now")
	case 1:
		return &found.Jobs[0], nil
	}
	return nil, exit.Usagef("run %s has %d distributed jobs: say which: %s", r.Name, len(names), strings.Join(names, ", "))
}

// stepLabel is the step of a job as the run's other commands write it: in a loop with its item.
func stepLabel(r *client.Run, j *client.RunJob) string {
	for i := range r.Nodes {
		if r.Nodes[i].ID == j.NodeID {
			return r.Nodes[i].Label()
		}
	}
	return j.StepName
}

func ofStep(r *client.Run, found *client.RunJobs, step string) (*client.RunJob, error) {
	for i := range found.Jobs {
		if found.Jobs[i].Name == step {
			return &found.Jobs[i], nil
		}
	}
	n, err := runview.FindStep(r, step)
	if err != nil {
		return nil, err
	}
	for i := range found.Jobs {
		if found.Jobs[i].NodeID == n.ID {
			return &found.Jobs[i], nil
		}
	}
	return nil, none(found, fmt.Sprintf("step %s of run %s has no distributed job in the cluster now", n.Label(), r.Name))
}

// none says that there is no job, and what the server may not read.
func none(found *client.RunJobs, what string) error {
	if len(found.Missing) > 0 {
		m := found.Missing[0]
		what += fmt.Sprintf(", as far as the server may see: it may not %s %s", m.Verb, m.Resource)
	}
	return exit.With(exit.Refused, errors.New(what))
}

// missing tells what the answer lacks because the server may not read it.
func (e Env) missing(rights []client.MissingRight) {
	for _, m := range rights {
		fmt.Fprintf(e.Err, "the server may not %s %s, so they are left out: apply manifests/base to give it the right\n", m.Verb, m.Resource)
	}
}

// targets takes RUN, RUN STEP or RUN/STEP.
func targets(cmd *cobra.Command, given []string) error {
	if len(given) == 1 || len(given) == 2 {
		return nil
	}
	return exit.Usagef("%s takes a run, and its step if it has several distributed jobs: RUN/STEP", cmd.CommandPath())
}

// must is for mistakes in this program, not in its use.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
