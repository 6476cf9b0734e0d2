package engine

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/job"
)

// Serves tells whether the cluster knows a kind of distributed job, such as MPIJob, in the version that the launcher makes.
func (v *View) Serves(_ context.Context, kind string) (bool, error) {
	kinds := job.Kinds()
	i := slices.IndexFunc(kinds, func(k *job.Kind) bool { return k.Name == kind })
	if i < 0 {
		return false, nil
	}
	served, err := v.kube.Discovery().ServerResourcesForGroupVersion(kinds[i].GVR().GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, explain("ask which kinds of jobs there are", err)
	}
	return slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind }), nil
}
