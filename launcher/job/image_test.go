package job

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// An image is checked where its job would hold devices meanwhile, and where the user asks for it.
func TestImagesAreCheckedForJobsWithDevices(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		options Options
		want    bool
	}{
		{Options{}, false},
		{Options{"gpus": {"1"}}, true},
		{Options{"gpus": {"1"}, "check-image": {"false"}}, false},
		{Options{"device": {"amd.com/gpu=0"}}, false},
		{Options{"device": {"amd.com/gpu=1"}}, true},
		{Options{"rdma": {"true"}}, true},
		{Options{"check-image": {"true"}}, true},
	} {
		o := tc.options
		o["name"], o["image"] = []string{"x"}, []string{"i"}
		s, err := o.Spec(&mpiJob, "c")
		require.NoError(t, err)
		require.Equal(t, tc.want, s.checksImages(), "%v", o)
	}
}

// The check's pod has nothing that its job waits for.
func TestImagePodHoldsNothing(t *testing.T) {
	t.Parallel()
	o := Options{"name": {"x"}, "image": {"i"}, "gpus": {"8"}, "cpu": {"50"}, "data": {"claim:/data"}, "selector": {"gpu=v100"}, "toleration": {"all"}, "image-pull-secret": {"login"}}
	s, err := o.Spec(&mpiJob, "mpirun -np 8 python train.py")
	require.NoError(t, err)
	pod := imagePod(s, Identity{}, &s.Roles[0], "x-check-0")
	require.Empty(t, pod.Spec.Containers[0].Resources)
	require.Empty(t, pod.Spec.Volumes)
	require.Equal(t, []corev1.EnvVar{noGPUs}, pod.Spec.Containers[0].Env)
	require.Equal(t, map[string]string{"gpu": "v100"}, pod.Spec.NodeSelector, "the image is pulled where it will be needed")
	require.Equal(t, []string{"mpijob", "mpirun", "python"}, pod.Spec.Containers[0].Command[4:])
}

// A program counts only where the command does not say how it is found.
func TestProgramsOfACommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"mpirun -np 4 python3 train.py --python": "mpirun python3", "torchrun train.py": "torchrun", " \n python train.py\n": "python", "./run.sh mpirun": "",
		"source activate tf; python train.py": "", "PATH=/opt/bin:$PATH python x": "", "/opt/bin/python x": "", "cd code && python x": "", "nice mpirun x": "",
	} {
		require.Equal(t, want, strings.Join(programs(command), " "), command)
	}
}

// The script says what an image lacks.
func TestImageScript(t *testing.T) {
	t.Parallel()
	run := func(passwd string, with []string, args ...string) []string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "passwd"), []byte(passwd), 0o600))
		for _, program := range with {
			writeProgram(t, filepath.Join(dir, program), map[string]string{"id": "echo 0", "mpirun": "echo 'mpirun (Open MPI) 4.1.4'"}[program])
		}
		head, err := exec.LookPath("head")
		require.NoError(t, err)
		require.NoError(t, os.Symlink(head, filepath.Join(dir, "head")))
		script := strings.NewReplacer("/usr/sbin/sshd", dir+"/sshd", "/etc/passwd", dir+"/passwd", "/usr/lib", dir+"/none", "/usr/local/lib", dir+"/none").Replace(imageScript)
		cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
		cmd.Env = []string{"PATH=" + dir}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		missing, notes := imageSays(strings.ReplaceAll(string(out), dir, "DIR"))
		return append(missing, notes...)
	}
	const root = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
	require.Equal(t, []string{"has mpirun (Open MPI) 4.1.4"}, run(root, []string{"sshd", "ssh", "ssh-keygen", "id", "mpirun", "python"}, "mpijob", "mpirun", "python"))
	require.Equal(t, []string{
		"sshd, which the workers of an MPIJob run as DIR/sshd: install openssh-server", "ssh, by which mpirun starts ranks on the workers: install openssh-client",
		"ssh-keygen, which makes a worker's key: install openssh-client", "/root as root's home, but /home: the operator mounts the key at /root/.ssh",
		"shell for root, but /sbin/nologin in DIR/passwd: sshd refuses its sessions", "python, which the command runs: install it, or give its path",
	}, run("root:x:0:0::/home:/sbin/nologin\n", []string{"id"}, "mpijob", "python"))
	require.Empty(t, run("", []string{"python"}, "pytorchjob", "python"))

	_, notes := imageSays("argosy-own /usr/lib64/libcuda.so.1\nHYDRA build details:\n    Version:        4.0.2\n")
	require.Equal(t, []string{"has a driver library of its own, /usr/lib64/libcuda.so.1: remove it if a program finds no GPU, for it may hide the node's", "has MPICH's mpirun, Version: 4.0.2"}, notes)
}

// A job whose image cannot be run is created all the same, and a job that exists already is not checked again.
func TestImagesThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	s, err := Options{"name": {"x"}, "image": {"i"}, "check-image": {"true"}}.Spec(&singleJob, "c")
	require.NoError(t, err)
	said := &bytes.Buffer{}
	kube := fake.NewClientset()
	var state corev1.PodStatus
	kube.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}, Status: state}, nil
	})
	jobs := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	l := &Launcher{Jobs: jobs.Resource(singleJob.GVR()).Namespace("ns"), Pods: kube.CoreV1().Pods("ns"), Spec: s, ID: Identity{Namespace: "ns"}, out: &console{w: said}}
	check := func(status corev1.ContainerState) string {
		said.Reset()
		state.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: status}}
		require.NoError(t, l.checkImages(context.Background(), "x"))
		pods, err := kube.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Empty(t, pods.Items, "it is removed")
		return said.String()
	}
	require.Contains(t, check(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}}), "the image i was not checked: ErrImagePull: no such image\n")
	require.Contains(t, check(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 127}}), "the image i was not checked: its shell exited with code 127")
	require.Contains(t, check(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}), "the image i has fake logs\n", "what the script printed")
}
