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
)

func itoa(n int) string { return strconv.Itoa(n) }

// Empty values come from parameters that were cleared: they count as not set.
func TestOptionsEmpty(t *testing.T) {
	t.Parallel()
	o := job.Options{
		Name: "train", Image: "i", Workers: " ", Slots: "", GPUs: "", CPU: "", Memory: "0", Env: []string{""}, Data: []string{"", " "},
		Annotations: []string{""}, Metrics: []string{""}, PendingTimeout: "", CleanPodPolicy: "", Retries: "", SyncMode: "git", SyncSource: "",
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
	require.Equal(t, job.CleanRunning, s.CleanPodPolicy)
	require.Zero(t, s.PendingTimeout)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o := job.Options{
		Name: "train", Image: "i", Workers: "4", Slots: "0", GPUs: "8", Env: []string{"A=b=c", "A=d", "GIT_SYNC_BRANCH=dev"}, Data: []string{"claim:/data/", "/mnt/:/d"},
		Metrics: []string{"images/sec", "acc:PERCENTAGE:max"}, PendingTimeout: "90s", RunningTimeout: "12h", SyncSource: "https://h/r.git", GitRevision: "abc",
	}
	s, err := o.Spec(kind(t, "mpijob"), "mpirun x")
	require.NoError(t, err)
	require.Equal(t, 8, s.Slots, "as many ranks as GPUs")
	require.Equal(t, 32, s.World())
	require.Equal(t, []corev1.EnvVar{{Name: "A", Value: "d"}, {Name: "GIT_SYNC_BRANCH", Value: "dev"}}, s.Env)
	require.Equal(t, []job.Mount{{Claim: "claim", Path: "/data"}, {Host: "/mnt", Path: "/d"}}, s.Data)
	require.Equal(t, &job.Code{Mode: "git", Source: "https://h/r.git", Branch: "dev", Revision: "abc"}, s.Code)
	require.Equal(t, []scrape.Rule{{Name: "images/sec", Format: scrape.Raw, Reduce: scrape.Last}, {Name: "acc", Format: scrape.Percentage, Reduce: scrape.Max}}, s.Metrics)
	require.Equal(t, []time.Duration{90 * time.Second, 12 * time.Hour}, []time.Duration{s.PendingTimeout, s.RunningTimeout})

	o.GitBranch = "main"
	s, err = o.Spec(kind(t, "mpijob"), "c")
	require.NoError(t, err)
	require.Equal(t, "main", s.Code.Branch, "the flag goes before the environment")
}

// The parser reports all mistakes at once, each with its flag.
func TestOptionsFaults(t *testing.T) {
	t.Parallel()
	o := job.Options{
		Workers: "two", Slots: "-1", GPUs: "1.5", CPU: "many", Memory: "-1Gi", WorkingDir: "code", Env: []string{"A", "B C=1"}, EnvSecrets: []string{"T=login", "T"}, Data: []string{"claim", "Claim:/x", "a:/d", "b:/d/"},
		Annotations: []string{"no value"}, Labels: []string{"a=not a label!"}, Metrics: []string{"x:median"}, PendingTimeout: "5", RunningTimeout: "-1s",
		CleanPodPolicy: "running", Retries: "-2", SyncMode: "scp", Network: "VPN", Gang: "maybe", Queue: "a b", PullPolicy: "Sometimes", RestartPolicy: "OnFailure", TTL: "1", Devices: []string{"gpu=x"},
		Tolerations: []string{"a=b:Never", "=x", "a,Like"}, Affinity: "ps,worker", TensorBoard: "true", LogDir: "logs", Role: job.RoleOptions{Replicas: []string{"ps=1", "ps"}, CPU: []string{"worker=lots"}},
	}
	_, err := o.Spec(kind(t, "mpijob"), " ")
	require.Error(t, err)
	for _, want := range []string{
		"--name: must be set", "--image: must be set", "COMMAND: must be set", `--workers: "two" is not a whole number`, "--slots: must be at least 1, not -1", `--gpus: "1.5"`,
		`--cpu: "many" is not a quantity`, "--memory: must not be negative", "--working-dir", `--env: "A" has no value`, `--env: "B C" is not the name`, `--env-secret: "T=login" is not an entry of a secret`, `--env-secret: "T" has no value: write NAME=SECRET/KEY`,
		`--data: "claim": write CLAIM:/PATH`, `--data: "Claim" is not the name`, "--data: two volumes are to be mounted on /d", `--annotation: "no value" has no value`, "--label", "--metric",
		`--pending-timeout: "5" is not a duration`, "--running-timeout: must not be negative", "--clean-pod-policy", "--restart-policy: the pods of an MPIJob do not start again by themselves", "--retries", "--sync-mode: \"scp\" is neither git nor rsync",
		`--network: "VPN" is not one of`, `--gang: "maybe" is neither true nor false`, `--queue: "a b"`, `--image-pull-policy: "Sometimes"`, `--ttl-after-finished: "1" is not`, `--device: "x" is not a whole`,
		`--toleration: "a=b:Never": the effect "Never"`, `--toleration: "=x": "" is not a key`, `--toleration: "a,Like": the operator`, `--affinity: "ps,worker": the job has no role ps: it has worker`,
		"--affinity: no scheduler learns of it for an MPIJob",
		`--logdir: "logs" is not an absolute path`, `--role-replicas: "ps" has no value: write ROLE=VALUE`, "--role-replicas: an MPIJob has no role ps", `--role-cpu=worker: "lots" is not a quantity`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, 40, strings.Count(err.Error(), "\n")+1, "%v", err)
}

// What an MPIJob alone has is refused elsewhere, and empty is not set.
func TestOptionsOfAnMPIJob(t *testing.T) {
	t.Parallel()
	o := job.Options{Name: "x", Image: "i", GPUTopology: "True", MountsOnLauncher: "false", SSHPort: "70000"}
	_, err := o.Spec(kind(t, "mpijob"), "c")
	require.EqualError(t, err, "--ssh-port: must be a port, 1 to 65535, not 70000")
	o.SSHPort = "2222"
	_, err = o.Spec(kind(t, "pytorchjob"), "c")
	require.EqualError(t, err, "--gputopology: only an MPIJob has it, not a PyTorchJob: leave it empty\n"+
		"--mounts-on-launcher: only an MPIJob has it, not a PyTorchJob: leave it empty\n--ssh-port: only an MPIJob has it, not a PyTorchJob: leave it empty")
	o.GPUTopology, o.MountsOnLauncher, o.SSHPort = "", " ", ""
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
		want                          job.Network
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
		o := job.Options{Name: "train", Image: "i", Workers: "2", Network: tc.network, GPUTopology: tc.topology}
		if tc.annotation != "" {
			o.Annotations = []string{eni + "=" + tc.annotation}
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
			Name: name, Image: image, Workers: workers, GPUs: gpus, CPU: cpu, Memory: memory, Env: []string{env}, Data: []string{data}, Annotations: []string{pair},
			Labels: []string{pair}, SyncSource: repo, Metrics: []string{metric}, PendingTimeout: timeout, WorkingDir: dir,
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
