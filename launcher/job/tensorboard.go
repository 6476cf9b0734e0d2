package job

import (
	"context"
	"fmt"

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
func (l *Launcher) showTensorBoard(ctx context.Context, job *unstructured.Unstructured) error {
	if l.Spec.TensorBoard == nil {
		return nil
	}
	pod, service := tensorBoard(l.Spec, job)
	if _, err := l.Pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("start TensorBoard: the launcher's service account needs create of pods: %w", err)
	}
	if _, err := l.Services.Create(ctx, service, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("serve TensorBoard: the launcher's service account needs create of services: %w", err)
	}
	l.out.say("TensorBoard shows %s: kubectl -n %s port-forward service/%s %d", l.Spec.TensorBoard.LogDir, job.GetNamespace(), service.Name, tensorBoardPort)
	return nil
}

func tensorBoard(s *Spec, job *unstructured.Unstructured) (*corev1.Pod, *corev1.Service) {
	meta := metav1.ObjectMeta{
		Name: job.GetName() + tensorBoardSuffix, Namespace: job.GetNamespace(),
		Labels:          map[string]string{labelTensorBoard: job.GetName()},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: job.GetName(), UID: job.GetUID()}},
	}
	t := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: s.Tolerations, Containers: []corev1.Container{{
		Name: "tensorboard", Image: s.TensorBoard.Image,
		Command: []string{"tensorboard", "--logdir", s.TensorBoard.LogDir, "--bind_all", "--port", fmt.Sprint(tensorBoardPort)},
		Ports:   []corev1.ContainerPort{{ContainerPort: tensorBoardPort}},
	}}}}
	shown := Spec{Data: s.Data}
	mounts(&shown, Identity{}, &t)
	for _, secret := range s.PullSecrets {
		t.Spec.ImagePullSecrets = append(t.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
	}
	return &corev1.Pod{ObjectMeta: meta, Spec: t.Spec}, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: map[string]string{labelTensorBoard: job.GetName()}, Ports: []corev1.ServicePort{{Port: tensorBoardPort}},
	}}
}
