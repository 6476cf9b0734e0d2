package engine

import (
	"context"
	"slices"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
)

// StopJob implements cluster.Source. It deletes the pod of the step: the launcher in it deletes the job before it ends, and the server
// needs no rights to change jobs.
func (v *View) StopJob(ctx context.Context, of cluster.Of, name string) error {
	found, missing, err := v.instances(ctx, of)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(found, func(i instance) bool { return i.Name == name })
	switch {
	case i < 0 && len(missing) > 0:
		return apierr.New(apierr.Invalid, "the server may not %s %s: apply manifests/base to give it the right", missing[0].Verb, missing[0].Resource)
	case i < 0:
		return apierr.New(apierr.NotFound, "run %s has no distributed job %s in the cluster now", of.RunID, name)
	case found[i].State == "Succeeded" || found[i].State == "Failed":
		return apierr.New(apierr.Aborted, "%s %s has ended: there is nothing to stop", found[i].Kind, name)
	}
	pods, _, err := v.podsOf(ctx, of.Namespace, labels.Set{labelRunID: of.RunID}.String())
	if err != nil {
		return err
	}
	step := slices.IndexFunc(pods, func(pod *corev1.Pod) bool {
		return found[i].NodeID != "" && pod.Annotations[common.AnnotationKeyNodeID] == found[i].NodeID &&
			pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
	})
	if step < 0 {
		return apierr.New(apierr.Aborted, "%s %s has no launcher any more that could delete it: it goes when its run is deleted", found[i].Kind, name)
	}
	err = v.kube.CoreV1().Pods(of.Namespace).Delete(ctx, pods[step].Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: ptr.To(pods[step].UID)}})
	if apierrors.IsNotFound(err) {
		return nil // it ends by itself
	}
	return explain("stop the step of "+found[i].Kind+" "+name, err)
}
