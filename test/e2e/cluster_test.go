//go:build e2e

package e2e

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// command runs argosy to its end.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(binary("argosy"), args...)
	cmd.Dir = repository
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		failed := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &failed)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// clusterState is what `argosy cluster status -o json` says.
type clusterState struct {
	State      string
	Components []struct {
		Name, State string
		PID         int
		Memory      int64
	}
	Nodes []struct {
		Name, GPUs string
		Ready      bool
	}
}

func clusterStatus(t *testing.T, home string, want int) (s clusterState) {
	t.Helper()
	code, out, errs := command(t, "cluster", "status", "--home", home, "-o", "json")
	require.Equal(t, want, code, "%s%s", out, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	return s
}

// TestClusterAlone uses the cluster without a server: start, kubectl, stop, start again with what was in it.
func TestClusterAlone(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	require.Equal(t, "stopped", clusterStatus(t, home, 3).State)
	t.Cleanup(func() {
		code, out, errs := command(t, "cluster", "stop", "--force", "--home", home)
		require.Zero(t, code, "%s%s", out, errs)
		require.Empty(t, processes(home), "processes left behind")
	})

	code, out, errs := command(t, "cluster", "start", "--home", home)
	require.Zero(t, code, errs)
	require.Equal(t, "export KUBECONFIG="+home+"/kubeconfig\n", out, "what a shell evaluates, and nothing else")
	require.Contains(t, errs, "cluster ready ")
	running := clusterStatus(t, home, 0)
	require.Equal(t, "ready", running.State)
	require.Len(t, running.Nodes, 1)
	require.NotEmpty(t, running.Components)

	code, out, _ = command(t, "cluster", "kubeconfig", "--home", home)
	require.Zero(t, code)
	file, err := os.ReadFile(filepath.Join(home, "kubeconfig"))
	require.NoError(t, err)
	require.Equal(t, string(file), out)
	keep(t, home)
	kubectl(t, home)

	code, _, errs = command(t, "cluster", "start", "--home", home)
	require.Zero(t, code, "a second start is no error: %s", errs)
	require.Contains(t, errs, "runs already")
	require.Equal(t, running.Components[0].PID, clusterStatus(t, home, 0).Components[0].PID)

	// A server uses it, refuses to lose it, and leaves it behind.
	a := up(t, home)
	code, _, errs = command(t, "cluster", "stop", "--home", home)
	require.Equal(t, 3, code)
	require.Contains(t, errs, "argosy up (process ")
	require.NoError(t, a.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, <-a.done, "%s", a.out)
	a.cmd = nil
	require.Contains(t, a.out.String(), "the cluster goes on")
	require.Equal(t, "ready", clusterStatus(t, home, 0).State)

	code, out, errs = command(t, "cluster", "stop", "--home", home)
	require.Zero(t, code, errs)
	require.Equal(t, "stopped the cluster on "+home+"\n", out)
	require.Empty(t, processes(home))
	code, out, _ = command(t, "cluster", "stop", "--home", home)
	require.Zero(t, code)
	require.Equal(t, "no cluster runs on "+home+"\n", out)

	code, _, errs = command(t, "cluster", "start", "--home", home)
	require.Zero(t, code, errs)
	kept, err := kubernetesGet(filepath.Join(home, "kubeconfig"), "/api/v1/namespaces/kubeflow/configmaps/kept")
	require.NoError(t, err, "what was in the cluster is there after a restart")
	require.Contains(t, string(kept), `"a":"b"`)
}

func clientOf(t *testing.T, home string) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, "kubeconfig"))
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// keep puts something into the cluster.
func keep(t *testing.T, home string) {
	t.Helper()
	_, err := clientOf(t, home).CoreV1().ConfigMaps("kubeflow").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"a": "b"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// kubectl looks at the cluster as its users do, on machines that have kubectl.
func kubectl(t *testing.T, home string) {
	t.Helper()
	program, err := exec.LookPath("kubectl")
	if err != nil {
		t.Log("no kubectl here: client-go alone looks at the cluster")
		return
	}
	say := func(args, want string) {
		t.Helper()
		cmd := exec.Command(program, append([]string{"--kubeconfig", filepath.Join(home, "kubeconfig"), "-n", "kubeflow"}, strings.Fields(args)...)...)
		cmd.Env = append(os.Environ(), "HOME="+home) // kubectl keeps its cache there
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "kubectl %s: %s", args, out)
		require.Contains(t, string(out), want, "kubectl %s", args)
	}
	say("get nodes", "local")
	say("get configmap kept -o yaml", "a: b")
	say("auth can-i create workflows", "yes")
	say("run hello --image=host --restart=Never --command -- echo hello from a pod", "pod/hello created")
	require.Equal(t, corev1.PodSucceeded, awaitEnd(t, clientOf(t, home), "hello").Status.Phase) // Debian's kubectl cannot wait for that
	say("logs hello", "hello from a pod\n")
	say("delete pod hello", "deleted")
}

// TestTwoNodes rehearses placement: two nodes on one machine, each with a pod of its own.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	a := up(t, home, func(c *exec.Cmd) { c.Args = append(c.Args, "--nodes", "2", "--gpus", "1") })
	running := clusterStatus(t, home, 0)
	require.Len(t, running.Nodes, 2)
	client := clientOf(t, home)
	for _, n := range running.Nodes {
		require.True(t, n.Ready, n.Name)
		require.Equal(t, "1", n.GPUs, n.Name)
		_, err := client.CoreV1().Pods("kubeflow").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "on-" + n.Name},
			Spec: corev1.PodSpec{
				NodeSelector: map[string]string{"kubernetes.io/hostname": n.Name}, RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "main", Image: "host", Command: []string{"sh", "-c", "echo GPU $CUDA_VISIBLE_DEVICES"}, Resources: corev1.ResourceRequirements{
					Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")},
				}}},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for _, n := range running.Nodes {
		pod := awaitEnd(t, client, "on-"+n.Name)
		require.Equal(t, corev1.PodSucceeded, pod.Status.Phase, "%+v", pod.Status)
		require.Equal(t, n.Name, pod.Spec.NodeName)
	}
	code, _, errs := command(t, "cluster", "start", "--home", home, "--nodes", "3")
	require.Equal(t, 3, code)
	require.Contains(t, errs, "already, with --nodes=2; stop it first")
	a.stop(t)
}

// awaitEnd follows a pod to its end.
func awaitEnd(t *testing.T, client kubernetes.Interface, name string) *corev1.Pod {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	pods := client.CoreV1().Pods("kubeflow")
	watching, err := pods.Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: name}))
	require.NoError(t, err)
	defer watching.Stop()
	for e := range watching.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if ok && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed) {
			return pod
		}
	}
	t.Fatalf("pod %s does not end", name)
	return nil
}

// TestDoctor finds nothing that blocks on a machine where the other tests run, and makes nothing.
func TestDoctor(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	code, out, errs := command(t, "doctor", "--home", home, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "-o", "json")
	require.Zero(t, code, "%s%s", out, errs)
	var findings []struct{ Check, Level, Says string }
	require.NoError(t, json.Unmarshal([]byte(out), &findings))
	levels := map[string]string{}
	for _, f := range findings {
		levels[f.Check] = f.Level
	}
	for _, check := range []string{"namespaces", "overlay", "programs", "http"} {
		require.Equal(t, "ok", levels[check], "%s: %s", check, out)
	}
	require.NoFileExists(t, home)
}

// TestInterruptedStart ends a start with Ctrl-C: nothing of it stays.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	cmd := exec.Command(binary("argosy"), "cluster", "start", "--home", home)
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), " ready ") {
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(said)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), "%s", rest)
	require.Empty(t, processes(home))
	require.Equal(t, "stopped", clusterStatus(t, home, 3).State)
}

// TestImages loads an image from an archive, runs it, and removes it, as one does without a registry.
func TestImages(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	t.Cleanup(func() {
		code, out, errs := command(t, "cluster", "stop", "--home", home)
		require.Zero(t, code, "%s%s", out, errs)
	})
	image := func(args ...string) string {
		t.Helper()
		code, out, errs := command(t, append([]string{"cluster", "image", "--home", home}, args...)...)
		require.Zero(t, code, errs)
		return out
	}
	require.Equal(t, "no images; load or pull one\n", image("list"))
	require.Contains(t, image("load", archive(t, "example/hello:1")), "loaded docker.io/example/hello:1 sha256:")
	require.Contains(t, image("list"), "docker.io/example/hello:1")

	code, _, errs := command(t, "cluster", "start", "--home", home, "--images", "pull")
	require.Zero(t, code, errs)
	client := clientOf(t, home)
	_, err := client.CoreV1().Pods("kubeflow").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "hello"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "example/hello:1"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.PodSucceeded, awaitEnd(t, client, "hello").Status.Phase)
	log, err := client.CoreV1().Pods("kubeflow").GetLogs("hello", &corev1.PodLogOptions{}).DoRaw(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(log), "argosy-launcher ", "its entrypoint, with its arguments")

	require.Equal(t, "removed docker.io/example/hello:1\n", image("remove", "example/hello:1"))
	code, _, errs = command(t, "cluster", "image", "remove", "--home", home, "example/hello:1")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "no image example/hello:1 is stored here")
}

// archive writes what `docker save` would: an image of one static program, argosy-launcher, that tells its version.
func archive(t *testing.T, name string) string {
	t.Helper()
	program, err := os.ReadFile(binary("argosy-launcher"))
	require.NoError(t, err)
	layer := tarOf(t, map[string][]byte{"bin/tell": program})
	config, err := json.Marshal(map[string]any{
		"os": "linux", "architecture": runtime.GOARCH,
		"config": map[string]any{"Entrypoint": []string{"/bin/tell"}, "Cmd": []string{"--version"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	require.NoError(t, err)
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"}}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(file, tarOf(t, map[string][]byte{"config.json": config, "layer.tar": layer, "manifest.json": manifest}), 0o600))
	return file
}

func tarOf(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, data := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o755}))
		_, err := w.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}
