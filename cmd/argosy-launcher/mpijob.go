package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/launcher/mpijob"
)

const mpiJobHelp = `Runs COMMAND as an MPIJob and ends as the job ends.

The job is created once for a step of a workflow: started again, the launcher
goes on with the job it created before. On SIGTERM the job is deleted.
Options with an empty value count as not set.

The step is known by the variables WORKFLOW_NAME and NODE_ID, the launcher's own
pod by POD_NAME and POD_NAMESPACE.`

func mpiJobCommand() *cobra.Command {
	var o mpijob.Options
	var kubeconfig, namespace string
	paths := mpijob.DefaultPaths()
	c := &cobra.Command{
		Use:   "mpijob [flags] -- COMMAND",
		Short: "Run an MPIJob and harvest its metrics",
		Long:  mpiJobHelp,
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 0 || len(args) != 1 {
				return usageError{errors.New("the job's command must follow the flags as one argument: mpijob [flags] -- COMMAND")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := o.Spec(args[0])
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
			launcher, err := mpijob.New(config, spec, id, c.OutOrStdout())
			if err != nil {
				return err
			}
			launcher.Paths = paths
			return launcher.Run(c.Context(), os.Getenv("POD_NAME"))
		},
	}
	f := c.Flags()
	f.StringVar(&o.Name, "name", "", "name of the step")
	f.StringVar(&o.Image, "image", "", "image of the job's launcher and workers")
	f.StringVar(&o.Workers, "workers", "1", "number of workers")
	f.StringVar(&o.Slots, "slots", "", "ranks of each worker (as many as its GPUs, or 1)")
	f.StringVar(&o.GPUs, "gpus", "", "GPUs of each worker")
	f.StringVar(&o.CPU, "cpu", "", "CPU limit of each worker, such as 500m or 2")
	f.StringVar(&o.Memory, "memory", "", "memory limit of each worker, such as 10Gi")
	f.StringVar(&o.Shm, "shm", "", "size of /dev/shm, such as 2Gi")
	f.StringArrayVar(&o.Env, "env", nil, "variable to set, NAME=VALUE (repeatable)")
	f.StringArrayVar(&o.Data, "data", nil, "volume claim to mount, CLAIM:/PATH (repeatable)")
	f.StringArrayVar(&o.Annotations, "annotation", nil, "annotation of the job and its pods, KEY=VALUE (repeatable)")
	f.StringArrayVar(&o.Labels, "label", nil, "label of the job and its pods, KEY=VALUE (repeatable)")
	f.StringVar(&o.SyncMode, "sync-mode", "", "how to fetch code: git")
	f.StringVar(&o.SyncSource, "sync-source", "", "repository to fetch into WORKING-DIR/code")
	f.StringVar(&o.GitBranch, "git-branch", "", "branch or tag (the repository's default)")
	f.StringVar(&o.GitRevision, "git-revision", "", "commit (the newest of the branch)")
	f.StringVar(&o.WorkingDir, "working-dir", "", "where the command runs (/root)")
	f.StringArrayVar(&o.Metrics, "metric", nil, "metric to read from the output, NAME[:RAW|PERCENTAGE[:last|max|min|mean|sum]] (repeatable)")
	f.StringVar(&o.PendingTimeout, "pending-timeout", "", "fail when the job has not started by then (never)")
	f.StringVar(&o.RunningTimeout, "running-timeout", "", "fail when the job has not ended by then (never)")
	f.StringVar(&o.CleanPodPolicy, "clean-pod-policy", "", "pods to delete at the end: Running, All or None (Running)")
	f.StringVar(&o.Retries, "retries", "", "how often a failed command is started again (never)")
	f.StringVar(&kubeconfig, "kubeconfig", "", "cluster to use outside a pod (KUBECONFIG)")
	f.StringVar(&namespace, "namespace", "", "namespace of the job (POD_NAMESPACE)")
	f.StringVar(&paths.Metrics, "metrics-file", paths.Metrics, "where to write the metrics")
	f.StringVar(&paths.JobName, "job-name-file", paths.JobName, "where to write the job's name")
	f.StringVar(&paths.WorldSize, "world-size-file", paths.WorldSize, "where to write the number of ranks seen")
	f.StringVar(&paths.Termination, "termination-file", paths.Termination, "where to write what failed, if the file exists")
	return c
}

// identity says which step of which workflow this is.
func identity(namespace string) (mpijob.Identity, error) {
	id := mpijob.Identity{Namespace: namespace, Workflow: os.Getenv("WORKFLOW_NAME"), Node: os.Getenv("NODE_ID")}
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
	config.UserAgent = "argosy-launcher/" + version()
	return config, nil
}
