package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/client"
)

// runFlags say what is to be run, now or on a schedule.
type runFlags struct {
	run                           client.NewRun
	pipeline, version, experiment string
	values                        []string
}

func (r *runFlags) add(c *cli, cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.StringVar(&r.pipeline, "pipeline", "", "`pipeline` to run (name or id)")
	f.StringVar(&r.version, "version", "", "`version` of it (name or id; default: its default version)")
	f.StringVar(&r.experiment, "experiment", "", "`experiment` the "+what+" belongs to; made if there is none of that name (default \"Default\")")
	f.StringVar(&r.run.Name, "name", "", "`name` of the "+what+", which no other has (default: the pipeline's and the time)")
	f.StringVar(&r.run.Description, "description", "", "`text` shown with it")
	f.StringVar(&r.run.ServiceAccount, "service-account", "", "Kubernetes service `account` of its pods (default: the manifest's, else pipeline-runner)")
	f.StringArrayVarP(&r.values, "param", "p", nil, "set a parameter, as `name=value`; may be repeated, the value may be empty")
	must(cmd.RegisterFlagCompletionFunc("pipeline", c.completePipelines(true)))
	must(cmd.RegisterFlagCompletionFunc("experiment", c.completeExperiments(true)))
	must(cmd.RegisterFlagCompletionFunc("param", c.completeParameters(&r.pipeline)))
	for _, flag := range []string{"version", "name", "description", "service-account"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// resolve turns the names that the user gave into ids.
func (r *runFlags) resolve(ctx context.Context, cl *client.Client) (client.NewRun, error) {
	n := r.run
	if r.pipeline == "" {
		return n, exit.Usagef("say what to run: --pipeline NAME")
	}
	var err error
	if n.Parameters, err = parameters(r.values); err != nil {
		return n, err
	}
	p, err := findPipeline(ctx, cl, r.pipeline)
	if err != nil {
		return n, err
	}
	n.PipelineID = p.ID
	if n.Name == "" {
		n.Name = client.RunName(p.Name)
	}
	if r.version != "" {
		v, err := findVersion(ctx, cl, p.ID, r.version)
		if err != nil {
			return n, err
		}
		n.VersionID = v.ID
	}
	if r.experiment != "" {
		e, err := find(ctx, r.experiment, cl.Experiments.Get, cl.Experiments.Ensure)
		if err != nil {
			return n, err
		}
		n.ExperimentID = e.ID
	}
	return n, nil
}

func parameters(values []string) ([]client.Parameter, error) {
	var list []client.Parameter
	seen := map[string]bool{}
	for _, v := range values {
		name, value, found := strings.Cut(v, "=")
		if !found || name == "" {
			return nil, exit.Usagef("-p %s: want name=value", v)
		}
		if seen[name] {
			return nil, exit.Usagef("-p %s: %s is given twice", v, name)
		}
		seen[name] = true
		list = append(list, client.Parameter{Name: name, Value: value})
	}
	return list, nil
}

func (c *cli) completeParameters(pipeline *string) completion {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		cl, err := c.client()
		if err != nil || *pipeline == "" {
			return nil, directive
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTime)
		defer cancel()
		p, err := findPipeline(ctx, cl, *pipeline)
		if err != nil {
			return nil, directive
		}
		var words []string
		for _, q := range p.Parameters {
			words = append(words, cobra.CompletionWithDesc(q.Name+"=", "default "+q.Value))
		}
		return words, directive
	}
}
