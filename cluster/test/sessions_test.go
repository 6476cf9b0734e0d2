package test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
)

// session opens an exec or attach session in the container `main`; old is the protocol that kubectl spoke before websockets.
func (c *cluster) session(ctx context.Context, t *testing.T, old bool, pod, kind string, o runtime.Object, streams remotecommand.StreamOptions) error {
	t.Helper()
	url := c.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.namespace).Name(pod).SubResource(kind).VersionedParams(o, scheme.ParameterCodec).URL()
	var e remotecommand.Executor
	var err error
	if old {
		e, err = remotecommand.NewSPDYExecutor(c.config, "POST", url)
	} else {
		e, err = remotecommand.NewWebSocketExecutor(c.config, "GET", url.String())
	}
	require.NoError(t, err)
	return e.StreamWithContext(ctx, streams)
}

// talk is both ends of a conversation: what is written goes to the container, what it says can be waited for.
type talk struct {
	in   *io.PipeReader
	say  *io.PipeWriter
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func newTalk() *talk {
	t := &talk{more: make(chan struct{}, 1)}
	t.in, t.say = io.Pipe()
	return t
}

func (k *talk) Write(b []byte) (int, error) {
	k.mu.Lock()
	k.text.Write(b)
	k.mu.Unlock()
	select {
	case k.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (k *talk) heard() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.String()
}

func (k *talk) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(k.heard(), text) {
		select {
		case <-k.more:
		case <-late:
			t.Fatalf("%q was not said within %v, only %q", text, patience, k.heard())
		}
	}
}

// sizes hands a terminal's sizes out.
type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	size, ok := <-s
	if !ok {
		return nil
	}
	return &size
}

func TestExec(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("inside", "echo up; sleep 1000"))
	c.awaitLog(t, "inside", "up")
	for name, old := range map[string]bool{"websocket": false, "SPDY": true} {
		t.Run(name+" pipes", func(t *testing.T) {
			t.Parallel()
			var out, errOut bytes.Buffer
			err := c.session(t.Context(), t, old, "inside", "exec",
				&corev1.PodExecOptions{Container: "main", Command: []string{"sh", "-c", "cat; echo wrong >&2; exit 9"}, Stdin: true, Stdout: true, Stderr: true},
				remotecommand.StreamOptions{Stdin: strings.NewReader("through"), Stdout: &out, Stderr: &errOut})
			var exit utilexec.CodeExitError
			require.True(t, errors.As(err, &exit), "%v", err)
			require.Equal(t, 9, exit.Code)
			require.Equal(t, "through", out.String())
			require.Equal(t, "wrong\n", errOut.String())
		})
		t.Run(name+" terminal", func(t *testing.T) {
			t.Parallel()
			k, resize := newTalk(), make(sizes, 1)
			resize <- remotecommand.TerminalSize{Width: 91, Height: 37}
			ended := make(chan error, 1)
			go func() {
				ended <- c.session(t.Context(), t, old, "inside", "exec",
					&corev1.PodExecOptions{Container: "main", Command: []string{"sh"}, Stdin: true, Stdout: true, TTY: true},
					remotecommand.StreamOptions{Stdin: k.in, Stdout: k, Tty: true, TerminalSizeQueue: resize})
			}()
			_, err := k.say.Write([]byte("until test \"$(stty size)\" = '37 91'; do sleep 0.02; done; tty; echo got $((6*7))\n"))
			require.NoError(t, err)
			k.await(t, "got 42\r\n")
			require.Contains(t, k.heard(), "/dev/pts/", "the terminal is one of the container's")
			resize <- remotecommand.TerminalSize{Width: 20, Height: 10}
			_, err = k.say.Write([]byte("until test \"$(stty size)\" = '10 20'; do sleep 0.02; done; exit 3\n"))
			require.NoError(t, err)
			var exit utilexec.CodeExitError
			require.ErrorAs(t, <-ended, &exit)
			require.Equal(t, 3, exit.Code)
			close(resize)
		})
	}
	t.Run("of what is not there", func(t *testing.T) {
		t.Parallel()
		err := c.session(t.Context(), t, false, "inside", "exec",
			&corev1.PodExecOptions{Container: "main", Command: []string{"no-such-program"}, Stdout: true}, remotecommand.StreamOptions{Stdout: io.Discard})
		require.ErrorContains(t, err, `exec: "no-such-program": executable file not found in $PATH`)
	})
	t.Run("ends with its client", func(t *testing.T) {
		t.Parallel()
		mark := "11111." + c.namespace[len("test-"):]
		ctx, vanish := context.WithCancel(t.Context())
		k := newTalk()
		ended := make(chan error, 1)
		go func() {
			ended <- c.session(ctx, t, false, "inside", "exec",
				&corev1.PodExecOptions{Container: "main", Command: []string{"sh", "-c", ": " + mark + "; echo in; sleep 1000 & sleep 1000"}, Stdout: true}, remotecommand.StreamOptions{Stdout: k})
		}()
		k.await(t, "in\n")
		require.NotEmpty(t, running(t, mark))
		vanish()
		require.Error(t, <-ended)
		eventually(t, "the command is ended", func(context.Context) bool { return len(running(t, mark)) == 0 })
	})
}

func TestAttach(t *testing.T) {
	t.Parallel()
	c := shared(t)
	talks := func(change func(*corev1.Container)) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { change(&s.Containers[0]) }
	}
	attach := func(t *testing.T, pod string, tty bool, k *talk, errOut io.Writer) <-chan error {
		t.Helper()
		over := make(chan error, 1)
		go func() {
			o := &corev1.PodAttachOptions{Container: "main", Stdin: true, Stdout: true, Stderr: !tty, TTY: tty}
			over <- c.session(t.Context(), t, false, pod, "attach", o, remotecommand.StreamOptions{Stdin: k.in, Stdout: k, Stderr: errOut, Tty: tty})
		}()
		return over
	}
	say := func(t *testing.T, k *talk, text string) {
		t.Helper()
		_, err := k.say.Write([]byte(text))
		require.NoError(t, err)
	}

	t.Run("and come back", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("echoes", "echo up; while read x; do echo heard $x; echo warned of $x >&2; done; echo no more", talks(func(c *corev1.Container) { c.Stdin = true })))
		c.awaitLog(t, "echoes", "up")
		k, warned := newTalk(), newTalk()
		over := attach(t, "echoes", false, k, warned)
		say(t, k, "one\n")
		k.await(t, "heard one\n")
		warned.await(t, "warned of one\n")
		require.NotContains(t, k.heard(), "warned")
		require.NotContains(t, k.heard(), "up", "what was said before is in the log")
		require.NoError(t, k.say.Close())
		k, warned = newTalk(), newTalk()
		again := attach(t, "echoes", false, k, warned)
		say(t, k, "two\n")
		k.await(t, "heard two\n")
		warned.await(t, "warned of two\n")
		require.Len(t, strings.Split(c.log(t, "echoes", "main"), "\n"), len([]string{"up", "heard one", "warned of one", "heard two", "warned of two", ""}))
		require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "echoes", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0))}))
		require.NoError(t, <-over)
		require.NoError(t, <-again)
	})
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("once", "echo up; cat; echo end of input", talks(func(c *corev1.Container) { c.Stdin, c.StdinOnce = true, true })))
		c.awaitLog(t, "once", "up")
		k := newTalk()
		over := attach(t, "once", false, k, io.Discard)
		say(t, k, "the input\n")
		require.NoError(t, k.say.Close())
		require.NoError(t, <-over)
		require.Equal(t, "the input\nend of input\n", k.heard())
		require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "once", "ends", ended).Status.Phase)
	})
	t.Run("to a terminal", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("shell", "echo up; exec sh -i", talks(func(c *corev1.Container) { c.Stdin, c.TTY = true, true })))
		c.awaitLog(t, "shell", "up")
		k := newTalk()
		over := attach(t, "shell", true, k, nil)
		say(t, k, "tty; echo got $((6*7))\n")
		k.await(t, "got 42\r\n")
		require.Contains(t, k.heard(), "/dev/pts/0\r\n")
		say(t, k, "exit 3\n")
		require.NoError(t, <-over)
		require.EqualValues(t, 3, c.awaitPod(t, "shell", "ends", ended).Status.ContainerStatuses[0].State.Terminated.ExitCode)
	})
	t.Run("without a stdin", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("mute", "echo up; sleep 1000"))
		c.awaitLog(t, "mute", "up")
		require.ErrorContains(t, <-attach(t, "mute", false, newTalk(), io.Discard), `container "main" has no stdin`)
	})
}

// kubectlOf makes commands of kubectl in the test's namespace.
func kubectlOf(t *testing.T, c *cluster) func(stdin string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed; build/packages.sh test installs it where there are Debian's packages")
	}
	return func(stdin string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"--kubeconfig", c.home.Kubeconfig(), "-n", c.namespace}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		return cmd
	}
}

func TestKubectl(t *testing.T) {
	t.Parallel()
	c := shared(t)
	kubectl := kubectlOf(t, c)
	run := func(stdin string, args ...string) string {
		t.Helper()
		out, err := kubectl(stdin, args...).CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
	require.Contains(t, run("of kubectl\n", "run", "talks", "--image=host", "--restart=Never", "-i", "--rm", "--pod-running-timeout=1m", "--command", "--", "sh", "-c", "sleep 1; read x; echo heard $x"), "heard of kubectl\n")
	c.createPod(t, podOf("p", "echo made in p > /tmp/f; echo up; sleep 1000"))
	c.awaitLog(t, "p", "up")
	require.Equal(t, "through", run("through", "exec", "-i", "p", "--", "cat"))
	out, err := kubectl("", "exec", "p", "--", "sh", "-c", "exit 7").CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.ExitCode(), string(out))
	require.Equal(t, "up\n", run("", "logs", "p"))
	file := filepath.Join(t.TempDir(), "from")
	run("", "cp", "p:/tmp/f", file)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "made in p\n", string(b))
}

// A first process that takes no notice of SIGTERM gets all of its grace period.
func TestGracePeriodOfTheDeaf(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("deaf", "echo up; exec sleep 1000"))
	c.awaitLog(t, "deaf", "up")
	const grace = 3
	began := time.Now()
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "deaf", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(grace))}))
	eventually(t, "it is gone", func(ctx context.Context) bool {
		_, err := c.kube.CoreV1().Pods(c.namespace).Get(ctx, "deaf", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	require.GreaterOrEqual(t, time.Since(began), grace*time.Second)
}
