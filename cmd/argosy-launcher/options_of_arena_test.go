package main

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/argosy-ml/argosy/launcher/job"
)

// arenaOption is an option of `arena submit KIND`, or an argument of kfp-arena's functions.
type arenaOption struct {
	option string
	// field of train's structs sets it here.
	field string
	// job is the first of everyKind in which it is looked for: mpijob unless set; git is the one whose code is from git.
	job string
	// at is where it arrives in the object that is built, want what is there.
	at, want string
	// launcher is what the launcher itself makes of it, where the object does not hold it.
	launcher func(*job.Spec) any
	// leftOut is why there is no field.
	leftOut string
}

const (
	worker   = "{.spec.mpiReplicaSpecs.Worker.template"
	ofWorker = worker + ".spec.containers[0]"
	launches = "{.spec.mpiReplicaSpecs.Launcher.template.spec.containers[0]"
)

// arenaOptions are those of Arena's submit for every kind of training that it knows and of kfp-arena's mpi_job_op and standalone_job_op.
// Sources: https://github.com/kubeflow/arena/tree/master/docs/cli and https://github.com/kubeflow/pipelines/tree/0.1.17/components/arena
var arenaOptions = []arenaOption{
	// of every kind
	{option: "--name", leftOut: "it is the name of the step"},
	{option: "--image", field: "Spec.Image", at: ofWorker + ".image}", want: "img:1"},
	{option: "--gpus", field: "Spec.GPUs", job: "pytorchjob", at: `{.spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits.nvidia\.com/gpu}`, want: "8"},
	{option: "--device", field: "Spec.Devices", at: ofWorker + `.resources.limits.vpc\.amazonaws\.com/efa}`, want: "4"},
	{option: "--workers", field: "Spec.Workers", at: "{.spec.mpiReplicaSpecs.Worker.replicas}", want: "3"},
	{option: "--retry", field: "Spec.Retries", at: "{.spec.runPolicy.backoffLimit}", want: "2"},
	{option: "--working-dir", field: "Spec.WorkingDir", at: ofWorker + ".workingDir}", want: "/workspace"},
	{option: "--env", field: "Spec.Env", at: ofWorker + `.env[?(@.name=="NCCL_DEBUG")].value}`, want: "INFO"},
	{option: "--env-secret (not Arena's)", field: "Spec.Env", at: ofWorker + `.env[?(@.name=="TOKEN")].valueFrom.secretKeyRef}`, want: `{"key":"token","name":"login"}`},
	{option: "--data", field: "Spec.Data", at: worker + ".spec.volumes[0].persistentVolumeClaim.claimName}", want: "user-susan"},
	{option: "--data-dir", field: "Spec.Data", at: worker + ".spec.volumes[1].hostPath.path}", want: "/mnt/nvme"},
	{option: "--restart-policy (not Arena's)", field: "Spec.RestartPolicy", job: "tfjob", at: "{.spec.tfReplicaSpecs.Worker.restartPolicy}", want: "OnFailure"},
	{option: "--restart-policy (not Arena's), its limit", field: "Spec.Retries", job: "tfjob", at: "{.spec.runPolicy.backoffLimit}", want: "3"},
	{option: "--annotation", field: "Spec.Annotations", at: worker + `.metadata.annotations.sidecar\.istio\.io/inject}`, want: "false"},
	{option: "--label", field: "Spec.Labels", at: worker + ".metadata.labels.team}", want: "vision"},
	{option: "--rdma", field: "Spec.RDMA", at: ofWorker + ".resources.limits.rdma/hca}", want: "1"},
	{option: "--gang", field: "Spec.Gang", at: worker + `.metadata.labels.pod-group\.scheduling\.sigs\.k8s\.io/min-available}`, want: "3"},
	{option: "--priority", field: "Spec.Priority", at: worker + ".spec.priorityClassName}", want: "high"},
	{option: "--queue", field: "Spec.Queue", at: "{.spec.runPolicy.schedulingPolicy.queue}", want: "research"},
	{option: "--toleration", field: "Spec.Tolerations", at: worker + ".spec.tolerations[0]}", want: `{"effect":"NoSchedule","key":"gpu","operator":"Equal","value":"yes"}`},
	{option: "--selector", field: "Spec.NodeSelector", at: worker + ".spec.nodeSelector.gpu}", want: "v100"},
	{option: "--config-file", leftOut: "files of the machine that submits are not there when a pipeline runs: use Data, Git or Rsync"},
	{option: "--image-pull-secret", field: "Spec.ImagePullSecrets", at: worker + ".spec.imagePullSecrets[0].name}", want: "registry"},
	{option: "--image-pull-policy", field: "Spec.ImagePullPolicy", at: ofWorker + ".imagePullPolicy}", want: "Always"},
	{option: "--shell", field: "Spec.Shell", at: launches + ".command[6]}", want: "bash"},
	{option: "--scheduler", field: "Spec.Scheduler", at: worker + ".spec.schedulerName}", want: "volcano"},
	{option: "--host-network", field: "Spec.Network", at: worker + ".spec.hostNetwork}", want: "true"},
	{option: "--host-ipc", field: "Spec.HostIPC", at: worker + ".spec.hostIPC}", want: "true"},
	{option: "--host-pid", field: "Spec.HostPID", at: worker + ".spec.hostPID}", want: "true"},
	{option: "--model-name", leftOut: "it registers a model in MLflow for Arena's serving, of which there is nothing here: a later step of the pipeline can"},
	{option: "--model-source", leftOut: "see --model-name"},
	{option: "--sync-mode=git --sync-source", field: "Git.Repo", job: "git", at: `{.spec.pytorchReplicaSpecs.Worker.template.spec.initContainers[0].env[?(@.name=="GIT_SYNC_REPO")].value}`, want: "https://files/code.git"},
	{option: "--env GIT_SYNC_BRANCH=", field: "Git.Branch", job: "git", at: `{.spec.pytorchReplicaSpecs.Worker.template.spec.initContainers[0].env[?(@.name=="GIT_SYNC_BRANCH")].value}`, want: "main"},
	{option: "--env GIT_SYNC_REV=", field: "Git.Revision", job: "git", at: `{.spec.pytorchReplicaSpecs.Worker.template.spec.initContainers[0].env[?(@.name=="GIT_SYNC_REV")].value}`, want: "v1"},
	{option: "--sync-mode=git --sync-image", field: "Git.Image", job: "git", at: "{.spec.pytorchReplicaSpecs.Worker.template.spec.initContainers[0].image}", want: "git-sync:4"},
	{option: "--sync-mode=rsync --sync-source", field: "Rsync.Source", at: worker + ".spec.initContainers[0].command[3]}", want: "rsync://files/code/"},
	{option: "--sync-mode=rsync --sync-image", field: "Rsync.Image", at: worker + ".spec.initContainers[0].image}", want: "rsync:3"},
	{option: "--sync-mode=hdfs", leftOut: "no image of ours has Hadoop's client: an init container of the step can"},
	{option: "--tensorboard", field: "TensorBoard.Enabled", launcher: func(s *job.Spec) any { return s.TensorBoard.Enabled }, want: "true"},
	{option: "--tensorboard-image", field: "TensorBoard.Image", launcher: func(s *job.Spec) any { return s.TensorBoard.Image }, want: "tb:1"},
	{option: "--logdir", field: "TensorBoard.LogDir", launcher: func(s *job.Spec) any { return s.TensorBoard.LogDir }, want: "/training/logs"},

	// of some kinds
	{option: "--cpu", field: "Spec.CPU", at: ofWorker + ".resources.limits.cpu}", want: "50"},
	{option: "--memory", field: "Spec.Memory", at: ofWorker + ".resources.limits.memory}", want: "200Gi"},
	{option: "--gputopology", field: "Spec.GPUTopology", at: worker + ".metadata.labels.gpu-topology-replica}", want: "3"},
	{option: "--gputopology (resource)", field: "Spec.GPUTopology", at: ofWorker + `.resources.limits.aliyun\.com/gpu}`, want: "8"},
	{option: "--mounts-on-launcher", field: "Spec.MountsOnLauncher", at: launches + ".volumeMounts[*].mountPath}", want: "/dev/shm /workspace/code"},
	{option: "--clean-task-policy", field: "Spec.CleanPodPolicy", at: "{.spec.runPolicy.cleanPodPolicy}", want: "All"},
	{option: "--running-timeout", field: "Spec.RunningTimeout", launcher: func(s *job.Spec) any { return s.RunningTimeout }, want: "12h0m0s"},
	{option: "--starting-timeout", field: "Spec.PendingTimeout", launcher: func(s *job.Spec) any { return s.PendingTimeout }, want: "10m0s"},
	{option: "--ttl-after-finished", field: "Spec.TTL", at: "{.spec.runPolicy.ttlSecondsAfterFinished}", want: "86400"},
	{option: "--share-memory", field: "Spec.SharedMemory", at: worker + `.spec.volumes[?(@.name=="shm")].emptyDir.sizeLimit}`, want: "2Gi"},
	{option: "pytorchjob --nproc-per-node", field: "Spec.Slots", job: "pytorchjob", at: "{.spec.nprocPerNode}", want: "2"},
	{option: "--ssh-port", field: "Spec.SSHPort", at: ofWorker + ".command[4]}", want: "2222"},
	{option: "etjob, deepspeedjob --ssh-secret", leftOut: "mpi-operator makes a key for each MPIJob; elastic training has no kind here"},
	{option: "tfjob --ps", field: "Role.Replicas", job: "tfjob", at: "{.spec.tfReplicaSpecs.PS.replicas}", want: "2"},
	{option: "tfjob --ps-image", field: "Role.Image", job: "tfjob", at: "{.spec.tfReplicaSpecs.PS.template.spec.containers[0].image}", want: "ps:1"},
	{option: "tfjob --ps-cpu", field: "Role.CPU", job: "tfjob", at: "{.spec.tfReplicaSpecs.PS.template.spec.containers[0].resources.limits.cpu}", want: "8"},
	{option: "tfjob --ps-memory", field: "Role.Memory", job: "tfjob", at: "{.spec.tfReplicaSpecs.PS.template.spec.containers[0].resources.limits.memory}", want: "32Gi"},
	{option: "tfjob --ps-gpus", field: "Role.GPUs", job: "tfjob", at: `{.spec.tfReplicaSpecs.PS.template.spec.containers[0].resources.limits.nvidia\.com/gpu}`, want: "1"},
	{option: "tfjob --ps-selector", field: "Role.NodeSelector", job: "tfjob", at: "{.spec.tfReplicaSpecs.PS.template.spec.nodeSelector.net}", want: "fast"},
	{option: "tfjob --chief", field: "Role.Replicas", job: "tfjob", at: "{.spec.tfReplicaSpecs.Chief.replicas}", want: "1"},
	{option: "tfjob --evaluator", field: "Role.Replicas", job: "tfjob", at: "{.spec.tfReplicaSpecs.Evaluator.replicas}", want: "1"},
	{option: "tfjob --role-sequence", field: "Topology.Order", job: "tfjob", at: `{.metadata.annotations.volcano\.sh/task-topology-task-order}`, want: "ps,worker,chief"},

	// kfp-arena's, beside those that are Arena's under another name
	{option: "mpi_job_op(command)", field: "Spec.Command", at: launches + ".command[4]}", want: "mpirun python train.py"},
	{option: "mpi_job_op(metrics)", field: "Spec.Metrics", launcher: func(s *job.Spec) any { return s.Metrics[0].Name }, want: "images/sec"},
	{option: "mpi_job_op(metrics), its format", field: "Metric.Format", launcher: func(s *job.Spec) any { return s.Metrics[0].Format }, want: "PERCENTAGE"},
	{option: "mpi_job_op(timeout_hours)", field: "Spec.RunningTimeout", launcher: func(s *job.Spec) any { return s.RunningTimeout }, want: "12h0m0s"},
	{option: "mpi_job_op(arenaImage)", field: "Spec.LauncherImage", leftOut: "it is that of the step, not of the job: see TestNoFieldIsLost"},
}

// Whatever a user of Arena or kfp-arena sets can be set here and arrives, or is left out for a reason.
func TestArenaOptionsHaveFields(t *testing.T) {
	t.Parallel()
	fields, specs, made := map[string]bool{}, map[string]*job.Spec{}, map[string]*unstructured.Unstructured{}
	for _, k := range everyKind() {
		name := k.command
		if specs[name] != nil {
			name = "git"
		}
		_, spec, err := k.launched(t)
		require.NoError(t, err)
		specs[name] = spec
		made[name], err = job.Build(spec, inPod())
		require.NoError(t, err)
		eachField(reflect.ValueOf(k.spec).Elem(), func(field string, _ reflect.Value) { fields[field] = true })
	}
	var pages []string
	for _, page := range []string{"../../docs/jobs.md", "../../docs/zh/jobs.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		pages = append(pages, string(text))
	}
	for _, o := range arenaOptions {
		for _, page := range pages {
			require.Contains(t, page, documented(o.option), "the pages tell of it")
		}
		if o.field == "" {
			require.NotEmpty(t, o.leftOut, "%s has neither a field nor a reason", o.option)
			continue
		}
		require.True(t, fields[o.field], "%s: there is no field %s", o.option, o.field)
		in := o.job
		if in == "" {
			in = "mpijob"
		}
		switch {
		case o.launcher != nil:
			require.Equal(t, o.want, fmt.Sprint(o.launcher(specs[in])), o.option)
		case o.at != "":
			require.Equal(t, o.want, lookUp(t, made[in], o.at), "%s of %s", o.option, o.at)
		default:
			require.NotEmpty(t, o.leftOut, "%s is looked for nowhere", o.option)
		}
	}
}

// documented is an option as the pages have it.
func documented(option string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(option, "--env "), " (")
	name, _, _ = strings.Cut(name, ", its format")
	return "`" + strings.TrimSuffix(name, "=") + "`"
}

// lookUp finds what a path of kubectl's -o jsonpath says.
func lookUp(t *testing.T, object *unstructured.Unstructured, path string) string {
	t.Helper()
	p := jsonpath.New(path)
	require.NoError(t, p.Parse(path), path)
	var out bytes.Buffer
	require.NoError(t, p.Execute(&out, object.Object), path)
	return strings.TrimSpace(out.String())
}
