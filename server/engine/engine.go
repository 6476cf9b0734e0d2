// Package engine runs Workflows on a cluster: it is the only part of the server that knows Argo and Kubernetes.
package engine

import (
	"fmt"
	"log/slog"

	argo "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/argosy-ml/argosy/launcher/capacity/survey"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/reconcile"
	"github.com/argosy-ml/argosy/server/run"
)

// The labels and annotations that the server sets on Workflows (KFP v1).
const (
	labelRunID        = run.Label
	labelPersisted    = "pipeline/persistedFinalState"
	labelCacheEnabled = "pipelines.kubeflow.org/cache_enabled"

	labelSchedule      = "scheduledworkflows.kubeflow.org/scheduledWorkflowName"
	labelScheduleEpoch = "scheduledworkflows.kubeflow.org/workflowEpoch"
	labelScheduleIndex = "scheduledworkflows.kubeflow.org/workflowIndex"
	labelScheduled     = "scheduledworkflows.kubeflow.org/isOwnedByScheduledWorkflow"

	annotationRunName = "pipelines.kubeflow.org/run_name"
	annotationSpec    = "pipelines.kubeflow.org/pipeline_spec"
	annotationV2      = "pipelines.kubeflow.org/v2_pipeline" // of the v2-compatible mode
	annotationIstio   = "sidecar.istio.io/inject"
)

// defaultServiceAccount runs Workflows that name none.
const defaultServiceAccount = "pipeline-runner"

// Requests per second to the API server: enough for 200 runs a second with some to spare.
const (
	qps   = 500
	burst = 1000
)

var (
	_ run.Engine         = (*Engine)(nil)
	_ pipeline.Inspector = (*Engine)(nil)
	_ reconcile.Cluster  = (*Engine)(nil)
)

// Engine talks to one cluster.
type Engine struct {
	argo      argo.Interface
	kube      kubernetes.Interface
	dynamic   dynamic.Interface
	namespace string // that is watched, and whose WorkflowTemplates manifests may refer to
	log       *slog.Logger

	scalesUp       bool           // the cluster adds nodes when pods ask for more
	recent, survey *survey.Survey // with nodes and queues as they were just before, and as they are
}

// Connect makes an engine from a kubeconfig file; with an empty name, from the pod that the server runs in.
// It does not talk to the cluster yet.
func Connect(kubeconfig, namespace string, log *slog.Logger) (*Engine, error) {
	config, err := clientConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = qps, burst
	config.UserAgent = "argosy"
	argoClient, err := argo.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of Argo Workflows: %w", err)
	}
	kubeClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of Kubernetes: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of Kubernetes: %w", err)
	}
	return New(argoClient, kubeClient, dynamicClient, namespace, log), nil
}

// New makes an engine from ready clients.
func New(argoClient argo.Interface, kube kubernetes.Interface, dyn dynamic.Interface, namespace string, log *slog.Logger) *Engine {
	queues := dyn.Resource(queueResource)
	return &Engine{
		argo: argoClient, kube: kube, dynamic: dyn, namespace: namespace, log: log,
		recent: &survey.Survey{Core: kube.CoreV1(), Storage: kube.StorageV1(), Queues: queues, Keep: keepNodes},
		survey: &survey.Survey{Core: kube.CoreV1(), Storage: kube.StorageV1(), Queues: queues},
	}
}

// ScalesUp tells the engine whether the cluster adds nodes when pods ask for more: then steps that are too big for it wait.
func (e *Engine) ScalesUp(does bool) { e.scalesUp = does }

func clientConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("no kubeconfig is given, and the server does not run in a cluster: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", kubeconfig, err)
	}
	return config, nil
}

// View is what people see of the cluster: nodes, queues, jobs and what Kubernetes tells of them.
type View struct {
	kube      kubernetes.Interface
	dynamic   dynamic.Interface
	namespace string // of runs
	log       *slog.Logger
	versions  *versions
}

// View gives the engine's cluster to look at.
func (e *Engine) View() *View { return &View{e.kube, e.dynamic, e.namespace, e.log, &versions{}} }
