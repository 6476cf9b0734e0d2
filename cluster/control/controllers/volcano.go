package controllers

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"text/template"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	volcanoclientset "volcano.sh/apis/pkg/client/clientset/versioned"
	volcanoinformers "volcano.sh/apis/pkg/client/informers/externalversions"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/controllers/framework"
	_ "volcano.sh/volcano/pkg/controllers/garbagecollector"
	_ "volcano.sh/volcano/pkg/controllers/job"
	_ "volcano.sh/volcano/pkg/controllers/podgroup"
	_ "volcano.sh/volcano/pkg/controllers/queue"
	"volcano.sh/volcano/pkg/scheduler"
	_ "volcano.sh/volcano/pkg/scheduler/actions"
	schedulerframework "volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
	volcanoutil "volcano.sh/volcano/pkg/util"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

// gangScheduler is the name of Volcano's scheduler in pods, and of the kind of gang scheduling in the operators' options.
const gangScheduler = "volcano"

// schedulePeriod is how often Volcano looks for pods to place. Its default of one second would be most of the time
// from a job's creation to its first line; each look costs some 2 ms of processor time.
const schedulePeriod = 100 * time.Millisecond

// volcanoConfig is the configuration of Volcano's scheduler; docs/adr/0042 explains what differs from upstream's default.
//
//go:embed volcano-scheduler.conf
var volcanoConfig string

// packWeight puts packing before the other orders of nodes, whose weights are 1 to 3, and task-topology before packing.
const packWeight = 10

// volcanoConfigOf renders the configuration for a placement.
func volcanoConfigOf(placement string) ([]byte, error) {
	weight, known := map[string]int{home.Pack: packWeight, home.Spread: 0}[placement]
	if !known {
		return nil, fmt.Errorf("placement %q: want %s or %s", placement, home.Pack, home.Spread)
	}
	t, err := template.New("volcano-scheduler.conf").Parse(volcanoConfig)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct{ Pack int }{weight})
	return b.Bytes(), err
}

// runVolcanoScheduler runs Volcano's scheduler with the plugin makeRoom, without the election and the listeners of its main program.
func runVolcanoScheduler(ctx context.Context, h home.Home, placement string, ready func()) error {
	cfg, err := client(h, pki.VolcanoScheduler)
	if err != nil {
		return err
	}
	// It watches the folder of its configuration, which people may change while it runs.
	config := h.VolcanoConfig()
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		return err
	}
	text, err := volcanoConfigOf(placement)
	if err != nil {
		return err
	}
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return err
	}
	// A socket for its verbosity, by default in a folder of /tmp that all users share.
	if err := os.Setenv(volcanoutil.SocketDirEnvName, filepath.Dir(h.Socket("klog"))); err != nil {
		return err
	}
	klog.InitFlags(flag.CommandLine) // the socket's handler looks the flag -v up
	opt := options.NewServerOption()
	flags := pflag.NewFlagSet("vc-scheduler", pflag.ContinueOnError)
	opt.AddFlags(flags)
	if err := flags.Parse([]string{
		"--scheduler-name=" + gangScheduler,
		"--scheduler-conf=" + config,
		"--schedule-period=" + schedulePeriod.String(),
		"--cache-dumper=false",
		"--node-worker-threads=1",
		"--kube-api-qps=" + strconv.Itoa(qps), "--kube-api-burst=" + strconv.Itoa(burst),
	}); err != nil {
		return err
	}
	opt.RegisterOptions()
	schedulerframework.RegisterPluginBuilder(makeRoom{}.Name(), newMakeRoom)
	s, err := scheduler.NewScheduler(cfg, opt)
	if err != nil {
		return err
	}
	metrics.InitKubeSchedulerRelatedMetrics() // its plugins count goroutines there
	s.Run(ctx.Done())                         // returns when it knows the state of the cluster
	ready()
	<-ctx.Done()
	return ctx.Err()
}

// runVolcanoControllers runs Volcano's controllers of jobs, pod groups and queues, unmodified.
func runVolcanoControllers(ctx context.Context, h home.Home, ready func()) error {
	cfg, err := client(h, pki.VolcanoControllers)
	if err != nil {
		return err
	}
	if err := removeMalformed[batch.Job](ctx, cfg, batch.SchemeGroupVersion.WithResource("jobs")); err != nil {
		return err
	}
	onWatching(cfg, ready, "jobs", "podgroups", "queues", "pods")
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	volcano, err := volcanoclientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	const workers = 2
	opt := &framework.ControllerOption{
		KubeClient: kube, VolcanoClient: volcano, Config: cfg,
		SharedInformerFactory:   informers.NewSharedInformerFactory(kube, 0),
		VCSharedInformerFactory: volcanoinformers.NewSharedInformerFactory(volcano, 0),
		SchedulerNames:          []string{gangScheduler},
		WorkerNum:               workers, WorkerThreadsForPG: workers, WorkerThreadsForQueue: workers,
		WorkerThreadsForGC:      1,
		MaxRequeueNum:           15, // upstream's default
		InheritOwnerAnnotations: true,
	}
	var failed error
	framework.ForeachController(func(c framework.Controller) {
		if err := c.Initialize(opt); err != nil && failed == nil {
			failed = fmt.Errorf("controller %s: %w", c.Name(), err)
			return
		}
		go c.Run(ctx.Done())
	})
	if failed != nil {
		return failed
	}
	<-ctx.Done()
	return ctx.Err()
}
