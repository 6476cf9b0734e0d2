package option

import "time"

var (
	onlyMPI     = []string{"mpijob"}
	onlyTrain   = []string{"trainjob"}
	ranked      = []string{"mpijob", "pytorchjob", "trainjob"} // several processes in a pod
	severalPods = []string{"mpijob", "tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob", "mxjob", "trainjob", "volcanojob"}
	ownPods     = []string{"mpijob", "tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob", "mxjob", "volcanojob", "job"} // whose templates the launcher writes
	operated    = []string{"mpijob", "tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob", "mxjob"}                      // by Kubeflow's operators
	restarted   = []string{"tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob", "mxjob"}                                // by the training operator
	placed      = []string{"tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob", "mxjob", "volcanojob"}
)

// Why jobs of a kind lack an option.
const (
	whyMPI     = "only an MPIJob does"
	whyRuntime = "set it in its runtime"
	whyCode    = "no pod of its can fetch code first; put the code in the image or on a volume, or fetch it in the command"
)

// Table has all options, in the order in which package train writes them.
var Table = []Option{
	{Flag: "name", Form: Text, Required: true, Help: "`name` of the step"},
	{Field: "Image", Flag: "image", Submit: "image", Form: Text, Always: true, Required: true, Help: "container `image` of the job's pods"},
	{Field: "Workers", Flag: "workers", Submit: "workers", Form: Whole(1), Always: true, Unset: "1", Kinds: severalPods, Why: "it has one pod", Help: "`number` of workers"},
	{Field: "Slots", Flag: "slots", Submit: "slots", Form: Whole(1), Always: true, Kinds: ranked, Why: "each of its pods is one process, as far as its operator knows", Help: "`number` of processes of each worker (of an MPIJob as many as its GPUs, else 1)"},
	{Field: "Runtime", Flag: "runtime", Submit: "runtime", Form: Runtime, Unset: "torch-distributed", Kinds: onlyTrain, Why: "only a TrainJob does", Help: "`name` of the ClusterTrainingRuntime, or TrainingRuntime/name for one of the namespace"},
	{Field: "GPUs", Flag: "gpus", Submit: "gpus", Form: Whole(0), Always: true, Unset: "0", Help: "`number` of GPUs of each worker"},
	{Field: "GPUTopology", Flag: "gputopology", Submit: "gputopology", Form: Truth, Kinds: onlyMPI, Why: whyMPI, Help: "true: GPUs with fast links between them, aliyun.com/gpu, on Alibaba Cloud"},
	{Field: "CPU", Flag: "cpu", Submit: "cpu", Form: Quantity, Always: true, Help: "`CPUs` of each worker, such as 500m or 2"},
	{Field: "Memory", Flag: "memory", Submit: "memory", Form: Quantity, Always: true, Help: "`memory` of each worker, such as 10Gi"},
	{Field: "SharedMemory", Flag: "shm", Submit: "share-memory", Form: Quantity, Help: "`size` of /dev/shm, such as 2Gi"},
	{Field: "Devices", Flag: "device", Submit: "device", Form: Pairs(resourceName, Whole(0)), Help: "other devices of each worker, as `resource=count`, such as amd.com/gpu=8"},
	{Field: "RDMA", Flag: "rdma", Submit: "rdma", Form: Truth, Kinds: ownPods, Why: whyRuntime, Help: "true: each worker has an RDMA device, rdma/hca"},

	{Field: "Replicas", Flag: "role-replicas", Role: true, Form: Whole(0), Help: "number of pods of a role, as `role=number`, such as ps=1"},
	{Field: "Image", Flag: "role-image", Role: true, Form: Text, Help: "image of a role, as `role=image`"},
	{Field: "Command", Flag: "role-command", Role: true, Form: Text, Help: "command of a role, as `role=command`"},
	{Field: "GPUs", Flag: "role-gpus", Role: true, Form: Whole(0), Help: "GPUs of each pod of a role, as `role=number`"},
	{Field: "CPU", Flag: "role-cpu", Role: true, Form: Quantity, Help: "CPUs of each pod of a role, as `role=cpu`"},
	{Field: "Memory", Flag: "role-memory", Role: true, Form: Quantity, Help: "memory of each pod of a role, as `role=memory`"},
	{Field: "NodeSelector", Flag: "role-selector", Role: true, Form: Pairs(labelName, Label), Help: "label of the nodes of a role, as `role=key=value`"},
	{Field: "Ends", Flag: "role-ends", Role: true, Form: Truth, Help: "the job is complete with this role, as `role=true`"},

	{Field: "Env", Flag: "env", Submit: "env", Short: "e", Form: Pairs(variableName, Text), Help: "variable of all processes, as `name=value`"},
	{Field: "Env", Flag: "env-secret", Form: Pairs(variableName, Entry), Help: "variable of all processes from a secret, as `name=secret/key`"},
	{Field: "Data", Flag: "data", Submit: "data", Short: "d", Form: Volumes, Help: "volume claim to mount, as `claim:/path`, or folder of the nodes, as /folder:/path"},
	{Field: "MountsOnLauncher", Flag: "mounts-on-launcher", Submit: "mounts-on-launcher", Form: Truth, Unset: "true", Kinds: onlyMPI, Why: whyMPI, Help: "mount the volumes in the launcher pod too: true or false"},
	{Field: "Annotations", Flag: "annotation", Submit: "annotation", Short: "a", Form: Pairs(labelName, Text), Help: "annotation of the job and its pods, as `key=value`"},
	{Field: "Labels", Flag: "label", Submit: "label", Short: "l", Form: Pairs(labelName, Label), Help: "label of the job and its pods, as `key=value`"},
	{Flag: "sync-mode", Form: OneOf("git", "rsync"), Unset: "git", Help: "how to fetch code: `git` or rsync"},
	{Field: "Git.Repo", Flag: "sync-source", Form: Text, Kinds: ownPods, Why: whyCode, Help: "`place` to fetch code from, into code below the working directory"},
	{Field: "Git.Branch", Flag: "git-branch", Form: Text, Help: "`branch` or tag to check out (the repository's default)"},
	{Field: "Git.Revision", Flag: "git-revision", Form: Text, Help: "`commit` to check out (the newest of the branch)"},
	{Field: "Git.Image", Flag: "sync-image", Form: Text, Help: "`image` that fetches the code, for git as git-sync does (the launcher's own; for rsync the job's)"},
	{Field: "Rsync.Source", Flag: "sync-source", Form: Text, Kinds: ownPods, Why: whyCode},
	{Field: "Rsync.Image", Flag: "sync-image", Form: Text},
	{Field: "WorkingDir", Flag: "working-dir", Submit: "working-dir", Form: Folder, Unset: "/root", Help: "`folder` the command runs in"},
	{Field: "Shell", Flag: "shell", Submit: "shell", Form: Text.suggesting("sh", "bash"), Unset: "sh", Help: "`shell` that runs the command"},
	{Field: "ImagePullPolicy", Flag: "image-pull-policy", Submit: "image-pull-policy", Form: OneOf("Always", "IfNotPresent", "Never"), Kinds: ownPods, Why: whyRuntime, Help: "when the image is pulled: `Always`, IfNotPresent or Never"},
	{Field: "ImagePullSecrets", Flag: "image-pull-secret", Submit: "image-pull-secret", Form: Object.many(), Help: "`secret` with a registry's password"},
	{Field: "ServiceAccount", Flag: "service-account", Submit: "service-account", Form: Object, Help: "`account` of the job's pods"},

	{Field: "NodeSelector", Flag: "selector", Submit: "selector", Form: Pairs(labelName, Label), Help: "label of the nodes to run on, as `key=value`"},
	{Field: "Tolerations", Flag: "toleration", Submit: "toleration", Form: Tolerations, Help: "taint to tolerate, as `key[=value][:effect][,operator]`, or all"},
	{Field: "Network", Flag: "network", Submit: "network", Form: OneOf("CNI", "Host", "ENI").anyCase(), Unset: "CNI", Kinds: ownPods, Why: whyRuntime, Help: "network of the pods: `CNI`, Host or ENI"},
	{Field: "SSHPort", Flag: "ssh-port", Submit: "ssh-port", Form: Port, Kinds: onlyMPI, Why: whyMPI, Help: "`port` of the workers' sshd (22; on the host network one of 20000 to 29999)"},
	{Field: "HostIPC", Flag: "host-ipc", Submit: "host-ipc", Form: Truth, Kinds: ownPods, Why: whyRuntime, Help: "true: share the nodes' shared memory"},
	{Field: "HostPID", Flag: "host-pid", Submit: "host-pid", Form: Truth, Kinds: ownPods, Why: whyRuntime, Help: "true: see the nodes' processes"},
	{Field: "Gang", Flag: "gang", Submit: "gang", Form: Truth, Kinds: ownPods, Why: whyRuntime, Help: "true: place all pods together or none; false: each as it finds room (what the cluster does)"},
	{Field: "Queue", Flag: "queue", Submit: "queue", Form: Object, Help: "`queue` of the gang scheduler"},
	{Field: "Priority", Flag: "priority", Submit: "priority", Short: "p", Form: Object, Kinds: ownPods, Why: whyRuntime, Help: "priority `class`"},
	{Field: "Scheduler", Flag: "scheduler", Submit: "scheduler", Form: Object, Kinds: ownPods, Why: whyRuntime, Help: "`scheduler` of the pods"},
	{Field: "Topology.Affinity", Flag: "affinity", Form: Text, Kinds: placed, Why: "no scheduler learns of it", Help: "`roles` to place on one node, such as ps,worker"},
	{Field: "Topology.AntiAffinity", Flag: "anti-affinity", Form: Text, Kinds: placed, Why: "no scheduler learns of it", Help: "`roles` to place apart, such as ps"},
	{Field: "Topology.Order", Flag: "task-order", Form: Text, Kinds: placed, Why: "no scheduler learns of it", Help: "`roles` in the order in which they are placed, such as ps,worker"},

	{Field: "TensorBoard.Enabled", Flag: "tensorboard", Submit: "tensorboard", Form: Truth, Help: "true: run TensorBoard beside the job"},
	{Field: "TensorBoard.Image", Flag: "tensorboard-image", Submit: "tensorboard-image", Form: Text, Unset: "tensorflow/tensorflow:2.19.0", Help: "container `image` of TensorBoard"},
	{Field: "TensorBoard.LogDir", Flag: "logdir", Submit: "logdir", Form: Folder, Unset: "/training_logs", Help: "`folder` that TensorBoard shows, on a volume of the job"},
	{Field: "Metrics", Flag: "metric", Submit: "metric", Form: Text.many(), Help: "number to read from the output, as `name[:format[:reduce[:regex]]]`"},
	{Field: "PendingTimeout", Flag: "pending-timeout", Submit: "starting-timeout", Form: Time, Help: "fail when the job has not started after this `time`, such as 30m (never)"},
	{Field: "RunningTimeout", Flag: "running-timeout", Submit: "running-timeout", Form: Time, Help: "fail when the job has not ended after this `time`, such as 12h (never)"},
	{Field: "SilenceTimeout", Flag: "silence-timeout", Submit: "silence-timeout", Form: Time, Help: "fail when no process of the job has printed anything for this `time`, such as 30m (never)"},
	{Field: "CheckImage", Flag: "check-image", Submit: "check-image", Form: Truth, Help: "true: check that the image has what the job needs, before the job holds devices; false: do not (done for jobs with devices)"},
	{Field: "AllowFewerRanks", Flag: "allow-fewer-ranks", Submit: "allow-fewer-ranks", Form: Truth, Help: "true: go on when fewer processes take part than were asked for"},
	{Field: "Probe", Flag: "probe", Submit: "probe", Form: Truth, Kinds: onlyMPI, Why: whyMPI, Help: "true: measure the bandwidth between the processes before the command runs"},
	{Field: "TTL", Flag: "ttl-after-finished", Submit: "ttl-after-finished", Form: Time, Kinds: ownPods, Why: "it stays as long as its run", Help: "`time` that the job stays after its end (as long as its run)"},
	{Field: "CleanPodPolicy", Flag: "clean-pod-policy", Submit: "clean-task-policy", Form: OneOf("Running", "All", "None"), Unset: "Running", Kinds: operated, Why: "it keeps its ended pods until it goes itself", Help: "pods to delete at the end: `Running`, All or None"},
	{Field: "RestartPolicy", Flag: "restart-policy", Submit: "restart-policy", Form: OneOf("Never", "OnFailure"), Unset: "Never", Kinds: restarted, Why: "the step cannot say whether its pods start again: see Retries", Help: "what starts again when a pod fails: the whole job, `Never`, or the pod in its place, OnFailure"},
	{Field: "Retries", Flag: "retries", Submit: "retry", Form: Whole(0), Help: "`number` of times that a failed job is started again (never)"},
	{Field: "LauncherImage", Submit: "launcher-image", Form: Text, Help: "container `image` of the step that starts the job"},
}

// Values are the options of one value, or of one for each key, as the launcher reads them, by the names of train.Spec. The others
// become objects of Kubernetes, which the launcher makes itself.
type Values struct {
	Slots                      int
	Runtime                    string
	GPUTopology, RDMA          bool
	Devices                    map[string]int
	MountsOnLauncher           bool
	Annotations, Labels        map[string]string
	WorkingDir, Shell          string
	ImagePullPolicy            string
	ImagePullSecrets           []string
	ServiceAccount             string
	Network                    string
	SSHPort                    int
	HostIPC, HostPID           bool
	Gang, CheckImage           *bool
	Queue, Priority, Scheduler string
	Topology                   struct{ Affinity, AntiAffinity, Order string }
	TensorBoard                struct {
		Enabled       bool
		Image, LogDir string
	}
	PendingTimeout, RunningTimeout, SilenceTimeout time.Duration
	AllowFewerRanks, Probe                         bool
	TTL                                            *time.Duration
	CleanPodPolicy, RestartPolicy                  string
	Retries                                        int
}
