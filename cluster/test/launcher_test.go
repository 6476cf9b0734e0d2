package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Jobs of every kind run, their pods find each other, and what they print arrives with the rank that printed it.
func TestLauncherRunsJobs(t *testing.T) {
	t.Parallel()
	meet := quoted(t, "meet.py")
	for kind, j := range map[string]struct {
		script string
		args   []string
		world  string
		tags   []string
		loss   string
	}{
		"tfjob": {
			meet,
			[]string{"--workers=2", "--role-replicas=chief=1", "--role-replicas=ps=1", "--role-command=ps=trap exit TERM; sleep 1000 & wait"},
			"3",
			[]string{"[chief-0,0]<stdout>:met: ", "[worker-0,1]<stdout>:welcome\n", "[worker-1,2]<stdout>:welcome\n"},
			"1.5",
		},
		"pytorchjob": {meet, []string{"--workers=3"}, "3", []string{"[master-0,0]<stdout>:met: ", "[worker-0,1]<stdout>:welcome\n", "[worker-1,2]<stdout>:welcome\n"}, "1.5"},
		"xgboostjob": {meet, []string{"--workers=2"}, "2", []string{"[master-0,0]<stdout>:met: ", "[worker-0,1]<stdout>:welcome\n"}, "1"},
		"paddlejob":  {meet, []string{"--workers=2"}, "2", []string{"[worker-0,0]<stdout>:met: ", "[worker-1,1]<stdout>:welcome\n"}, "1"},
		"jaxjob":     {meet, []string{"--workers=2"}, "2", []string{"[worker-0,0]<stdout>:met: ", "[worker-1,1]<stdout>:welcome\n"}, "1"},
		"volcanojob": {
			"hostname; until [ -e /etc/volcano/worker.host ]; do sleep 0.1; done; cat /etc/volcano/worker.host; echo",
			[]string{"--role-replicas=worker=2"},
			"2",
			[]string{"[worker-0,0]<stdout>:step-", "[worker-1,1]<stdout>:step-"},
			"1",
		},
		"job":    {"echo alone", nil, "1", []string{"\nalone\nloss=0.5\n"}, "0.5"},
		"mpijob": {"mpirun hostname", []string{"--workers=2"}, "2", []string{"[1,0]<stdout>:step-", "[1,1]<stdout>:step-"}, "0.5"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := shared(t).launcher(t, kind, j.script+"\necho loss=0.5", append(j.args, "--metric=loss:RAW:sum-over-ranks")...).start(t)
			said := l.ends(t, 0)
			for _, tag := range j.tags {
				require.Contains(t, said, tag)
			}
			require.Equal(t, j.world, l.output(t, "world-size"), said)
			require.JSONEq(t, `{"metrics":[{"name":"loss","numberValue":`+j.loss+`,"format":"RAW"}]}`, l.output(t, "metrics"), said)
			all := l.jobs(t.Context(), t)
			require.Len(t, all, 1)
			require.Equal(t, l.output(t, "job-name"), all[0].GetName())
			require.Regexp(t, `argosy: .*\bJob\b.* succeeded after|Job \S+ succeeded after`, said)
		})
	}
}

// Workers listen on the given port, and the launcher's pod has no volumes when the step asks for that.
func TestLauncherSetsPortAndVolumesOfMPIJobs(t *testing.T) {
	t.Parallel()
	c := shared(t)
	folder := folderForPods(t)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "data"), nil, 0o600))
	l := c.launcher(t, "mpijob", "ls /set || echo the launcher is bare\nmpirun sh -c 'ls /set; grep -l :08AE.*0A /proc/net/tcp'",
		"--workers=2", "--ssh-port=2222", "--data="+folder+":/set", "--mounts-on-launcher=false").start(t)
	said := l.ends(t, 0)
	require.Contains(t, said, "the launcher is bare\n")
	for _, rank := range []string{"[1,0]<stdout>:", "[1,1]<stdout>:"} {
		require.Contains(t, said, rank+"data\n")
		require.Contains(t, said, rank+"/proc/net/tcp\n", "port 2222 is 08AE, state 0A listens")
	}
}

// What is asked for arrives in the pods, and at the scheduler.
func TestLauncherSetsEverything(t *testing.T) {
	t.Parallel()
	c := shared(t)
	folder := folderForPods(t)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "hostname"), []byte("mine\n"), 0o644))
	_, err := c.kube.CoreV1().Secrets(c.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "larder"}, StringData: map[string]string{"fruit": "$(plum)"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	l := c.launcher(t, "tfjob", `echo "$FLAVOUR with $TOPPING in $PWD with $(cat /cfg/hostname 2>/dev/null | wc -l) file"; df /dev/shm | tail -1; until [ -e `+filepath.Join(c.home.Shared(), c.namespace)+` ]; do sleep 0.1; done`,
		"--workers=1", "--role-replicas=ps=1", "--role-command=ps=sleep 1000", "--env=FLAVOUR=sweet $(HOME) $$", "--env-secret=TOPPING=larder/fruit", "--annotation=sidecar.istio.io/inject=false", "--label=team=vision",
		"--data="+folder+":/cfg", "--shm=64Mi", "--cpu=100m", "--memory=512Mi", "--role-memory=ps=256Mi", "--selector=kubernetes.io/os=linux", "--toleration=spot=yes:NoSchedule",
		"--gang=true", "--queue=default", "--affinity=ps,worker", "--network=ENI", "--shell=bash", "--working-dir=/var", "--ttl-after-finished=1h", "--tensorboard=true", "--tensorboard-image=host", "--logdir=/cfg").start(t)
	l.said(t, "[worker-0,0]<stdout>:sweet $(HOME) $$ with $(plum) in /var with 1 file\n")
	l.said(t, "/dev/shm")
	name := l.output(t, "job-name")
	require.Contains(t, l.out.String(), "kubectl -n "+c.namespace+" port-forward service/"+name+"-tensorboard 6006")

	pods := c.podsOf(t, name)
	require.Len(t, pods, 2)
	for _, pod := range pods {
		require.Equal(t, "false", pod.Annotations["sidecar.istio.io/inject"])
		require.Equal(t, "true", pod.Annotations["k8s.aliyun.com/eni"], "the annotation that gives a pod its network interface")
		require.Equal(t, "vision", pod.Labels["team"])
		require.Equal(t, "linux", pod.Spec.NodeSelector["kubernetes.io/os"])
		require.Contains(t, pod.Spec.Tolerations, corev1.Toleration{Key: "spot", Operator: "Equal", Value: "yes", Effect: "NoSchedule"})
		want := map[bool]string{true: "256Mi", false: "512Mi"}[pod.Labels["training.kubeflow.org/replica-type"] == "ps"]
		require.Equal(t, want, pod.Spec.Containers[0].Resources.Limits.Memory().String())
	}
	gang := c.get(t, podGroups, name)
	minMember, _, err := unstructured.NestedInt64(gang, "spec", "minMember")
	require.NoError(t, err)
	require.EqualValues(t, 2, minMember)
	affinity, _, err := unstructured.NestedString(gang, "metadata", "annotations", "volcano.sh/task-topology-affinity")
	require.NoError(t, err)
	require.Equal(t, "ps,worker", affinity)
	job := c.get(t, l.resource(), name)
	ttl, _, err := unstructured.NestedInt64(job, "spec", "runPolicy", "ttlSecondsAfterFinished")
	require.NoError(t, err)
	require.EqualValues(t, 3600, ttl)

	board, err := c.kube.CoreV1().Pods(c.namespace).Get(t.Context(), name+"-tensorboard", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, name, board.OwnerReferences[0].Name, "it goes with the job")
	require.Equal(t, "/cfg", board.Spec.Containers[0].VolumeMounts[0].MountPath, "it sees the job's volumes")
	_, err = c.kube.CoreV1().Services(c.namespace).Get(t.Context(), name+"-tensorboard", metav1.GetOptions{})
	require.NoError(t, err)

	c.release(t, c.namespace)
	l.ends(t, 0)
}

// The code is there before the program starts, from git and by rsync.
func TestLauncherFetchesCode(t *testing.T) {
	t.Parallel()
	c := shared(t)
	source := filepath.Join(c.home.Shared(), c.namespace+".git")
	require.NoError(t, os.Mkdir(source, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(source, "hello.sh"), []byte("echo hello from $0"), 0o644))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "First"}} {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", source}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for mode, j := range map[string]struct{ source, script string }{
		"git":   {source, "sh code/" + c.namespace + "/hello.sh"},
		"rsync": {source + "/", "sh code/hello.sh"},
	} {
		l := c.launcher(t, "paddlejob", j.script, "--sync-mode="+mode, "--sync-source="+j.source, "--cpu=100m", "--memory=256Mi")
		l.args[1] = "--name=" + mode
		l.node = mode
		l.start(t)
		require.Contains(t, l.ends(t, 0), "hello from "+strings.Fields(j.script)[1], mode)
		for _, pod := range c.podsOf(t, l.output(t, "job-name")) {
			require.Equal(t, corev1.PodQOSGuaranteed, pod.Status.QOSClass, "only such pods get CPUs of their own")
		}
	}
}

// A launcher that is killed and started again goes on with its job, wherever it was; one that is stopped takes it along.
func TestLauncherComesBack(t *testing.T) {
	t.Parallel()
	c := shared(t)
	l := c.launcher(t, "pytorchjob", fmt.Sprintf("echo loss=0.25; until [ -e %s ]; do sleep 0.1; done; echo done", filepath.Join(c.home.Shared(), c.namespace)), "--workers=2", "--metric=loss").start(t)
	l.said(t, "[worker-0,1]<stdout>:loss=0.25\n")
	before := l.jobs(t.Context(), t)
	require.NoError(t, l.cmd.Process.Kill())
	<-l.ended

	l.start(t)
	l.said(t, "argosy: going on with PyTorchJob "+before[0].GetName())
	c.release(t, c.namespace)
	said := l.ends(t, 0)
	require.Contains(t, said, "[master-0,0]<stdout>:loss=0.25\n", "the log from its beginning")
	require.Contains(t, said, "[worker-0,1]<stdout>:done\n")
	after := l.jobs(t.Context(), t)
	require.Len(t, after, 1)
	require.Equal(t, before[0].GetUID(), after[0].GetUID(), "never submitted twice")

	l.start(t) // the job has ended meanwhile
	require.Contains(t, l.ends(t, 0), "PyTorchJob "+before[0].GetName()+" succeeded")
	require.Contains(t, l.output(t, "metrics"), `"numberValue":0.25`)
}

func TestLauncherStops(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"xgboostjob", "volcanojob", "job"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := shared(t).launcher(t, kind, "trap 'echo farewell; exit' TERM; echo here; sleep 1000 & wait").start(t)
			l.said(t, "here\n")
			require.NoError(t, l.cmd.Process.Signal(syscall.SIGTERM))
			l.ends(t, 143)
			eventually(t, "the job is gone; on a slow machine it outlives the launcher", func(ctx context.Context) bool { return len(l.jobs(ctx, t)) == 0 })
		})
	}
}

// A job that fails says which pod it failed of, with the code and the last words of that pod.
func TestLauncherTellsFailures(t *testing.T) {
	t.Parallel()
	const script = `case $(hostname) in *-worker-0*) echo the disk is on fire >&2; exit 7;; esac; trap exit TERM; sleep 1000 & wait`
	for kind, args := range map[string][]string{"tfjob": {"--workers=1", "--role-replicas=chief=1"}, "volcanojob": {"--workers=2"}, "pytorchjob": {"--workers=2"}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := shared(t).launcher(t, kind, script, args...).start(t)
			said := l.ends(t, 7)
			require.Regexp(t, `failed: rank \d on \S+-worker-0 \(.+\): exited with code 7\n`, said)
			require.Regexp(t, `failed: rank \d on \S+-worker-0 \(.+\): exited with code 7\nthe disk is on fire$`, l.output(t, "termination"))
		})
	}
}

// A retry creates the job again; the metrics are those of the last attempt.
func TestLauncherRetries(t *testing.T) {
	t.Parallel()
	for kind, again := range map[string]string{"jaxjob": "2 of 3", "job": "2 of 3", "mpijob": "argosy: attempt 2 in pod"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := shared(t).launcher(t, kind, "if [ -e /mark/seen ]; then echo loss=1; exit 0; fi; echo loss=9; touch /mark/seen; exit 3",
				"--data="+folderForPods(t)+":/mark", "--workers=1", "--retries=2", "--metric=loss:RAW:max").start(t)
			said := l.ends(t, 0)
			require.Contains(t, said, again)
			require.Contains(t, l.output(t, "metrics"), `"numberValue":1,`, said)
			require.Empty(t, l.output(t, "termination"), "what it says was overcome")
		})
	}
	t.Run("never succeeds", func(t *testing.T) {
		t.Parallel()
		l := shared(t).launcher(t, "paddlejob", "exit 3", "--workers=1", "--retries=1").start(t)
		said := l.ends(t, 3)
		require.Equal(t, 1, strings.Count(said, "starting it again"), said)
		require.Equal(t, 2, strings.Count(said, "created PaddleJob"), said)
	})
}

// A pod that may start again in its place does so, with all that it prints read, and at most as often as it may.
func TestLauncherRestartsPods(t *testing.T) {
	t.Parallel()
	for kind, args := range map[string][]string{"jaxjob": nil, "tfjob": {"--role-replicas=ps=1", "--role-command=ps=trap exit TERM; sleep 1000 & wait"}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := shared(t)
			wait, open := c.gate("is-read-" + c.namespace)
			l := c.launcher(t, kind, "if [ -e /mark/seen ]; then echo loss=1; exit 0; fi; echo loss=9; touch /mark/seen; "+wait+"; exit 3",
				append(args, "--data="+folderForPods(t)+":/mark", "--workers=1", "--restart-policy=OnFailure", "--retries=2", "--metric=loss:RAW:max")...).start(t)
			l.said(t, "loss=9")
			open(t)
			said := l.ends(t, 0)
			require.NotContains(t, said, "starting it again")
			require.Equal(t, 1, strings.Count(said, "loss=9\n"), said)
			require.Equal(t, 1, strings.Count(said, "loss=1\n"), said)
			require.Contains(t, l.output(t, "metrics"), `"numberValue":9,`, said)
		})
	}
	t.Run("never succeeds", func(t *testing.T) {
		t.Parallel()
		l := shared(t).launcher(t, "paddlejob", "echo no such file; exit 3", "--workers=1", "--restart-policy=OnFailure", "--retries=1").start(t)
		code := <-l.ended
		said := l.out.String()
		require.Contains(t, []int{1, 3}, code, "the operator deletes the pod, with its exit code: %s", said)
		require.Equal(t, 1, strings.Count(said, "created PaddleJob"), said)
		require.Contains(t, said, "no such file\n")
		require.Contains(t, l.output(t, "termination"), " failed: ")
	})
}

func TestLauncherLosesPatience(t *testing.T) {
	t.Parallel()
	for cause, args := range map[string][]string{
		// The operators may have to start first, and then find no room.
		"it did not start within the pending timeout of 1m30s, needs room for 2 pods at once; ": {"--pending-timeout=90s", "--selector=no=node"},
		"it did not end within the running timeout of 2s":                                       {"--running-timeout=2s"},
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			l := shared(t).launcher(t, "pytorchjob", "trap exit TERM; sleep 1000 & wait", append(args, "--workers=2")...).patiently(t).start(t)
			l.ends(t, 1)
			require.Contains(t, l.output(t, "termination"), cause)
			require.Empty(t, l.jobs(t.Context(), t), "it holds nothing any more")
		})
	}
}

// Why a gang has no place is said while it waits, though it has no pods yet.
func TestLauncherTellsWhyGangWaits(t *testing.T) {
	t.Parallel()
	l := shared(t).launcher(t, "pytorchjob", "true", "--workers=2", "--cpu=10000").patiently(t).start(t)
	l.said(t, "needs 1 master with 10000 CPUs and 1 worker with 10000 CPUs at once; the cluster has too little cpu free")
	require.NoError(t, l.cmd.Process.Signal(syscall.SIGTERM))
	l.ends(t, 143)
}

// What the cluster can never hold is not created at all.
func TestLauncherRefusesWhatNeverFits(t *testing.T) {
	t.Parallel()
	l := shared(t).launcher(t, "pytorchjob", "true", "--workers=2", "--cpu=10000").start(t)
	l.ends(t, 1)
	require.Regexp(t, `^asks 10000 CPUs for each master; this cluster has [0-9.]+: lower the CPU limit of the step, or add a larger node`, l.output(t, "termination"))
	require.Empty(t, l.jobs(t.Context(), t))
}

// A gang that exceeds the limit of its queue is not created either, also where nodes would come.
func TestLauncherRefusesWhatItsQueueNeverTakes(t *testing.T) {
	t.Parallel()
	c := shared(t)
	queue := "of-" + c.namespace
	_, err := c.any.Resource(queues).Create(t.Context(), manifest(t, `
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: `+queue+`}
spec: {weight: 1, capability: {cpu: 150m}}
`), metav1.CreateOptions{})
	require.NoError(t, err)
	l := c.launcher(t, "pytorchjob", "true", "--workers=2", "--cpu=100m", "--queue="+queue).patiently(t).start(t)
	l.ends(t, 1)
	require.Contains(t, l.output(t, "termination"), "asks 1 master x 0.1 CPUs + 1 worker x 0.1 CPUs = 0.2; queue "+queue+" may have 0.15: "+
		"lower the CPU limit of the step, choose another queue, or raise its limit with argosy queue set "+queue+" --capability cpu=0.2")
	require.Empty(t, l.jobs(t.Context(), t))
}

// All pods go, but not before what they printed was read.
func TestLauncherCleans(t *testing.T) {
	t.Parallel()
	c := shared(t)
	// The job is over with its master, and pods that run by then are deleted.
	wait, open := c.gate("worker-is-over-" + c.namespace)
	l := c.launcher(t, "xgboostjob", "seq 1 20000; case $(hostname) in *-master-0) "+wait+";; esac", "--workers=2", "--clean-pod-policy=All").start(t)
	eventually(t, "the worker is over", func(ctx context.Context) bool {
		jobs := l.jobs(ctx, t)
		return len(jobs) == 1 && slices.ContainsFunc(c.podsOf(t, jobs[0].GetName()), func(p corev1.Pod) bool {
			return strings.HasSuffix(p.Name, "-worker-0") && p.Status.Phase == corev1.PodSucceeded
		})
	})
	open(t)
	said := l.ends(t, 0)
	for _, last := range []string{"[master-0,0]<stdout>:20000\n", "[worker-0,1]<stdout>:20000\n"} {
		require.Contains(t, said, last)
	}
	eventually(t, "the pods are gone", func(context.Context) bool { return len(c.podsOf(t, l.output(t, "job-name"))) == 0 })
	require.Len(t, l.jobs(t.Context(), t), 1, "the job itself stays")
}

// A step of a kind that the cluster lacks fails with that reason.
func TestLauncherMissesKind(t *testing.T) {
	t.Parallel()
	for kind, says := range map[string]string{
		"mxjob": "this cluster has no MXJob of version kubeflow.org/v1", "trainjob": "this cluster has no TrainJob of version trainer.kubeflow.org/v1alpha1",
	} {
		l := shared(t).launcher(t, kind, "true").start(t)
		l.ends(t, 1)
		require.Contains(t, l.output(t, "termination"), says)
	}
}
