package kubelet

import (
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// eventSink is where events go: they explain in `kubectl describe` what became of a pod.
func (k *Kubelet) eventSink() *corev1client.EventSinkImpl {
	return &corev1client.EventSinkImpl{Interface: k.client.CoreV1().Events("")}
}
