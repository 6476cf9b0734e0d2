package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
)

// How tests run pods and look at them.

// podOf makes a pod that runs a shell script and is not restarted.
func podOf(name, script string, change ...func(*corev1.PodSpec)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "host", Command: []string{"sh", "-c", script}}},
		},
	}
	for _, f := range change {
		f(&p.Spec)
	}
	return p
}

func (c *cluster) createPod(t *testing.T, p *corev1.Pod) {
	t.Helper()
	_, err := c.kube.CoreV1().Pods(c.namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
}

// awaitPod waits until the pod is as wanted.
func (c *cluster) awaitPod(t *testing.T, name, what string, done func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var p *corev1.Pod
	eventually(t, "pod "+name+" "+what, func(ctx context.Context) bool {
		var err error
		p, err = c.kube.CoreV1().Pods(c.namespace).Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		return done(p)
	})
	return p
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// runPod runs a pod to its end.
func (c *cluster) runPod(t *testing.T, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	c.createPod(t, p)
	return c.awaitPod(t, p.Name, "ends", ended)
}

// awaitLog waits until a container has said something.
func (c *cluster) awaitLog(t *testing.T, pod, text string) {
	t.Helper()
	eventually(t, pod+" says "+text, func(ctx context.Context) bool {
		b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(pod, &corev1.PodLogOptions{Container: "main"}).DoRaw(ctx)
		return err == nil && strings.Contains(string(b), text)
	})
}

// commandLimit is far longer than any command of these tests takes.
const commandLimit = 5 * time.Minute

// exec runs a command in the container `main`.
func (c *cluster) exec(t *testing.T, pod string, stdin io.Reader, command ...string) (code int, stdout, stderr string) {
	t.Helper()
	return c.execIn(t, pod, "main", stdin, command...)
}

func (c *cluster) execIn(t *testing.T, pod, container string, stdin io.Reader, command ...string) (code int, stdout, stderr string) {
	t.Helper()
	req := c.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.namespace).Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdin: stdin != nil, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	e, err := remotecommand.NewWebSocketExecutor(c.config, "GET", req.URL().String())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeoutCause(t.Context(), commandLimit, fmt.Errorf("%q in pod %s does not end", command, pod))
	defer cancel()
	var out, errOut bytes.Buffer
	err = e.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: &out, Stderr: &errOut})
	var exit utilexec.CodeExitError
	if errors.As(err, &exit) {
		return exit.Code, out.String(), errOut.String()
	}
	require.NoError(t, err, "%v", context.Cause(ctx))
	return 0, out.String(), errOut.String()
}

// running are the processes with text in their command line.
func running(t *testing.T, text string) (found []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range lines {
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), text) && !strings.HasPrefix(path, fmt.Sprintf("/proc/%d/", os.Getpid())) {
			found = append(found, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return found
}

func ptr[T any](v T) *T { return &v }
