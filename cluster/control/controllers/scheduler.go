package controllers

import (
	"context"
	"slices"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/argosy-ml/argosy/cluster/control/controllers/quick"
	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

const (
	// schedulerParallelism is how many nodes are looked at side by side; there are few nodes.
	schedulerParallelism = 4
	// schedulerBackoff, in seconds, ends the growing pause between attempts at a pod that does not fit. A pod is tried sooner
	// when something changes that may help it and nothing else waits.
	schedulerBackoff = 2
)

// Plugins of the default scheduler that decide nothing here: there are no CSI drivers, no cloud's zones, and
// what a node has of an image costs nothing to fetch for another node, which is the same machine.
var unusedPlugins = []string{names.NodeVolumeLimits, names.VolumeZone, names.ImageLocality}

// runScheduler runs kube-scheduler, unmodified, without the election and the listener of its main program. With stock nothing is done for the
// pods of workflows beyond that.
func runScheduler(ctx context.Context, h home.Home, stock bool, ready func()) error {
	cfg, err := client(h, pki.Scheduler)
	if err != nil {
		return err
	}
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	onWatching(cfg, ready, "pods", "nodes", "persistentvolumeclaims", "persistentvolumes")
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	any, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	conf, err := schedulerConfig()
	if err != nil {
		return err
	}
	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, kube)
	broadcaster.StartRecordingToSink(ctx.Done())
	defer broadcaster.Shutdown()
	typed := scheduler.NewInformerFactory(kube, 0)
	recorder := profile.RecorderFactory(func(name string) events.EventRecorder { return broadcaster.NewRecorder(name) })
	if !stock {
		quick.VolumesInOrder(typed)
		recorder = func(name string) events.EventRecorder {
			return quick.Recorder(broadcaster.NewRecorder(name), typed.Core().V1().Pods().Lister())
		}
	}
	dynamics := dynamicinformer.NewDynamicSharedInformerFactory(any, 0)
	s, err := scheduler.New(ctx, kube, typed, dynamics, recorder,
		scheduler.WithComponentConfigVersion(conf.APIVersion),
		scheduler.WithKubeConfig(cfg),
		scheduler.WithProfiles(conf.Profiles...),
		scheduler.WithParallelism(schedulerParallelism),
		scheduler.WithPodMaxBackoffSeconds(schedulerBackoff))
	if err != nil {
		return err
	}
	typed.Start(ctx.Done())
	dynamics.Start(ctx.Done())
	typed.WaitForCacheSync(ctx.Done())
	dynamics.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return err
	}
	s.Run(ctx)
	return ctx.Err()
}

// schedulerConfig is upstream's default, without the plugins that decide nothing.
func schedulerConfig() (*schedulerapi.KubeSchedulerConfiguration, error) {
	conf, err := latest.Default()
	if err != nil {
		return nil, err
	}
	for i := range conf.Profiles {
		plugins := &conf.Profiles[i].Plugins.MultiPoint
		plugins.Enabled = slices.DeleteFunc(plugins.Enabled, func(p schedulerapi.Plugin) bool { return slices.Contains(unusedPlugins, p.Name) })
	}
	return conf, nil
}
