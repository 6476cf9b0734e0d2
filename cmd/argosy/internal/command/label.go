package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/client"
)

// label takes what kubectl label takes.
func (c runs) label() *cobra.Command {
	var overwrite bool
	cmd := &cobra.Command{
		Use: "label RUN [KEY=VALUE | KEY-]...", Short: "Set labels of a run, remove them (KEY-), or list them",
		Example: "  argosy run label my-run team=vision baseline=\n  argosy run label my-run team=speech --overwrite\n  argosy run label my-run team-",
		Args:    args(cobra.MinimumNArgs(1), "a run, and labels to set (KEY=VALUE) or to remove (KEY-)"), ValidArgsFunction: c.completeLabels,
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			set, remove, err := labelEdits(args[1:])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				r, err := c.newestRun(ctx, cl, args[0])
				if err != nil {
					return err
				}
				return c.printLabels(r)
			}
			r, err := findRun(ctx, cl, args[0])
			if err != nil {
				return err
			}
			for key, value := range set {
				if old, there := r.Labels[key]; there && old != value && !overwrite {
					return exit.With(exit.Refused, fmt.Errorf("run %s has the label %s=%s; change it with --overwrite", r.Name, key, old))
				}
			}
			labels := map[string]string{}
			maps.Copy(labels, r.Labels)
			maps.Copy(labels, set)
			maps.DeleteFunc(labels, func(key, _ string) bool { return slices.Contains(remove, key) })
			if r, err = cl.Runs.SetLabels(ctx, r.ID, labels); err != nil {
				return err
			}
			return c.printLabels(r)
		}),
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "change labels that have another value")
	return cmd
}

// labelEdits reads KEY=VALUE and KEY-.
func labelEdits(args []string) (set map[string]string, remove []string, err error) {
	set = map[string]string{}
	for _, arg := range args {
		key, value, sets := strings.Cut(arg, "=")
		if !sets {
			var removes bool
			if key, removes = strings.CutSuffix(arg, "-"); !removes {
				return nil, nil, exit.Usagef("label %s: want KEY=VALUE to set it, or KEY- to remove it", arg)
			}
		}
		if _, twice := set[key]; twice || slices.Contains(remove, key) {
			return nil, nil, exit.Usagef("label %s: %s is given twice", arg, key)
		}
		if sets {
			set[key] = value
		} else {
			remove = append(remove, key)
		}
	}
	return set, remove, nil
}

func (c runs) printLabels(r *client.Run) error {
	labels := r.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	p := c.printer()
	return p.Print(labels, func() {
		var rows [][]string
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			rows = append(rows, []string{key, labels[key]})
		}
		p.Rows("no labels", []string{"label", "value"}, rows)
	})
}

// labelList writes labels in one line, in the order of their names.
func labelList(labels map[string]string) string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, key+"="+labels[key])
	}
	return strings.Join(list, ", ")
}

func (c runs) completeLabels(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return c.completeRuns(false)(cmd, args, toComplete)
	}
	return c.completeOf(cmd, args[0], func(r *client.Run) (words []string) {
		for key, value := range r.Labels {
			words = append(words, cobra.CompletionWithDesc(key+"-", key+"="+value))
		}
		return words
	})
}
