package controllers

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// The Secret that the artifact repository in Argo's configuration names, and the namespace it is bootstrapped into.
const (
	artifactKeys      = "mlpipeline-minio-artifact"
	artifactKeysFrom  = "kubeflow"
	artifactKeysOwner = "argosy-cluster"
)

// keepArtifactKeys copies the keys of the object store into every namespace: a step with artifacts mounts them from its own.
// It returns when the context ends.
func keepArtifactKeys(ctx context.Context, kube kubernetes.Interface) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 10*time.Second))
	namespaces := informers.NewSharedInformerFactory(kube, 0).Core().V1().Namespaces()
	_, err := namespaces.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		if ns := o.(*corev1.Namespace); ns.Name != artifactKeysFrom {
			queue.Add(ns.Name)
		}
	}})
	if err != nil {
		log.Error("namespaces are not watched; only "+artifactKeysFrom+" gets the object store's keys", "error", err)
		return
	}
	var watching sync.WaitGroup
	watching.Go(func() { defer queue.ShutDown(); namespaces.Informer().RunWithContext(ctx) })
	defer watching.Wait()
	for {
		namespace, ended := queue.Get()
		if ended {
			return
		}
		var err error
		if ns, gone := namespaces.Lister().Get(namespace); gone == nil && ns.DeletionTimestamp == nil {
			err = copyArtifactKeys(ctx, kube, namespace)
		}
		if err == nil || ctx.Err() != nil {
			queue.Forget(namespace)
		} else {
			log.Warn("the object store's keys were not copied; steps with artifacts wait for them", "namespace", namespace, "error", err)
			queue.AddRateLimited(namespace)
		}
		queue.Done(namespace)
	}
}

func copyArtifactKeys(ctx context.Context, kube kubernetes.Interface, namespace string) error {
	from, err := kube.CoreV1().Secrets(artifactKeysFrom).Get(ctx, artifactKeys, metav1.GetOptions{})
	if err != nil {
		return err
	}
	_, err = kube.CoreV1().Secrets(namespace).Apply(ctx, corev1apply.Secret(artifactKeys, namespace).WithData(from.Data),
		metav1.ApplyOptions{FieldManager: artifactKeysOwner, Force: true})
	return err
}
