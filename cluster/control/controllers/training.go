package controllers

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	controller "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"k8s.io/apimachinery/pkg/runtime"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	volcano "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	volcanoclientset "volcano.sh/apis/pkg/client/clientset/versioned"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

// trainingKinds are the kinds of training-operator; MPIJob is mpi-operator's.
var trainingKinds = []string{
	kubeflow.TFJobKind, kubeflow.PyTorchJobKind, kubeflow.XGBoostJobKind, kubeflow.PaddleJobKind, kubeflow.JAXJobKind,
}

// masterWait is the init container of PyTorchJobs' workers. Upstream's runs nslookup every two seconds in an
// image of its own, which would have to be pulled.
//
//go:embed pytorch-wait.yaml
var masterWait []byte

// runTrainingOperator runs training-operator's controllers, unmodified, without the election, the webhooks and the
// listeners of its main program.
func runTrainingOperator(ctx context.Context, h home.Home, ready func()) error {
	ctrl.SetLogger(klog.Background())
	cfg, err := client(h, pki.TrainingOperator)
	if err != nil {
		return err
	}
	if err := errors.Join(
		removeMalformed[kubeflow.TFJob](ctx, cfg, kubeflow.GroupVersion.WithResource("tfjobs")),
		removeMalformed[kubeflow.PyTorchJob](ctx, cfg, kubeflow.GroupVersion.WithResource("pytorchjobs")),
		removeMalformed[kubeflow.XGBoostJob](ctx, cfg, kubeflow.GroupVersion.WithResource("xgboostjobs")),
		removeMalformed[kubeflow.PaddleJob](ctx, cfg, kubeflow.GroupVersion.WithResource("paddlejobs")),
		removeMalformed[kubeflow.JAXJob](ctx, cfg, kubeflow.GroupVersion.WithResource("jaxjobs")),
	); err != nil {
		return err
	}
	onWatching(cfg, ready, "tfjobs", "pytorchjobs", "xgboostjobs", "paddlejobs", "jaxjobs", "pods", "services", "podgroups")
	if err := os.WriteFile(h.PyTorchWait(), masterWait, 0o600); err != nil {
		return err
	}
	config.Config.PyTorchInitContainerTemplateFile = h.PyTorchWait()

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubescheme.AddToScheme, kubeflow.AddToScheme, volcano.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	gangs, err := volcanoclientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	const threads = 2
	for _, kind := range trainingKinds {
		if err := controller.SupportedSchemeReconciler[kind](mgr, common.GenVolcanoSetupFunc(gangs), threads); err != nil {
			return fmt.Errorf("controller of %ss: %w", kind, err)
		}
	}
	return mgr.Start(ctx)
}
