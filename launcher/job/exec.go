package job

import (
	"bytes"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
)

// maxExecOutput bounds what is kept of a command's output.
const maxExecOutput = 4 << 20

// execIn runs commands in the containers of a namespace.
func execIn(config *rest.Config, core *corev1client.CoreV1Client, namespace string) func(ctx context.Context, pod, container string, command []string) (string, error) {
	return func(ctx context.Context, pod, container string, command []string) (string, error) {
		url := core.RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
			VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
		old, err := remotecommand.NewSPDYExecutor(config, "POST", url)
		if err != nil {
			return "", fmt.Errorf("run a command in the pod: %w", err)
		}
		socket, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
		if err != nil {
			return "", fmt.Errorf("run a command in the pod: %w", err)
		}
		executor, err := remotecommand.NewFallbackExecutor(socket, old, func(err error) bool {
			return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
		})
		if err != nil {
			return "", fmt.Errorf("run a command in the pod: %w", err)
		}
		var out, errs bounded
		if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}); err != nil {
			return out.String(), fmt.Errorf("run a command in the pod: %w", err)
		}
		return out.String(), nil
	}
}

// bounded is a buffer that keeps the first maxExecOutput bytes and drops the rest.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxExecOutput-b.Len())])
	return len(p), nil
}
