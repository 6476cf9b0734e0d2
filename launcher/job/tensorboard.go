package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	tensorBoardSuffix = "-tensorboard"
	tensorBoardPort   = 6006
	labelTensorBoard  = "argosy.dev/tensorboard"
)

// showTensorBoard runs TensorBoard beside the job, on the job's volumes. It is the job's own and goes when the job
// does, which may be long after its end.
func (l *Launcher) showTensorBoard(ctx context.Context, job *unstructured.Unstructured) {
	if !l.Spec.TensorBoard.Enabled {
		return
	}
	pod, service := tensorBoard(l.Spec, job)
	err := own(ctx, job, pod, l.Pods.Create, l.Pods.Get)
	if err == nil {
		err = own(ctx, job, service, l.Services.Create, l.Services.Get)
	}
	switch {
	case err == nil:
		l.out.say("TensorBoard shows %s: kubectl -n %s port-forward service/%s %d", l.Spec.TensorBoard.LogDir, job.GetNamespace(), service.Name, tensorBoardPort)
	case ctx.Err() == nil: // the job trains without
		l.out.say("there is no TensorBoard: the launcher's service account needs create and get of pods and services: %v", err)
	}
}

// own creates an object of the job's. One of the same name that an earlier attempt of the job had is on its way out.
func own[T metav1.Object](ctx context.Context, job *unstructured.Unstructured, want T,
	create func(context.Context, T, metav1.CreateOptions) (T, error), get func(context.Context, string, metav1.GetOptions) (T, error),
) error {
	_, err := backoff.Retry(ctx, func() (T, error) {
		made, err := create(ctx, want, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return made, permanentUnlessTransient(err)
		}
		have, err := get(ctx, want.GetName(), metav1.GetOptions{})
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			return have, permanentUnlessTransient(err)
		case err == nil && slices.ContainsFunc(have.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == job.GetUID() }):
			return have, nil
		}
		return have, errGone
	}, backoff.WithBackOff(backoff.NewConstantBackOff(500*time.Millisecond)), backoff.WithMaxElapsedTime(0))
	return err
}

func permanentUnlessTransient(err error) error {
	if err == nil || transient(err) {
		return err
	}
	return backoff.Permanent(err)
}

func tensorBoard(s *Spec, job *unstructured.Unstructured) (*corev1.Pod, *corev1.Service) {
	meta := metav1.ObjectMeta{
		Name: job.GetName() + tensorBoardSuffix, Namespace: job.GetNamespace(),
		Labels:          map[string]string{labelTensorBoard: job.GetName()},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: job.GetName(), UID: job.GetUID()}},
	}
	t := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: s.Tolerations, Containers: []corev1.Container{{
		Name: "tensorboard", Image: s.TensorBoard.Image,
		Command: []string{"tensorboard", "--logdir", verbatim(s.TensorBoard.LogDir), "--bind_all", "--port", fmt.Sprint(tensorBoardPort)},
		Env:     []corev1.EnvVar{noGPUs},
		Ports:   []corev1.ContainerPort{{ContainerPort: tensorBoardPort}},
	}}}}
	shown := Spec{Data: s.Data}
	mounts(&shown, Identity{}, &t)
	for _, secret := range s.ImagePullSecrets {
		t.Spec.ImagePullSecrets = append(t.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
	}
	return &corev1.Pod{ObjectMeta: meta, Spec: t.Spec}, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: map[string]string{labelTensorBoard: job.GetName()}, Ports: []corev1.ServicePort{{Port: tensorBoardPort}},
	}}
}
