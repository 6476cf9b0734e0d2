package test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
)

// What runs goes on when what runs it dies.
func TestDurable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Run("ordinary user", func(t *testing.T) { t.Parallel(); durableTests(t, up(t, t.TempDir())) })
		return
	}
	t.Run("root", func(t *testing.T) { t.Parallel(); durableTests(t, up(t, t.TempDir())) })
	t.Run("ordinary user", func(t *testing.T) { t.Parallel(); durableTests(t, upAs(t, nobody)) })
}

func durableTests(t *testing.T, c *cluster) {
	t.Run("a pod goes on without its kubelet", c.testKubeletDies)
	t.Run("a container that was added to a pod goes on too", c.testAddedGoesOn)
	t.Run("a pod ends while there is no kubelet", c.testEndUnseen)
	t.Run("what is kept ready for pods to come", c.testWarmSandboxes)
	t.Run("what a pod leaves to the next", c.testKeptSandboxes)
	t.Run("a workflow goes on without the kubelet", c.testWorkflowGoesOn)
	t.Run("a command and a log end with the kubelet", c.testStreamsEnd)
	t.Run("a pod that is being deleted goes on ending", c.testEndingGoesOn)
	t.Run("a pod ends while there is no apiserver", c.testApiserverAway)
	t.Run("nobody loses rights with the apiserver", c.testRightsThroughRestarts)
	t.Run("many pods go on through a storm", c.testStorm)
	t.Run("a pod is lost with its holder", c.testHolderDies)
	t.Run("pods are lost with the node", c.testNodeDies)
}

// process finds the process of the cluster with these words among its arguments.
func (c *cluster) process(t *testing.T, program string, words ...string) int {
	t.Helper()
	found := c.findProcess(t, program, words...)
	require.NotZero(t, found, "%s %v", program, words)
	return found
}

// findProcess is process for one that may not be there: then it is 0.
func (c *cluster) findProcess(t *testing.T, program string, words ...string) int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var found []int
	for _, path := range paths {
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		require.NoError(t, err)
		if !hasExecuted(t, pid) {
			continue
		}
		b, err := os.ReadFile(path)
		args := strings.Split(string(b), "\x00")
		if err == nil && filepath.Base(args[0]) == program && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(args, w) }) {
			found = append(found, pid)
		}
	}
	require.LessOrEqual(t, len(found), 1, "there is only one %s %v", program, words)
	if len(found) == 0 {
		return 0
	}
	return found[0]
}

// hasExecuted returns false for a process that is gone and for one that its parent has just forked. Such a copy has the parent's command
// line until it becomes another program.
func hasExecuted(t *testing.T, pid int) bool {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ") // after its name: state, parent, group, session, terminal, its group, flags
	flags, err := strconv.ParseUint(strings.Fields(rest)[6], 10, 64)
	require.NoError(t, err)
	const forkNoExec = 0x40 // PF_FORKNOEXEC of the kernel's sched.h
	return flags&forkNoExec == 0
}

func (c *cluster) kubeletProcess(t *testing.T) int {
	t.Helper()
	return c.process(t, "argosy-cluster", "kubelet", string(c.home))
}

func (c *cluster) kill(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

// gate is a file of the machine that pods see and wait for.
func (c *cluster) gate(name string) (wait string, open func(*testing.T)) {
	file := filepath.Join(c.home.Shared(), name)
	return fmt.Sprintf("until test -e %s; do sleep 0.02; done", file), func(t *testing.T) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, nil, 0o644))
	}
}

func (c *cluster) testKubeletDies(t *testing.T) {
	wait, open := c.gate("goes-on")
	c.createPod(t, podOf("goes-on", `
echo life $(cat /v/lives | wc -l); echo x >> /v/lives
test $(cat /v/lives | wc -l) = 1 && exit 5
test $(cat /v/lives | wc -l) = 3 && exec sleep 1000
echo on stderr >&2; `+wait+`; echo after; exit 3`, func(s *corev1.PodSpec) {
		volume := []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}}}
		s.InitContainers = []corev1.Container{{Name: "init", Image: "host", Command: []string{"sh", "-c", "echo -n > /v/lives; echo made"}, VolumeMounts: volume}}
		s.Containers[0].VolumeMounts = volume
		s.RestartPolicy = corev1.RestartPolicyOnFailure
		s.TerminationGracePeriodSeconds = ptr(int64(1))
	}))
	c.awaitLog(t, "goes-on", "life 1")
	before := c.awaitPod(t, "goes-on", "runs again", func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].RestartCount == 1 && p.Status.ContainerStatuses[0].State.Running != nil
	})
	c.kill(t, c.kubeletProcess(t))
	eventually(t, "the next kubelet shows the log", func(ctx context.Context) bool {
		b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("goes-on", &corev1.PodLogOptions{}).DoRaw(ctx)
		return err == nil && string(b) == "life 1\non stderr\n"
	})
	eventually(t, "commands can be run in it", func(context.Context) bool { return c.tryExec(t, "goes-on", "test", "-e", "/v/lives") == nil })
	code, out, _ := c.exec(t, "goes-on", nil, "cat", "/v/lives")
	require.Zero(t, code)
	require.Equal(t, "x\nx\n", out)
	now, err := c.kube.CoreV1().Pods(c.namespace).Get(t.Context(), "goes-on", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, before.Status.PodIP, now.Status.PodIP)
	require.Equal(t, before.Status.ContainerStatuses, now.Status.ContainerStatuses)
	require.Equal(t, before.Status.InitContainerStatuses, now.Status.InitContainerStatuses)
	other := c.runPod(t, podOf("beside", "true"))
	require.NotEqual(t, now.Status.PodIP, other.Status.PodIP, "its address is still its own")
	previous := func(ctx context.Context) string {
		b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("goes-on", &corev1.PodLogOptions{Previous: true}).DoRaw(ctx)
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, "life 0\n", previous(t.Context()))
	open(t)
	p := c.awaitPod(t, "goes-on", "ends its second life", func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses[0]
		return s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff"
	})
	require.EqualValues(t, 1, p.Status.ContainerStatuses[0].RestartCount)
	require.EqualValues(t, 3, p.Status.ContainerStatuses[0].LastTerminationState.Terminated.ExitCode)
	require.Contains(t, p.Status.ContainerStatuses[0].State.Waiting.Message, "back-off 10s restarting failed container=main")
	eventually(t, "the log of the second life is the previous one", func(ctx context.Context) bool {
		return previous(ctx) == "life 1\non stderr\nafter\n"
	})
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "goes-on", metav1.DeleteOptions{}))
}

func (c *cluster) testEndUnseen(t *testing.T) {
	wait, open := c.gate("unseen")
	mark := "30000." + strconv.Itoa(c.cmd.Process.Pid)
	c.createPod(t, podOf("unseen", "echo up; sleep "+mark+" & "+wait+"; echo the reason > /dev/termination-log; exit 7", func(s *corev1.PodSpec) {
		s.Containers[0].TerminationMessagePath = "/dev/termination-log"
	}))
	c.awaitLog(t, "unseen", "up")
	keeper := c.process(t, "argosy-cluster", "holder", string(c.home))
	require.NoError(t, syscall.Kill(keeper, syscall.SIGSTOP)) // or it starts the next kubelet at once
	c.kill(t, c.kubeletProcess(t))
	open(t)
	eventually(t, "the pod's command has ended", func(context.Context) bool { return len(running(t, mark)) == 0 })
	require.NoError(t, syscall.Kill(keeper, syscall.SIGCONT))
	p := c.awaitPod(t, "unseen", "is reported", ended)
	end := p.Status.ContainerStatuses[0].State.Terminated
	require.EqualValues(t, 7, end.ExitCode)
	require.Equal(t, "the reason\n", end.Message)
	require.Equal(t, "up\n", c.log(t, "unseen", "main"))
}

// One step's parts are played by the kubelet, the other's by Argo's executor.
func (c *cluster) testWorkflowGoesOn(t *testing.T) {
	wait, open := c.gate("workflow")
	c.create(t, workflows, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: survives}
spec:
  entrypoint: main
  templates:
    - name: main
      steps:
        - [{name: fast, template: fast}, {name: full, template: full}]
        - [{name: use, template: use, arguments: {artifacts: [{name: f, from: "{{steps.full.outputs.artifacts.f}}"}], parameters: [{name: v, value: "{{steps.fast.outputs.parameters.v}}"}]}}]
    - name: fast
      container: {image: host, command: [sh, -c, "echo 42 > /tmp/v; echo fast is up; `+wait+`"]}
      outputs: {parameters: [{name: v, valueFrom: {path: /tmp/v}}]}
    - name: full
      container: {image: host, command: [sh, -c, "echo payload > /tmp/f; echo full is up; `+wait+`"]}
      outputs: {artifacts: [{name: f, path: /tmp/f}]}
    - name: use
      inputs: {artifacts: [{name: f, path: /data/in}], parameters: [{name: v}]}
      container: {image: host, command: [sh, -c, "test $(cat /data/in)-{{inputs.parameters.v}} = payload-42"]}
`)
	pods := map[string]string{}
	eventually(t, "both steps run", func(ctx context.Context) bool {
		list, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=survives"})
		require.NoError(t, err)
		for _, p := range list.Items {
			b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(p.Name, &corev1.PodLogOptions{Container: "main"}).DoRaw(ctx)
			if err == nil && strings.Contains(string(b), "is up") {
				pods[p.Name] = p.Annotations["workflows.argoproj.io/node-name"]
			}
		}
		return len(pods) == 2
	})
	c.kill(t, c.kubeletProcess(t))
	open(t)
	c.succeeds(t, "survives")
}

// tryExec runs a command in the container `main`, where that is possible.
func (c *cluster) tryExec(t *testing.T, pod string, command ...string) error {
	t.Helper()
	return c.stream(t, pod, &corev1.PodExecOptions{Container: "main", Command: command, Stdout: true}, remotecommand.StreamOptions{Stdout: io.Discard})
}

func (c *cluster) stream(t *testing.T, pod string, o *corev1.PodExecOptions, streams remotecommand.StreamOptions) error {
	t.Helper()
	req := c.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.namespace).Name(pod).SubResource("exec").VersionedParams(o, scheme.ParameterCodec)
	e, err := remotecommand.NewWebSocketExecutor(c.config, "GET", req.URL().String())
	require.NoError(t, err)
	return e.StreamWithContext(t.Context(), streams)
}

func (c *cluster) testStreamsEnd(t *testing.T) {
	wait, open := c.gate("streams")
	mark := "40000." + strconv.Itoa(c.cmd.Process.Pid)
	c.createPod(t, podOf("streams", "echo up; "+wait+"; echo end"))
	c.awaitLog(t, "streams", "up")
	stream, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("streams", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
	require.NoError(t, err)
	defer stream.Close()
	said, saying := io.Pipe()
	execEnded := make(chan struct{})
	go func() {
		defer close(execEnded)
		command := []string{"sh", "-c", "echo in; sleep " + mark + "; true"}
		_ = c.stream(t, "streams", &corev1.PodExecOptions{Container: "main", Command: command, Stdout: true}, remotecommand.StreamOptions{Stdout: saying}) // the apiserver has no error to pass on
		_ = saying.Close()
	}()
	_, err = io.ReadFull(said, make([]byte, len("in\n")))
	require.NoError(t, err)

	c.kill(t, c.kubeletProcess(t))
	<-execEnded
	b, err := io.ReadAll(stream)
	require.True(t, err != nil || string(b) == "up\n", "the log breaks off: %q", b)
	eventually(t, "nobody waits for the command, so it is ended", func(context.Context) bool { return len(running(t, mark)) == 0 })

	var again io.ReadCloser
	eventually(t, "the log can be followed again", func(ctx context.Context) bool {
		again, err = c.kube.CoreV1().Pods(c.namespace).GetLogs("streams", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
		return err == nil
	})
	defer again.Close()
	open(t)
	b, err = io.ReadAll(again)
	require.NoError(t, err)
	require.Equal(t, "up\nend\n", string(b))
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "streams", "ends", ended).Status.Phase)
}

func (c *cluster) testEndingGoesOn(t *testing.T) {
	wait, open := c.gate("ending")
	c.createPod(t, podOf("ending", "trap 'echo told; "+wait+"; echo ended well; exit 0' TERM; echo up; while :; do sleep 0.02; done"))
	c.awaitLog(t, "ending", "up")
	logs, err := c.kube.CoreV1().Pods(c.namespace).Get(t.Context(), "ending", metav1.GetOptions{})
	require.NoError(t, err)
	log := filepath.Join(string(c.home), "cluster/pods", string(logs.UID), "logs/main/0.0.log")
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "ending", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(600))}))
	c.awaitLog(t, "ending", "told")
	c.kill(t, c.kubeletProcess(t))
	eventually(t, "the next kubelet knows the pod", func(ctx context.Context) bool {
		_, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("ending", &corev1.PodLogOptions{}).DoRaw(ctx)
		return err == nil
	})
	kept, err := os.Open(log) // its folder goes with the pod
	require.NoError(t, err)
	defer kept.Close()
	open(t)
	eventually(t, "the pod is gone", func(ctx context.Context) bool {
		_, err := c.kube.CoreV1().Pods(c.namespace).Get(ctx, "ending", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	b, err := io.ReadAll(kept)
	require.NoError(t, err)
	require.Contains(t, string(b), "ended well\n", "it was not killed")
}

func (c *cluster) testApiserverAway(t *testing.T) {
	wait, open := c.gate("away")
	mark := "50000." + strconv.Itoa(c.cmd.Process.Pid)
	c.createPod(t, podOf("away", "echo up; sleep "+mark+" & "+wait+"; exit 4"))
	c.awaitLog(t, "away", "up")
	before := c.pids(t)["apiserver"]
	c.kill(t, before)
	open(t)
	eventually(t, "the pod's command has ended", func(context.Context) bool { return len(running(t, mark)) == 0 })
	eventually(t, "the apiserver is new", func(context.Context) bool { return c.pids(t)["apiserver"] != before })
	var p *corev1.Pod
	eventually(t, "the pod is reported", func(ctx context.Context) bool {
		var err error
		p, err = c.kube.CoreV1().Pods(c.namespace).Get(ctx, "away", metav1.GetOptions{})
		return err == nil && ended(p)
	})
	require.EqualValues(t, 4, p.Status.ContainerStatuses[0].State.Terminated.ExitCode)
}

// Who asks while the apiserver comes back is answered late, and not refused: steps take that for final.
func (c *cluster) testRightsThroughRestarts(t *testing.T) {
	_, err := c.kube.RbacV1().RoleBindings(c.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewers"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: c.namespace}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := c.kube.CoreV1().ServiceAccounts(c.namespace).CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	cfg := rest.AnonymousClientConfig(c.config)
	cfg.BearerToken, cfg.QPS = token.Status.Token, -1
	viewer, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	look := func(ctx context.Context) error {
		_, err := viewer.CoreV1().Pods(c.namespace).Get(ctx, "none", metav1.GetOptions{})
		return err
	}
	eventually(t, "the account has its right", func(ctx context.Context) bool { return apierrors.IsNotFound(look(ctx)) })
	for range 3 {
		before := c.pids(t)["apiserver"]
		c.kill(t, before)
		eventually(t, "the apiserver is new", func(ctx context.Context) bool {
			err := look(ctx)
			require.False(t, apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err), "%v", err)
			return apierrors.IsNotFound(err) && c.pids(t)["apiserver"] != before
		})
	}
}

// However often the kubelet dies, and whatever it was doing, each step is run once.
func (c *cluster) testStorm(t *testing.T) {
	const steps = 20
	c.create(t, workflows, fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: storm}
spec:
  entrypoint: main
  templates:
    - name: main
      steps:
        - - {name: s, template: one, arguments: {parameters: [{name: i, value: "{{item}}"}]}, withSequence: {count: "%d"}}
    - name: one
      inputs: {parameters: [{name: i}]}
      container: {image: host, command: [sh, -c, "echo begun; sleep 0.{{inputs.parameters.i}}; echo {{inputs.parameters.i}} > /tmp/v"]}
      outputs: {parameters: [{name: v, valueFrom: {path: /tmp/v}}]}
`, steps))
	list := func(ctx context.Context) []corev1.Pod {
		pods, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=storm"})
		require.NoError(t, err)
		return pods.Items
	}
	for kills := range 4 {
		eventually(t, "some more pods were begun", func(ctx context.Context) bool { return len(list(ctx)) > kills*3 })
		killed := c.kubeletProcess(t)
		c.kill(t, killed)
		eventually(t, "there is a kubelet again", func(context.Context) bool {
			found := c.findProcess(t, "argosy-cluster", "kubelet", string(c.home))
			return found != 0 && found != killed
		})
	}
	c.succeeds(t, "storm")
	pods := list(t.Context())
	require.Len(t, pods, steps)
	for _, p := range pods {
		require.Equal(t, "begun\n", c.log(t, p.Name, "main"))
	}
}

func (c *cluster) testHolderDies(t *testing.T) {
	mark := "60000." + strconv.Itoa(c.cmd.Process.Pid)
	c.createPod(t, podOf("unheld", "echo up; sleep "+mark, func(s *corev1.PodSpec) {
		s.RestartPolicy = corev1.RestartPolicyAlways
		s.Hostname = "unheld" + strconv.Itoa(c.cmd.Process.Pid)
	}))
	c.awaitLog(t, "unheld", "up")
	c.kill(t, c.process(t, "argosy-podinit", "pod", "unheld"+strconv.Itoa(c.cmd.Process.Pid)))
	p := c.awaitPod(t, "unheld", "is reported", ended)
	require.Equal(t, corev1.PodFailed, p.Status.Phase)
	require.Equal(t, "NodeLost", p.Status.Reason)
	require.Equal(t, "NodeLost", p.Status.ContainerStatuses[0].State.Terminated.Reason)
	require.Empty(t, running(t, mark), "the kernel ends its processes")
	require.Equal(t, "up\n", c.log(t, "unheld", "main"), "its log is still there")
}

func (c *cluster) testNodeDies(t *testing.T) {
	mark := "70000." + strconv.Itoa(c.cmd.Process.Pid)
	c.create(t, workflows, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: again}
spec:
  entrypoint: main
  templates:
    - name: main
      retryStrategy: {limit: 2, retryPolicy: Always}
      container: {image: host, command: [sh, -c, "echo up; test {{retries}} = 1 || sleep `+mark+`"]}
`)
	c.createPod(t, podOf("lost", "echo up; sleep "+mark))
	c.awaitLog(t, "lost", "up")
	began := c.awaitPod(t, "lost", "is reported to run", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }).Status.ContainerStatuses[0].State.Running.StartedAt
	eventually(t, "the workflow's pod runs too", func(context.Context) bool { return len(running(t, "sleep\x00"+mark)) == 2 })
	c.kill(t, c.pids(t)["node"])
	p := c.awaitPod(t, "lost", "is reported", ended)
	require.Equal(t, "NodeLost", p.Status.Reason)
	require.Equal(t, began, p.Status.ContainerStatuses[0].State.Terminated.StartedAt)
	require.Empty(t, running(t, "sleep\x00"+mark)) // the script of the next attempt has the number too
	require.Equal(t, "up\n", c.log(t, "lost", "main"), "its log is still there")
	c.succeeds(t, "again")
	require.Equal(t, corev1.PodSucceeded, c.runPod(t, podOf("after", "true")).Status.Phase, "the next node runs pods")
}
