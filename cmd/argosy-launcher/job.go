package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/cmd/internal/version"
	"github.com/argosy-ml/argosy/launcher/job"
)

const jobHelp = `Runs COMMAND as %s and ends as the job ends.

The job is created once for a step of a workflow: started again, the launcher
goes on with the job it created before. On SIGTERM the job is deleted.
Options with an empty value count as not set.

The step is known by the variables WORKFLOW_NAME and NODE_ID, the launcher's own
pod by POD_NAME and POD_NAMESPACE.`

func jobCommand(kind *job.Kind) *cobra.Command {
	o := job.Options{}
	var kubeconfig, namespace string
	paths := job.DefaultPaths()
	c := &cobra.Command{
		Use:   kind.Command + " [flags] -- COMMAND",
		Short: fmt.Sprintf("Run %s and harvest its metrics", kind.Article()),
		Long:  fmt.Sprintf(jobHelp, kind.Article()),
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 0 || len(args) != 1 {
				return usageError{fmt.Errorf("the job's command must follow the flags as one argument: %s [flags] -- COMMAND", kind.Command)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := o.Spec(kind, args[0])
			if err != nil {
				return usageError{err}
			}
			id, err := identity(namespace)
			if err != nil {
				return err
			}
			config, err := clusterConfig(kubeconfig)
			if err != nil {
				return err
			}
			launcher, err := job.New(config, spec, id, c.OutOrStdout())
			if err != nil {
				return err
			}
			launcher.Paths = paths
			return launcher.Run(c.Context(), os.Getenv("POD_NAME"))
		},
	}
	f := c.Flags()
	o.Bind(f)
	f.StringVar(&kubeconfig, "kubeconfig", "", "cluster to use outside a pod (KUBECONFIG)")
	f.StringVar(&namespace, "namespace", "", "namespace of the job (POD_NAMESPACE)")
	f.StringVar(&paths.Metrics, "metrics-file", paths.Metrics, "where to write the metrics")
	f.StringVar(&paths.JobName, "job-name-file", paths.JobName, "where to write the job's name")
	f.StringVar(&paths.WorldSize, "world-size-file", paths.WorldSize, "where to write the number of ranks seen")
	f.StringVar(&paths.Environment, "environment-file", paths.Environment, "where to write what the job ran on, as JSON")
	f.StringVar(&paths.Termination, "termination-file", paths.Termination, "where to write what failed, if the file exists")
	return c
}

// identity names the workflow and the step that this process belongs to.
func identity(namespace string) (job.Identity, error) {
	id := job.Identity{Namespace: namespace, Workflow: os.Getenv("WORKFLOW_NAME"), Node: os.Getenv("NODE_ID")}
	if id.Namespace == "" {
		id.Namespace = os.Getenv("POD_NAMESPACE")
	}
	if id.Workflow == "" || id.Node == "" {
		return id, errors.New("WORKFLOW_NAME and NODE_ID must be set: the name of the job follows from them")
	}
	if id.Namespace == "" {
		return id, errors.New("the namespace is not known: set POD_NAMESPACE or --namespace")
	}
	return id, nil
}

// clusterConfig prefers a kubeconfig that was named; inside a pod none is needed.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		kubeconfig = os.Getenv("KUBECONFIG")
	}
	var config *rest.Config
	var err error
	if kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	} else if config, err = rest.InClusterConfig(); errors.Is(err, rest.ErrNotInCluster) {
		err = errors.New("not in a pod: set KUBECONFIG or --kubeconfig")
	}
	if err != nil {
		return nil, fmt.Errorf("how to reach the cluster: %w", err)
	}
	config.UserAgent = "argosy-launcher/" + version.Version
	return config, nil
}
