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
	"github.com/argoproj/argo-workflows/v3/workflow/controller/pod"
	"github.com/argoproj/argo-workflows/v3/workflow/metrics"

	"github.com/argosy-ml/argosy/cluster/home"
	"github.com/argosy-ml/argosy/cluster/image"
	"github.com/argosy-ml/argosy/cluster/pki"
)

// argoNamespace is where the workflow controller finds its configuration.
const argoNamespace = "argo"

func runArgo(ctx context.Context, h home.Home, ready func()) error {
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
	if err := keepPace(cfg); err != nil {
		return err
	}
	metrics.AddMetricsTransportWrapper(ctx, cfg) // the controller expects it even when it serves no metrics
	onWatching(cfg, ready, "workflows", "pods", "workflowtaskresults", "workflowtasksets")
	var wfc *controller.WorkflowController
	err = hurryCleanups(cfg, func() *pod.Controller {
		if wfc == nil {
			return nil
		}
		return wfc.PodController
	})
	if err != nil {
		return err
	}
	unheard := listen(cfg, func(namespace, name string) bool {
		p, err := wfc.PodController.GetPod(namespace, name)
		return err == nil && p != nil
	})
	shorter := rest.CopyConfig(cfg) // than JSON, which its own kinds come in
	shorter.ContentType = "application/vnd.kubernetes.protobuf"
	kube, err := kubernetes.NewForConfig(shorter)
	if err != nil {
		return err
	}
	argo, err := wfclientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	complete, err := completeReports(func() *controller.WorkflowController { return wfc })
	if err != nil {
		return err
	}
	const executorPlugins = false
	wfc, err = controller.NewWorkflowController(ctx, cfg, withTokens{reportsFirst{listening{kube, unheard}, complete}}, argo, argoNamespace, "",
		"argoexec", "IfNotPresent", "text", common.ConfigMapName, executorPlugins)
	if err != nil {
		return err
	}
	var keys sync.WaitGroup
	keys.Go(func() { keepArtifactKeys(ctx, kube) })
	defer keys.Wait()
	const workflows, ttl, podCleanup, cron, archive = 8, 2, 4, 2, 2
	wfc.Run(ctx, workflows, ttl, podCleanup, cron, archive)
	return ctx.Err()
}
