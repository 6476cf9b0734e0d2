package controllers

import (
	"context"
	"os"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sirupsen/logrus"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	wfclientset "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	cmdutil "github.com/argoproj/argo-workflows/v3/util/cmd"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/controller"
	"github.com/argoproj/argo-workflows/v3/workflow/metrics"

	"github.com/argosy-ml/argosy/cluster/control/controllers/quick"
	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/runtime/image"
)

// argoNamespace is where the workflow controller finds its configuration.
const argoNamespace = "argo"

// workers are how many of Argo's workers of each kind run.
type workers struct{ workflows, ttl, podCleanup, cron, archive int }

// Here a few workers are enough; the others, and the rate of requests, are those of Argo's own main program.
var (
	fewWorkers   = workers{workflows: 8, ttl: 2, podCleanup: 4, cron: 2, archive: 2}
	stockWorkers = workers{workflows: 32, ttl: 4, podCleanup: 4, cron: 8, archive: 8}
)

const (
	stockQPS   = 20
	stockBurst = 30
)

// runArgo runs Argo's workflow controller. With stock it is started as by its own main program, without the election and the listeners, and
// package quick has no part in it.
func runArgo(ctx context.Context, h home.Home, stock bool, ready func()) error {
	// Argo hands klog's -v on to its executor, and an empty one fails there.
	cmdutil.SetGLogLevel(0)
	logrus.SetLevel(logrus.InfoLevel)
	logrus.SetFormatter(&logrus.TextFormatter{DisableColors: true, FullTimestamp: true, TimestampFormat: "2006-01-02T15:04:05.000Z07:00"})

	cfg, err := client(h, pki.Argo)
	if err != nil {
		return err
	}
	// Pods run under the eyes of our own kubelet: no finalizer is needed to see how they ended,
	// and with one, deleted pods stay for up to a minute.
	if err := os.Setenv(common.EnvVarPodStatusCaptureFinalizer, "false"); err != nil {
		return err
	}
	// The controller asks a registry for the command of an image where a template has none; images that were loaded are in none.
	store, err := image.Open(h.Images())
	if err != nil {
		return err
	}
	remote.DefaultTransport = store.Answers(remote.DefaultTransport, strings.Split(os.Getenv(image.InsecureEnv), ","))
	metrics.AddMetricsTransportWrapper(ctx, cfg) // the controller expects it even when it serves no metrics
	onWatching(cfg, ready, "workflows", "pods", "workflowtaskresults", "workflowtasksets")
	var hurried *quick.Argo // nil: stock
	number := stockWorkers
	if stock {
		cfg.QPS, cfg.Burst = stockQPS, stockBurst
	} else {
		if hurried, err = quick.Intercept(cfg); err != nil {
			return err
		}
		number = fewWorkers
	}
	kube, err := argoClient(cfg, hurried)
	if err != nil {
		return err
	}
	argo, err := wfclientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	const executorPlugins = false
	wfc, err := controller.NewWorkflowController(ctx, cfg, withTokens{kube}, argo, argoNamespace, "",
		"argoexec", "IfNotPresent", "text", common.ConfigMapName, executorPlugins)
	if err != nil {
		return err
	}
	if hurried != nil {
		if err := hurried.Take(wfc); err != nil {
			return err
		}
	}
	var keys sync.WaitGroup
	keys.Go(func() { keepArtifactKeys(ctx, kube) })
	defer keys.Wait()
	wfc.Run(ctx, number.workflows, number.ttl, number.podCleanup, number.cron, number.archive)
	return ctx.Err()
}

// argoClient is the client of Argo's controller for what is Kubernetes' own.
func argoClient(cfg *rest.Config, hurried *quick.Argo) (kubernetes.Interface, error) {
	if hurried == nil {
		return kubernetes.NewForConfig(cfg)
	}
	shorter := rest.CopyConfig(cfg) // than JSON, which its own kinds come in
	shorter.ContentType = "application/vnd.kubernetes.protobuf"
	kube, err := kubernetes.NewForConfig(shorter)
	if err != nil {
		return nil, err
	}
	return hurried.Client(kube), nil
}
