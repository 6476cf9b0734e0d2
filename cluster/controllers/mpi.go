package controllers

import (
	"context"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	mpiclientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	mpischeme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	mpiinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/argosy-ml/argosy/cluster/home"
	"github.com/argosy-ml/argosy/cluster/pki"
)

// runMPIOperator runs mpi-operator's controller, unmodified, without the election and the listener of its main program.
func runMPIOperator(ctx context.Context, h home.Home, ready func()) error {
	cfg, err := client(h, pki.MPIOperator)
	if err != nil {
		return err
	}
	onWatching(cfg, ready, "mpijobs", "jobs", "pods", "configmaps", "secrets", "services")
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	mpi, err := mpiclientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	// Its events name MPIJobs, so the scheme of the event recorder must know them.
	if err := mpischeme.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	core := informers.NewSharedInformerFactory(kube, 0)
	jobs := mpiinformers.NewSharedInformerFactory(mpi, 0)
	ctl, err := controller.NewMPIJobController(ctx, kube, mpi, nil, nil,
		core.Core().V1().ConfigMaps(), core.Core().V1().Secrets(), core.Core().V1().Services(),
		core.Batch().V1().Jobs(), core.Core().V1().Pods(), core.Scheduling().V1().PriorityClasses(),
		jobs.Kubeflow().V2beta1().MPIJobs(),
		// Without a rate limit its queue hands out nothing at all.
		&options.ServerOption{ControllerRateLimit: 10, ControllerBurst: 100})
	if err != nil {
		return err
	}
	core.Start(ctx.Done())
	jobs.Start(ctx.Done())
	const workers = 2
	return ctl.Run(workers, ctx.Done())
}
