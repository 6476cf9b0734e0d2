package controllers

import (
	"context"
	"log/slog"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
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
	factory := informers.NewSharedInformerFactory(kube, 0)
	namespaces := factory.Core().V1().Namespaces().Informer()
	_, err := namespaces.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		ns := o.(*corev1.Namespace)
		if ns.Name == artifactKeysFrom || ns.DeletionTimestamp != nil {
			return
		}
		if err := copyArtifactKeys(ctx, kube, ns.Name); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
			log.Warn("the object store's keys were not copied; steps with artifacts wait for them", "namespace", ns.Name, "error", err)
		}
	}})
	if err != nil {
		log.Error("namespaces are not watched; only "+artifactKeysFrom+" gets the object store's keys", "error", err)
		return
	}
	namespaces.RunWithContext(ctx)
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
