package job_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"

	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Empty values come from parameters that were cleared: they count as not set.
func TestOptionsEmpty(t *testing.T) {
	t.Parallel()
	o := job.Options{
		"name": {"train"}, "image": {"i"}, "workers": {" "}, "slots": {""}, "gpus": {""}, "cpu": {""}, "memory": {"0"}, "env": {""}, "data": {"", " "},
		"annotation": {""}, "metric": {""}, "pending-timeout": {""}, "clean-pod-policy": {""}, "retries": {""}, "sync-mode": {"git"}, "sync-source": {""},
	}
	s, err := o.Spec(kind(t, "mpijob"), "mpirun x")
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 0, 0}, []int{s.Roles[0].Replicas, s.Slots, s.Roles[0].GPUs, s.Retries})
	require.True(t, s.Roles[0].CPU.IsZero() && s.Roles[0].Memory.IsZero() && s.Shm.IsZero())
	require.Empty(t, s.Env)
	require.Empty(t, s.Data)
	require.Empty(t, s.Metrics)
	require.Nil(t, s.Code)
	require.Equal(t, "/root", s.WorkingDir)
	require.Equal(t, "Running", s.CleanPodPolicy)
	require.Zero(t, s.PendingTimeout)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o := job.Options{
		"name": {"train"}, "image": {"i"}, "workers": {"4"}, "slots": {"0"}, "gpus": {"8"}, "env": {"A=b=c", "A=d", "GIT_SYNC_BRANCH=dev"}, "data": {"claim:/data/", "/mnt/:/d"},
		"metric": {"images/sec", "acc:PERCENTAGE:max"}, "pending-timeout": {"90s"}, "running-timeout": {"12h"}, "sync-source": {"https://h/r.git"}, "git-revision": {"abc"},
	}
	s, err := o.Spec(kind(t, "mpijob"), "mpirun x")
	require.NoError(t, err)
	require.Equal(t, 8, s.Slots, "as many ranks as GPUs")
	require.Equal(t, 32, s.World())
	require.Equal(t, []corev1.EnvVar{{Name: "A", Value: "d"}, {Name: "GIT_SYNC_BRANCH", Value: "dev"}}, s.Env)
	require.Equal(t, []option.Volume{{Claim: "claim", Path: "/data"}, {Host: "/mnt", Path: "/d"}}, s.Data)
	require.Equal(t, &job.Code{Mode: "git", Source: "https://h/r.git", Branch: "dev", Revision: "abc"}, s.Code)
	require.Equal(t, []scrape.Rule{{Name: "images/sec", Format: scrape.Raw, Reduce: scrape.Last}, {Name: "acc", Format: scrape.Percentage, Reduce: scrape.Max}}, s.Metrics)
	require.Equal(t, []time.Duration{90 * time.Second, 12 * time.Hour}, []time.Duration{s.PendingTimeout, s.RunningTimeout})

	o["git-branch"] = []string{"main"}
	s, err = o.Spec(kind(t, "mpijob"), "c")
	require.NoError(t, err)
	require.Equal(t, "main", s.Code.Branch, "the flag goes before the environment")
}

// The parser reports all mistakes at once, each with its flag.
func TestOptionsFaults(t *testing.T) {
	t.Parallel()
	o := job.Options{
		"workers": {"two"}, "slots": {"-1"}, "gpus": {"1.5"}, "cpu": {"many"}, "memory": {"-1Gi"}, "working-dir": {"code"}, "env": {"A", "B C=1"}, "env-secret": {"T=login", "T"}, "data": {"claim", "Claim:/x", "a:/d", "b:/d/"},
		"annotation": {"no value"}, "label": {"a=not a label!"}, "metric": {"x:median"}, "pending-timeout": {"5"}, "running-timeout": {"-1s"},
		"clean-pod-policy": {"running"}, "retries": {"-2"}, "sync-mode": {"scp"}, "network": {"VPN"}, "gang": {"maybe"}, "queue": {"a b"}, "image-pull-policy": {"Sometimes"}, "restart-policy": {"OnFailure"}, "ttl-after-finished": {"1"}, "device": {"gpu=x"},
		"toleration": {"a=b:Never", "=x", "a,Like"}, "affinity": {"ps,worker"}, "tensorboard": {"true"}, "logdir": {"logs"}, "role-replicas": {"ps=1", "ps"}, "role-cpu": {"worker=lots"},
	}
	_, err := o.Spec(kind(t, "mpijob"), " ")
	require.Error(t, err)
	for _, want := range []string{
		"--name: must be set", "--image: must be set", "COMMAND: must be set", `--workers: "two" is not a whole number`, "--slots: must be at least 1, not -1", `--gpus: "1.5"`,
		`--cpu: "many" is not a quantity`, "--memory: must not be negative", "--working-dir", `--env: "A" has no value`, `--env: "B C" is not the name`, `--env-secret: T: "login" is not an entry of a secret`, `--env-secret: "T" has no value: write KEY=VALUE`,
		`--data: "claim": write CLAIM:/PATH`, `--data: "Claim" is not the name`, "--data: two volumes are to be mounted on /d", `--annotation: "no value" has no value`, "--label", "--metric",
		`--pending-timeout: "5" is not a duration`, "--running-timeout: must not be negative", "--clean-pod-policy", "--restart-policy: an MPIJob does not have it: the step cannot say whether its pods start again", "--retries", "--sync-mode: \"scp\" is neither git nor rsync",
		`--network: "VPN" is not one of`, `--gang: "maybe" is neither true nor false`, `--queue: "a b"`, `--image-pull-policy: "Sometimes"`, `--ttl-after-finished: "1" is not`, `--device: gpu: "x" is not a whole`,
		`--toleration: "a=b:Never": the effect "Never"`, `--toleration: "=x": "" is not the key of a taint`, `--toleration: "a,Like": the operator`,
		"--affinity: an MPIJob does not have it: no scheduler learns of it",
		`--logdir: "logs" is not an absolute path`, `--role-replicas: "ps" has no value: write ROLE=VALUE`, "--role-replicas: an MPIJob has no role ps", `--role-cpu=worker: "lots" is not a quantity`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, 39, strings.Count(err.Error(), "\n")+1, "%v", err)
}

// Pods that restart in their place need retries, which limit the restarts.
func TestOptionsOfRestarts(t *testing.T) {
	t.Parallel()
	for _, retries := range []string{"", " 0", "1"} {
		o := job.Options{"name": {"x"}, "image": {"i"}, "restart-policy": {"OnFailure"}, "retries": {retries}}
		s, err := o.Spec(kind(t, "pytorchjob"), "c")
		if retries == "1" {
			require.NoError(t, err)
			require.Equal(t, "OnFailure", s.RestartPolicy)
			continue
		}
		require.EqualError(t, err, "--restart-policy: OnFailure restarts a failed pod as often as the retries allow, and there are none: allow at least 1 retry, or leave the restart policy at Never")
	}
}

// What an MPIJob alone has is refused elsewhere, and empty is not set.
func TestOptionsOfAnMPIJob(t *testing.T) {
	t.Parallel()
	o := job.Options{"name": {"x"}, "image": {"i"}, "gputopology": {"True"}, "mounts-on-launcher": {"false"}, "ssh-port": {"70000"}}
	_, err := o.Spec(kind(t, "mpijob"), "c")
	require.EqualError(t, err, "--ssh-port: must be a port, 1 to 65535, not 70000")
	o["ssh-port"] = []string{"2222"}
	_, err = o.Spec(kind(t, "pytorchjob"), "c")
	require.EqualError(t, err, "--gputopology: a PyTorchJob does not have it: only an MPIJob does\n"+
		"--mounts-on-launcher: a PyTorchJob does not have it: only an MPIJob does\n--ssh-port: a PyTorchJob does not have it: only an MPIJob does")
	o["gputopology"], o["mounts-on-launcher"], o["ssh-port"] = []string{""}, []string{" "}, nil
	s, err := o.Spec(kind(t, "pytorchjob"), "c")
	require.NoError(t, err)
	require.Equal(t, job.NetworkCNI, s.Network)
}

// A pod has one network. The annotation for an elastic network interface goes before the host network, as with Arena.
func TestOneNetwork(t *testing.T) {
	t.Parallel()
	const eni = "k8s.aliyun.com/eni"
	for _, tc := range []struct {
		network, topology, annotation string
		want                          string
		annotated                     string
	}{
		{"", "", "", job.NetworkCNI, ""},
		{"Host", "", "", job.NetworkHost, ""},
		{"", "true", "", job.NetworkHost, ""},
		{"CNI", "true", "", job.NetworkCNI, ""},
		{"ENI", "true", "", job.NetworkENI, "true"},
		{"", "", "true", job.NetworkENI, "true"},
		{"Host", "", "true", job.NetworkENI, "true"},
		{"", "true", "true", job.NetworkENI, "true"},
		{"Host", "true", "true", job.NetworkENI, "true"},
		{"Host", "", "false", job.NetworkHost, "false"},
		{"", "true", "false", job.NetworkHost, "false"},
	} {
		o := job.Options{"name": {"train"}, "image": {"i"}, "workers": {"2"}, "network": {tc.network}, "gputopology": {tc.topology}}
		if tc.annotation != "" {
			o["annotation"] = []string{eni + "=" + tc.annotation}
		}
		s, err := o.Spec(kind(t, "mpijob"), "c")
		require.NoError(t, err)
		require.Equal(t, tc.want, s.Network, "%+v", tc)
		made := mpi(t, s, step())
		for role, r := range made.Spec.MPIReplicaSpecs {
			require.Equal(t, tc.want == job.NetworkHost, r.Template.Spec.HostNetwork, "%s of %+v", role, tc)
			require.Equal(t, tc.annotated, r.Template.Annotations[eni], "%s of %+v", role, tc)
		}
	}
}

// FuzzOptions checks that what is accepted makes a job that the operator accepts.
func FuzzOptions(f *testing.F) {
	f.Add("all-reduce", "img", "2", "1", "2", "10Gi", "A=b", "pvc:/data", "k=v", "https://h/r.git", "images/sec", "30s", "/root", "mpirun x")
	f.Add("", "", "0", "-1", "0", "", "=", ":", "=", "x", ":", "-1s", "..", "")
	f.Fuzz(func(t *testing.T, name, image, workers, gpus, cpu, memory, env, data, pair, repo, metric, timeout, dir, command string) {
		o := job.Options{
			"name": {name}, "image": {image}, "workers": {workers}, "gpus": {gpus}, "cpu": {cpu}, "memory": {memory}, "env": {env}, "data": {data}, "annotation": {pair},
			"label": {pair}, "sync-source": {repo}, "metric": {metric}, "pending-timeout": {timeout}, "working-dir": {dir},
		}
		spec, err := o.Spec(kind(t, "mpijob"), command)
		if err != nil {
			return
		}
		made := mpi(t, spec, step())
		kubeflow.SetDefaults_MPIJob(made)
		require.Empty(t, validation.ValidateMPIJob(made))
	})
}
