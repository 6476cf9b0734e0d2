package test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPods(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Run("ordinary user", func(t *testing.T) { podTests(t, up(t, t.TempDir())) })
		return
	}
	t.Run("root", func(t *testing.T) { podTests(t, up(t, t.TempDir())) })
	t.Run("ordinary user", func(t *testing.T) { podTests(t, upAs(t, nobody)) })
}

func podTests(t *testing.T, c *cluster) {
	t.Run("are alone", c.testAlone)
	t.Run("find and log into each other", c.testPeers)
	t.Run("report how they end", c.testEnds)
	t.Run("restart", c.testRestarts)
	t.Run("run init containers and sidecars", c.testInit)
	t.Run("fetch code with git", c.testClone)
	t.Run("see volumes", c.testVolumes)
	t.Run("keep what a claim holds", c.testClaim)
	t.Run("keep to their limits of memory", c.testMemoryLimit)
	t.Run("keep to their limits of CPU", c.testCPULimit)
	t.Run("wait for what they need", c.testMissing)
	t.Run("show their logs", c.testLogs)
	t.Run("run commands", c.testExec)
	t.Run("end when deleted", c.testDelete)
	t.Run("refuse what cannot work", c.testRefused)
	t.Run("pass artifacts and parameters of a workflow", c.testWorkflow)
	t.Run("end when a workflow is terminated", c.testTerminated)
	t.Run("leave nothing behind", c.testNothingLeft)
}

func (c *cluster) testAlone(t *testing.T) {
	mark := fmt.Sprintf("argosy-leak-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(string(c.home))))
	p := c.runPod(t, podOf("alone", `
echo pid $$$$ host $(hostname) home $HOME user $(id -u)
ls -A /tmp/ | wc -l
for d in / /etc /usr /var /tmp /root /home /run; do echo x > $d/`+mark+` && echo wrote; done
echo home: $(ls -A `+string(c.home)+`)
cat /etc/hostname /etc/resolv.conf`))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	out := c.log(t, "alone", "main")
	require.Contains(t, out, "pid 1 host alone home /root user 0\n")
	require.Equal(t, 8, strings.Count(out, "wrote\n"), out)
	require.Contains(t, out, "home: shared\n", "of the data folder a pod sees only what is shared")
	require.Contains(t, out, "alone\nnameserver 10.88.0.1\nsearch kubeflow.svc.cluster.local")
	for _, d := range []string{"/", "/etc", "/usr", "/var", "/tmp", "/root", "/home", "/run"} {
		require.NoFileExists(t, filepath.Join(d, mark))
	}
	require.NotEmpty(t, p.Status.PodIP)
	require.Equal(t, "local", p.Spec.NodeName)
}

// testPeers is what mpi-operator relies on: names of the form pod.subdomain.namespace.svc, and sshd with keys from a Secret.
func (c *cluster) testPeers(t *testing.T) {
	keys := t.TempDir()
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(keys, "id")).CombinedOutput()
	require.NoError(t, err, string(out))
	private, err := os.ReadFile(filepath.Join(keys, "id"))
	require.NoError(t, err)
	public, err := os.ReadFile(filepath.Join(keys, "id.pub"))
	require.NoError(t, err)
	_, err = c.kube.CoreV1().Secrets(c.namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "ssh"}, Data: map[string][]byte{"id": private, "pub": public},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	peer := func(name string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Hostname, s.Subdomain = name, "job"
			s.Volumes = []corev1.Volume{{Name: "ssh", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: "ssh", DefaultMode: ptr(int32(0o600)), Items: []corev1.KeyToPath{{Key: "id", Path: "id_ed25519"}, {Key: "pub", Path: "authorized_keys"}},
			}}}}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "ssh", MountPath: "/root/.ssh"}}
		}
	}
	c.createService(t, "job", corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "job"}})
	server := podOf("peer-a", "", peer("peer-a"))
	server.Labels = map[string]string{"app": "job"}
	server.Spec.Containers[0].Command = []string{"/usr/sbin/sshd", "-De"}
	c.createPod(t, server)
	c.awaitPod(t, "peer-a", "is ready", func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
	})
	c.awaitEndpoints(t, "job", 1)
	p := c.runPod(t, podOf("peer-b", `
for n in peer-b peer-a.job peer-a.job.kubeflow peer-a.job.kubeflow.svc peer-a.job.kubeflow.svc.cluster.local minio-service.kubeflow kubernetes.default.svc; do
  for i in $(seq 600); do getent hosts $n && continue 2; sleep 0.1; done; echo cannot resolve $n; done
ssh -o ConnectionAttempts=100 peer-a.job.kubeflow.svc 'echo logged into $(hostname) as $(id -u)'; exit $?`, peer("peer-b")))
	log := c.log(t, "peer-b", "main")
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, log)
	require.Contains(t, log, "logged into peer-a as 0\n")
	require.NotContains(t, log, "cannot resolve")
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "peer-a", metav1.DeleteOptions{}))
}

func (c *cluster) testEnds(t *testing.T) {
	message := func(s *corev1.PodSpec) { s.Containers[0].TerminationMessagePath = "/dev/termination-log" }
	fallback := func(s *corev1.PodSpec) {
		s.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}
	for name, w := range map[string]struct {
		script  string
		change  func(*corev1.PodSpec)
		code    int32
		reason  string
		message string
	}{
		"success":   {"true", nil, 0, "Completed", ""},
		"failure":   {"exit 7", nil, 7, "Error", ""},
		"killed":    {"sh -c 'kill -9 $$$$'; exit $?", nil, 137, "Error", ""},
		"message":   {"echo the cause > /dev/termination-log; exit 3", message, 3, "Error", "the cause\n"},
		"last-log":  {"echo first; echo last; exit 3", fallback, 3, "Error", "first\nlast\n"},
		"no-start":  {"", func(s *corev1.PodSpec) { s.Containers[0].Command = []string{"no-such-program"} }, 128, "StartError", "no-such-program"},
		"directory": {"test $(pwd) = /made/for/this", func(s *corev1.PodSpec) { s.Containers[0].WorkingDir = "/made/for/this" }, 0, "Completed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := func(*corev1.PodSpec) {}
			if w.change != nil {
				change = w.change
			}
			p := c.runPod(t, podOf("end-"+name, w.script, change))
			end := p.Status.ContainerStatuses[0].State.Terminated
			require.NotNil(t, end)
			require.Equal(t, w.code, end.ExitCode)
			require.Equal(t, w.reason, end.Reason)
			require.Contains(t, end.Message, w.message)
			want := corev1.PodFailed
			if w.code == 0 {
				want = corev1.PodSucceeded
			}
			require.Equal(t, want, p.Status.Phase)
		})
	}
	t.Run("deadline", func(t *testing.T) {
		t.Parallel()
		p := c.runPod(t, podOf("end-deadline", "exec sleep 1000", func(s *corev1.PodSpec) {
			s.ActiveDeadlineSeconds, s.TerminationGracePeriodSeconds = ptr(int64(1)), ptr(int64(1))
		}))
		require.Equal(t, corev1.PodFailed, p.Status.Phase)
		require.Equal(t, "DeadlineExceeded", p.Status.Reason)
	})
}

func (c *cluster) testRestarts(t *testing.T) {
	p := c.runPod(t, podOf("restarts", "if test -e /v/been; then echo second; exit 0; fi; touch /v/been; echo first; exit 1", func(s *corev1.PodSpec) {
		s.RestartPolicy = corev1.RestartPolicyOnFailure
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	s := p.Status.ContainerStatuses[0]
	require.EqualValues(t, 1, s.RestartCount)
	require.EqualValues(t, 1, s.LastTerminationState.Terminated.ExitCode)
	require.Equal(t, "second\n", c.log(t, "restarts", "main"))
	b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("restarts", &corev1.PodLogOptions{Previous: true}).DoRaw(t.Context())
	require.NoError(t, err)
	require.Equal(t, "first\n", string(b))
}

func (c *cluster) testInit(t *testing.T) {
	shared := func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		ctr := func(name, script string) corev1.Container {
			return corev1.Container{Name: name, Image: "host", Command: []string{"sh", "-c", script}, VolumeMounts: s.Containers[0].VolumeMounts}
		}
		sidecar := ctr("sidecar", "trap 'exit 0' TERM; echo up > /v/sidecar; while :; do sleep 0.05; done")
		sidecar.RestartPolicy = ptr(corev1.ContainerRestartPolicyAlways)
		s.InitContainers = []corev1.Container{ctr("one", "echo 1 > /v/f"), sidecar, ctr("two", "echo 2 >> /v/f")}
	}
	p := c.runPod(t, podOf("inits", "until test -e /v/sidecar; do sleep 0.01; done; cat /v/f", shared))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	require.Equal(t, "1\n2\n", c.log(t, "inits", "main"))
	for _, s := range p.Status.InitContainerStatuses {
		require.NotNil(t, s.State.Terminated, s.Name)
	}
	p = c.runPod(t, podOf("init-fails", "echo never", shared, func(s *corev1.PodSpec) { s.InitContainers[2].Command = []string{"sh", "-c", "exit 4"} }))
	require.Equal(t, corev1.PodFailed, p.Status.Phase)
	require.EqualValues(t, 4, p.Status.InitContainerStatuses[2].State.Terminated.ExitCode)
	require.NotNil(t, p.Status.ContainerStatuses[0].State.Waiting, "it was never started")
}

func (c *cluster) testVolumes(t *testing.T) {
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "files"}, Data: map[string]string{"a": "text of a\n", "b": "text of b\n"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	p := c.runPod(t, podOf("volumes", `
cat /cm/a /one/only-b /sub; stat -Lc %a /one/only-b
touch /cm/x 2>&1 | grep -o Read-only
cat /down/name; echo
df /mem | grep -c tmpfs; echo x > /mem/x && echo x > /dev/shm/x && echo writable
test -s /var/run/secrets/kubernetes.io/serviceaccount/token && cat /var/run/secrets/kubernetes.io/serviceaccount/namespace; echo
grep -c BEGIN /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
stat -c %a /empty; echo $ENV_B; ls -d /etc/mpi/hostfile`, func(s *corev1.PodSpec) {
		name := corev1.LocalObjectReference{Name: "files"}
		s.Volumes = []corev1.Volume{
			{Name: "cm", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: name}}},
			{Name: "one", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: name, Items: []corev1.KeyToPath{{Key: "b", Path: "only-b", Mode: ptr(int32(0o400))}},
			}}},
			{Name: "down", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
			}}}},
			{Name: "mem", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr(resource.MustParse("1Mi"))}}},
			{Name: "empty", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{
			{Name: "cm", MountPath: "/cm"},
			{Name: "one", MountPath: "/one"},
			{Name: "cm", MountPath: "/sub", SubPath: "a"},
			{Name: "down", MountPath: "/down"},
			{Name: "mem", MountPath: "/mem"},
			{Name: "empty", MountPath: "/empty"},
			{Name: "cm", MountPath: "/etc/mpi/hostfile", SubPath: "b"},
		}
		s.Containers[0].Env = []corev1.EnvVar{{Name: "ENV_B", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: name, Key: "b"}}}}
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	require.Equal(t, "text of a\ntext of b\ntext of a\n400\nRead-only\nvolumes\n1\nwritable\nkubeflow\n1\n777\ntext of b\n/etc/mpi/hostfile\n", c.log(t, "volumes", "main"))
}

func (c *cluster) testClaim(t *testing.T) {
	_, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	mounted := func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "d", MountPath: "/training"}}
	}
	require.Equal(t, corev1.PodSucceeded, c.runPod(t, podOf("writes", "echo kept > /training/f", mounted)).Status.Phase)
	require.Equal(t, corev1.PodSucceeded, c.runPod(t, podOf("reads", "cat /training/f", mounted)).Status.Phase)
	require.Equal(t, "kept\n", c.log(t, "reads", "main"))
	claim, err := c.kube.CoreV1().PersistentVolumeClaims(c.namespace).Get(t.Context(), "data", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, corev1.ClaimBound, claim.Status.Phase)
}

func (c *cluster) testMissing(t *testing.T) {
	c.createPod(t, podOf("waits", "echo $FROM_CM", func(s *corev1.PodSpec) {
		s.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}}}}
	}))
	p := c.awaitPod(t, "waits", "says what it waits for", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Waiting != nil &&
			p.Status.ContainerStatuses[0].State.Waiting.Reason == "CreateContainerConfigError"
	})
	require.Equal(t, `configmap "late" not found`, p.Status.ContainerStatuses[0].State.Waiting.Message)
	eventually(t, "an event tells", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=waits"})
		require.NoError(t, err)
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return strings.Contains(e.Message, `configmap "late" not found`) })
	})
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "late"}, Data: map[string]string{"FROM_CM": "here at last"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	c.awaitPod(t, "waits", "ends", ended)
	require.Equal(t, "here at last\n", c.log(t, "waits", "main"))
}

func (c *cluster) testLogs(t *testing.T) {
	c.createPod(t, podOf("talks", "for i in 1 2 3 4 5; do echo line $i; done; read x < /v/go; echo end", func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{{Name: "init", Image: "host", Command: []string{"mkfifo", "-m", "666", "/v/go"}, VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}}}
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		s.Containers[0].VolumeMounts = s.InitContainers[0].VolumeMounts
	}))
	c.awaitLog(t, "talks", "line 5")
	stream, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("talks", &corev1.PodLogOptions{Follow: true, TailLines: ptr(int64(2))}).Stream(t.Context())
	require.NoError(t, err)
	defer stream.Close()
	first := make([]byte, len("line 4\nline 5\n"))
	_, err = io.ReadFull(stream, first)
	require.NoError(t, err)
	require.Equal(t, "line 4\nline 5\n", string(first))
	c.exec(t, "talks", nil, "sh", "-c", "echo > /v/go") // the end of the container may be its end too
	rest, err := io.ReadAll(stream)                     // it ends by itself
	require.NoError(t, err)
	require.Equal(t, "end\n", string(rest))
	c.awaitPod(t, "talks", "ends", ended)

	b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("talks", &corev1.PodLogOptions{Timestamps: true, TailLines: ptr(int64(1))}).DoRaw(t.Context())
	require.NoError(t, err)
	stamp, text, ok := strings.Cut(string(b), " ")
	require.True(t, ok)
	at, err := time.Parse(time.RFC3339Nano, stamp)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, 10*time.Minute)
	require.Equal(t, "end\n", text)
	b, err = c.kube.CoreV1().Pods(c.namespace).GetLogs("talks", &corev1.PodLogOptions{LimitBytes: ptr(int64(6))}).DoRaw(t.Context())
	require.NoError(t, err)
	require.Equal(t, "line 1", string(b))
	err = c.kube.CoreV1().Pods(c.namespace).GetLogs("talks", &corev1.PodLogOptions{Previous: true}).Do(t.Context()).Error()
	require.ErrorContains(t, err, "was not restarted")
}

func (c *cluster) testExec(t *testing.T) {
	c.createPod(t, podOf("inside", "echo up; sleep 1000", func(s *corev1.PodSpec) {
		s.Containers[0].Env = []corev1.EnvVar{{Name: "MINE", Value: "of the container"}}
		s.Containers[0].WorkingDir = "/made-here"
	}))
	c.awaitLog(t, "inside", "up")
	code, out, errOut := c.exec(t, "inside", nil, "sh", "-c", "pwd; hostname; echo $MINE; ps -p 1 -o args=; echo wrong >&2; exit 9")
	require.Equal(t, 9, code)
	require.Equal(t, "/made-here\ninside\nof the container\nsh -c echo up; sleep 1000\n", out)
	require.Equal(t, "wrong\n", errOut)
	code, out, _ = c.exec(t, "inside", strings.NewReader("through and back"), "cat")
	require.Zero(t, code)
	require.Equal(t, "through and back", out)
	_, out, _ = c.exec(t, "inside", strings.NewReader(""), "grep", "-h", "flags", "/proc/self/fdinfo/0", "/proc/self/fdinfo/1", "/proc/self/fdinfo/2")
	require.Equal(t, "flags:\t00\nflags:\t01\nflags:\t01\n", out, "commands wait for slow readers: their descriptors are blocking ones")
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "inside", metav1.DeleteOptions{}))
}

func (c *cluster) testDelete(t *testing.T) {
	mark := "10000." + strconv.Itoa(os.Getpid())
	c.createPod(t, podOf("polite", "trap 'echo told > /v/told; exit 0' TERM; echo up; while :; do sleep 0.02; done", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	}))
	c.createPod(t, podOf("stubborn", "trap '' TERM; echo up; sleep "+mark+" & wait; sleep "+mark))
	for name, grace := range map[string]int64{"polite": 1000, "stubborn": 1} {
		c.awaitLog(t, name, "up")
		require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &grace}))
		eventually(t, name+" is gone", func(ctx context.Context) bool {
			_, err := c.kube.CoreV1().Pods(c.namespace).Get(ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
	p := c.runPod(t, podOf("was-told", "cat /v/told", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	}))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Empty(t, running(t, mark), "nothing of a deleted pod runs")
}

func (c *cluster) testRefused(t *testing.T) {
	p := c.runPod(t, podOf("no-command", "", func(s *corev1.PodSpec) { s.Containers[0].Command = nil }))
	require.Equal(t, corev1.PodFailed, p.Status.Phase)
	require.Contains(t, p.Status.ContainerStatuses[0].State.Terminated.Message, "set `command`")
	p = c.runPod(t, podOf("nfs", "true", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "n", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}}}}
	}))
	require.Equal(t, corev1.PodFailed, p.Status.Phase)
	require.Contains(t, p.Status.Message, "volume n: the embedded cluster supports only emptyDir")
}
