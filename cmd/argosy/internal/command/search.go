package command

import (
	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/sdk/client"
)

const searchExample = `  argosy run list --status Failed,Error --search resnet
  argosy run list -p lr=0.1 --metric 'loss<0.5' --sort 'metric:loss' --label team=vision`

// searchFlags choose runs by what they have; all that is said must hold.
type searchFlags struct {
	client.Search
	archived bool
}

func (f *searchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Text, "search", "", "only those with `text` in their name, description or id")
	flags.StringArrayVarP(&f.Parameters, "param", "p", nil, "only those whose parameter is so: `name=value`, name!=value, or name~text for a value with the text in it; may be repeated")
	flags.StringArrayVar(&f.Metrics, "metric", nil, "only those whose metric is so: `name<number`, and <=, >, >=, =, !=; may be repeated")
	flags.StringArrayVar(&f.Labels, "label", nil, "only those with such a label: `name=value`, name!=value, name~text; may be repeated")
	flags.BoolVar(&f.archived, "archived", false, "only those that are archived; with --archived=false only those that are not")
	for _, flag := range []string{"search", "param", "metric", "label"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// search is what the command line asks for.
func (f *searchFlags) search(cmd *cobra.Command) client.Search {
	s := f.Search
	if cmd.Flags().Changed("archived") {
		s.Archived = &f.archived
	}
	return s
}
