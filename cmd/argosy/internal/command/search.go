package command

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/client"
)

const searchExample = `  argosy run list --status Failed,Error --search resnet
  argosy run list -p lr=0.1 -p 'workers>=4' --metric 'loss<0.5' --sort 'metric:loss' --label team=vision
  argosy run list --time 'created>2d' --time 'finished<2026-11-01'`

// searchFlags choose runs by what they have; all that is said must hold.
type searchFlags struct {
	client.Search
	archived bool
}

func (f *searchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Text, "search", "", "only those with `text` in their name, description or id")
	flags.StringArrayVarP(&f.Parameters, "param", "p", nil, "only those whose parameter is so: `name=value`, name!=value, name~text for a value with the text in it, or name>=number, >, <=, < for numbers; may be repeated")
	flags.StringArrayVar(&f.Metrics, "metric", nil, "only those whose metric is so: `name<number`, and <=, >, >=, =, !=; last(name), min(name) and max(name) are those of its curve; may be repeated")
	flags.StringArrayVar(&f.Labels, "label", nil, "only those with such a label: `name=value`, name!=value, name~text; may be repeated")
	flags.StringArrayVar(&f.Times, "time", nil, "only those that were created, started or finished then: `created>2d` (less than two days ago; also 30m, 12h, 1w), finished<2026-11-01 (before that day), and >=, <=; may be repeated")
	flags.BoolVar(&f.archived, "archived", false, "only those that are archived; with --archived=false only those that are not")
	for _, flag := range []string{"search", "param", "metric", "label", "time"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// search is what the command line asks for.
func (f *searchFlags) search(cmd *cobra.Command) client.Search {
	s := f.Search
	s.Times = timesIn(f.Times, time.Local)
	if cmd.Flags().Changed("archived") {
		s.Archived = &f.archived
	}
	return s
}

var timeTerm = regexp.MustCompile(`^([^<>=]+[<>=]+)\s*(.*?)\s*$`)

// timesIn reads days and times of a clock as those of a zone, as lists show them. All else is left to the server.
func timesIn(terms []string, zone *time.Location) []string {
	var times []string
	for _, term := range terms {
		if parts := timeTerm.FindStringSubmatch(term); parts != nil {
			if day, err := time.ParseInLocation(time.DateOnly, parts[2], zone); err == nil {
				term = parts[1] + day.Format(time.DateOnly+"Z07:00")
			} else if clock, err := time.ParseInLocation("2006-01-02T15:04", parts[2], zone); err == nil {
				term = parts[1] + clock.Format(time.RFC3339)
			}
		}
		times = append(times, term)
	}
	return times
}

// mostFields is how many names a refusal lists.
const mostFields = 20

// checkFields refuses names that no run has: a typo would find nothing, and sort by nothing.
func checkFields(ctx context.Context, cl *client.Client, o client.RunListOptions) error {
	metric, byMetric := strings.CutPrefix(o.SortBy, "metric:")
	if len(o.Parameters)+len(o.Labels)+len(o.Metrics) == 0 && !byMetric {
		return nil
	}
	known, err := cl.Runs.Fields(ctx)
	if err != nil {
		return err
	}
	metrics := namesIn(o.Metrics)
	if byMetric {
		name, _, _ := strings.Cut(metric, " ")
		metrics = append(metrics, name)
	}
	for _, field := range []struct {
		what         string
		asked, known []string
	}{{"parameter", namesIn(o.Parameters), known.Parameters}, {"label", namesIn(o.Labels), known.Labels}, {"metric", metrics, slices.Concat(known.Metrics, figures(known.Curves))}} {
		for _, name := range field.asked {
			if !slices.Contains(field.known, name) {
				return exit.Usagef("no run has a %s %q; %s", field.what, name, knownNames(field.known))
			}
		}
	}
	return nil
}

// figures names what runs can be compared by of their curves.
func figures(curves []string) (names []string) {
	for _, name := range curves {
		names = append(names, "last("+name+")", "min("+name+")", "max("+name+")")
	}
	return names
}

// namesIn takes the names out of terms such as loss<=0.5. Terms without an operator are left to the server, which says how to write them.
func namesIn(terms []string) (names []string) {
	for _, term := range terms {
		if end := strings.IndexAny(term, "!=~<>"); end > 0 {
			names = append(names, strings.TrimSpace(term[:end]))
		}
	}
	return names
}

func knownNames(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "none has any yet"
	case n > mostFields:
		return fmt.Sprintf("there are %s and %d more", strings.Join(names[:mostFields], ", "), n-mostFields)
	}
	return "there are " + strings.Join(names, ", ")
}
