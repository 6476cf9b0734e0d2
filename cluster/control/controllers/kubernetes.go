package controllers

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/job"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

// Of the some forty controllers of kube-controller-manager, those that act on what runs here: no clouds, no certificates
// for others, no metrics to scale by.
var enabled = []string{
	names.CronJobController,
	names.DaemonSetController,
	names.DeploymentController,
	names.DisruptionController,
	names.JobController, // mpi-operator's launchers are Jobs
	names.ReplicaSetController,
	names.StatefulSetController,
	names.TTLAfterFinishedController,

	names.GarbageCollectorController, // what a Workflow owns goes with it
	names.NamespaceController,
	names.NodeLifecycleController, // taints nodes that do not report
	names.PodGarbageCollectorController,
	names.ResourceQuotaController,
	names.TaintEvictionController,

	names.ClusterRoleAggregationController, // fills the roles admin, edit and view
	names.RootCACertificatePublisherController,
	names.ServiceAccountController,
	names.ServiceAccountTokenController, // Argo's HTTP templates want a token Secret

	names.EndpointSliceController,

	names.EphemeralVolumeController,
	names.PersistentVolumeBinderController,
	names.PersistentVolumeClaimProtectionController,
	names.PersistentVolumeProtectionController,
}

// jobDelay is how long the Job controller waits after news of a pod before it counts. Its default of one second is added to
// every MPIJob, whose launcher is a Job.
const jobDelay = 50 * time.Millisecond

func runControllerManager(ctx context.Context, h home.Home, ready func()) error {
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	job.SyncJobBatchPeriod = jobDelay
	s, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	known, off, aliases := app.KnownControllers(), app.ControllersDisabledByDefault(), app.ControllerAliases()
	flags := pflag.NewFlagSet("kube-controller-manager", pflag.ContinueOnError)
	for _, f := range s.Flags(known, off, aliases).FlagSets {
		flags.AddFlagSet(f)
	}
	if err := flags.Parse(controllerManagerArguments(h)); err != nil {
		return err
	}
	cfg, err := s.Config(ctx, known, off, aliases)
	if err != nil {
		return err
	}
	onWatching(cfg.Kubeconfig, ready, "jobs", "pods", "namespaces", "serviceaccounts")
	return app.Run(ctx, cfg.Complete())
}

func controllerManagerArguments(h home.Home) []string {
	return []string{
		"--kubeconfig=" + h.KubeconfigOf(pki.ControllerManager),
		"--controllers=" + strings.Join(enabled, ","),
		"--secure-port=0", // nothing here needs its metrics
		"--cert-dir=" + filepath.Join(h.PKI(), "controller-manager"),
		"--leader-elect=false",
		"--use-service-account-credentials=false",
		"--service-account-private-key-file=" + pki.File(h.PKI(), "sa", "key"),
		"--root-ca-file=" + pki.File(h.PKI(), "ca", "crt"),
		"--controller-start-interval=0",
		"--node-monitor-grace-period=60s", // four of the kubelet's heartbeats
		fmt.Sprintf("--kube-api-qps=%d", qps),
		"--kube-api-burst=" + strconv.Itoa(burst),
		"--profiling=false",
	}
}
