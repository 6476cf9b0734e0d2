package controllers

import (
	"context"
	"errors"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	mpiclientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	mpischeme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	mpiinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	volcanoclientset "volcano.sh/apis/pkg/client/clientset/versioned"

	"github.com/argosy-ml/argosy/cluster/control/pki"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

// runMPIOperator runs mpi-operator's controller, unmodified, without the election and the listener of its main program.
func runMPIOperator(ctx context.Context, h home.Home, ready func()) error {
	cfg, err := client(h, pki.MPIOperator)
	if err != nil {
		return err
	}
	if err := removeMalformed[kubeflow.MPIJob](ctx, cfg, kubeflow.SchemeGroupVersion.WithResource("mpijobs")); err != nil {
		return err
	}
	onWatching(cfg, ready, "mpijobs", "jobs", "pods", "configmaps", "secrets", "services", "podgroups")
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	mpi, err := mpiclientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	gangs, err := volcanoclientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	// Its events name MPIJobs, so the scheme of the event recorder must know them.
	if err := mpischeme.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	core := informers.NewSharedInformerFactory(kube, 0)
	jobs := mpiinformers.NewSharedInformerFactory(mpi, 0)
	mpiJobs := jobs.Kubeflow().V2beta1().MPIJobs()
	if err := mpiJobs.Informer().SetTransform(gangOfWorkers); err != nil {
		return err
	}
	ctl, err := controller.NewMPIJobController(ctx, kube, mpi, gangs, nil,
		core.Core().V1().ConfigMaps(), core.Core().V1().Secrets(), core.Core().V1().Services(),
		core.Batch().V1().Jobs(), core.Core().V1().Pods(), core.Scheduling().V1().PriorityClasses(), mpiJobs,
		// The rate is that of its queue, which hands out nothing at all without one; by default ten a second.
		&options.ServerOption{GangSchedulingName: options.GangSchedulerVolcano, ControllerRateLimit: qps, ControllerBurst: burst})
	if err != nil {
		return err
	}
	core.Start(ctx.Done())
	jobs.Start(ctx.Done())
	ctl.PodGroupCtrl.StartInformerFactory(ctx.Done())
	const workers = 4
	return ctl.Run(workers, ctx.Done())
}

// gangOfWorkers changes MPIJobs on their way into the operator's cache, which is never written back. The operator's
// gangs have a member for the launcher, and a launcher that waits for running workers would never be created: such
// a job's gang is its workers, unless the job says otherwise.
func gangOfWorkers(o any) (any, error) {
	job, ok := o.(*kubeflow.MPIJob)
	if !ok {
		return o, errors.New("not an MPIJob")
	}
	workers := job.Spec.MPIReplicaSpecs[kubeflow.MPIReplicaTypeWorker]
	if job.Spec.LauncherCreationPolicy != kubeflow.LauncherCreationPolicyWaitForWorkersReady || workers == nil {
		return job, nil
	}
	if job.Spec.RunPolicy.SchedulingPolicy == nil {
		job.Spec.RunPolicy.SchedulingPolicy = &kubeflow.SchedulingPolicy{}
	}
	if policy := job.Spec.RunPolicy.SchedulingPolicy; policy.MinAvailable == nil {
		policy.MinAvailable = workers.Replicas // nil for a job without workers to wait for, as before
	}
	return job, nil
}
