// Package report is the command that reports how throughput changes with a parameter of runs.
package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/collect"
	"github.com/argosy-ml/argosy/sdk/scaling/document"
)

// Env is what the rest of the command line gives.
type Env struct {
	Out            io.Writer // the report
	Err            io.Writer // progress, for a person
	Color          bool
	Client         func() (*client.Client, error)
	FindRun        func(ctx context.Context, cl *client.Client, name string) (*client.Run, error)
	FindExperiment func(ctx context.Context, cl *client.Client, name string) (*client.Experiment, error)
}

// Options say what is reported, and how.
type Options struct {
	scaling.Options
	Step      string
	Format    Format
	Facts     map[string]string // of all runs, such as the driver's version
	Baseline  string
	FailBelow float64
}

// Selection says which runs are reported on.
type Selection struct {
	Runs       []string
	Experiment string
	Where      []string
}

// Make reads the runs, prints the report, and holds it against the baseline where there is one.
func Make(ctx context.Context, e Env, cl *client.Client, s Selection, o Options) error {
	ids, err := s.ids(ctx, e, cl, &o)
	if err != nil {
		return err
	}
	runs, err := collect.Runs(ctx, cl, collect.Metric{Name: o.Metric, Step: o.Step}, ids...)
	if err != nil {
		return refused(err)
	}
	for i := range runs {
		for name, value := range o.Facts {
			runs[i].Facts[name] = value
		}
	}
	r, err := scaling.New(runs, o.Options)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	var gate *scaling.Gate
	if o.Baseline != "" {
		if gate, err = hold(ctx, e, cl, r, o); err != nil {
			return err
		}
	}
	if err := write(e, r, gate, o.Format); err != nil {
		return err
	}
	if gate != nil && len(gate.Failed) > 0 {
		return errors.New("the report is below its baseline: " + strings.Join(gate.Failed, "; "))
	}
	return nil
}

// refused makes what the runs do not allow a wrong command line, unless the server answered with an error of its own.
func refused(err error) error {
	answered, away := (*client.Error)(nil), (*client.Unreachable)(nil)
	if errors.As(err, &answered) || errors.As(err, &away) || errors.Is(err, context.Canceled) {
		return err
	}
	return exit.With(exit.Usage, err)
}

// ids finds the runs that have ended. An experiment of a sweep says how it was made.
func (s Selection) ids(ctx context.Context, e Env, cl *client.Client, o *Options) (ids []string, err error) {
	for _, name := range s.Runs {
		r, err := e.FindRun(ctx, cl, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.ID)
	}
	if len(s.Runs) > 0 {
		return ids, nil
	}
	no := false
	search := client.RunListOptions{
		ListOptions: client.ListOptions{PageSize: 200, SortBy: "created_at"}, Search: client.Search{Parameters: s.Where, Archived: &no},
	}
	if s.Experiment != "" {
		found, err := e.FindExperiment(ctx, cl, s.Experiment)
		if err != nil {
			return nil, err
		}
		search.ExperimentID = found.ID
		if strings.HasPrefix(found.Description, scaling.SweepCommand) {
			o.Command = found.Description
		}
		if o.Title == "" {
			o.Title = found.Name
		}
	}
	open := 0
	for r, err := range cl.Runs.All(ctx, search) {
		if err != nil {
			return nil, err
		}
		if !r.Done() {
			open++
			continue
		}
		ids = append(ids, r.ID)
	}
	if open > 0 {
		fmt.Fprintf(e.Err, "warning: runs that go on are left out: %d\n", open)
	}
	if len(ids) == 0 {
		return nil, exit.With(exit.Refused, errors.New("no run that has ended is so"))
	}
	return ids, nil
}

// hold compares with a baseline: a report in a file, else the runs of an experiment.
func hold(ctx context.Context, e Env, cl *client.Client, r *scaling.Report, o Options) (*scaling.Gate, error) {
	old, err := readBaseline(o.Baseline)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = experimentBaseline(ctx, e, cl, o)
	}
	if err != nil {
		return nil, err
	}
	gate, err := r.Gate(old, o.FailBelow)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	r.Warnings = append(r.Warnings, gate.Warnings...)
	for _, c := range gate.Cells {
		if c.Against != nil && c.Passed {
			r.Verdicts = append(r.Verdicts, fmt.Sprintf("%s: %.3f of the baseline %s, and not below %.3f", c.Cell, c.Against.Ratio, o.Baseline, o.FailBelow))
		}
	}
	r.Verdicts = append(r.Verdicts, gate.Failed...)
	return gate, nil
}

func readBaseline(file string) (*scaling.Report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, exit.With(exit.Usage, err)
	}
	var r scaling.Report
	if err := json.Unmarshal(data, &r); err != nil || len(r.Runs) == 0 {
		return nil, exit.Usagef("--baseline %s is not a report; write one with -o json", file)
	}
	return &r, nil
}

func experimentBaseline(ctx context.Context, e Env, cl *client.Client, o Options) (*scaling.Report, error) {
	name := o.Baseline
	ids, err := Selection{Experiment: name}.ids(ctx, e, cl, &o)
	if client.IsNotFound(err) {
		return nil, exit.With(exit.Refused, fmt.Errorf("--baseline %s is neither a file nor an experiment", name))
	}
	if err != nil {
		return nil, err
	}
	runs, err := collect.Runs(ctx, cl, collect.Metric{Name: o.Metric, Step: o.Step}, ids...)
	if err != nil {
		return nil, refused(err)
	}
	o.By, o.Base = "", ""
	old, err := scaling.New(runs, o.Options)
	return old, exit.With(exit.Usage, err)
}

// Format is how a report is written; it is a flag value.
type Format string

// The formats.
const (
	Table    Format = "table"
	Markdown Format = "md"
	HTML     Format = "html"
	CSV      Format = "csv"
	JSON     Format = "json"
	YAML     Format = "yaml"
)

// Formats lists them for completion.
var Formats = []string{string(Table), string(Markdown), string(HTML), string(CSV), string(JSON), string(YAML)}

// Set is part of pflag.Value.
func (f *Format) Set(s string) error {
	for _, known := range Formats {
		if s == known {
			*f = Format(s)
			return nil
		}
	}
	return exit.Usagef("want one of %s", strings.Join(Formats, ", "))
}

func (f *Format) String() string { return string(*f) }

// Type is part of pflag.Value.
func (*Format) Type() string { return "format" }

// answer is the report as programs get it.
type answer struct {
	*scaling.Report
	Gate *scaling.Gate `json:"gate,omitempty"`
}

func write(e Env, r *scaling.Report, gate *scaling.Gate, f Format) error {
	switch f {
	case Markdown:
		return document.Markdown(e.Out, r)
	case HTML:
		return document.HTML(e.Out, r)
	case CSV:
		return document.CSV(e.Out, r)
	case JSON, YAML:
		return output.Printer{Out: e.Out, Format: output.Format(f)}.Print(answer{r, gate}, nil)
	}
	table(output.Printer{Out: e.Out, Color: e.Color}, r)
	return nil
}

// table prints what a person in a terminal wants to know first; the other formats have everything.
func table(p output.Printer, r *scaling.Report) {
	fmt.Fprintln(p.Out, document.Title(r))
	for _, v := range r.Verdicts {
		fmt.Fprintf(p.Out, "  %s\n", v)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(p.Out, "  %s %s\n", p.Mark("warn"), w)
	}
	for _, t := range document.Cells(r) {
		p.Heading(t.Title)
		p.Rows("none", t.Header, t.Rows)
	}
	for _, t := range document.Details(r) {
		if t.Title == document.FailuresTitle || t.Title == document.DifferencesTitle {
			p.Heading(t.Title)
			p.Rows("none", t.Header, t.Rows)
		}
	}
	if r.Command != "" {
		p.Heading("Again")
		fmt.Fprintln(p.Out, r.Command)
	}
}
