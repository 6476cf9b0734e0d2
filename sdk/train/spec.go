package train

import (
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// LauncherImage is the container image of the launcher, in which steps of this package run and which fetches code from git.
const LauncherImage = "argosyml/argosy-launcher:dev"

// Spec says what a job is. Only Image and Command are required. Fields that are empty when the pipeline runs
// count as not set.
type Spec struct {
	// Image is the container image of all pods of the job.
	Image dsl.Value[string]
	// Command is run by sh -c in every pod; of an MPIJob in its launcher pod, once all workers can be reached, where
	// it usually begins with mpirun.
	Command dsl.Value[string]

	// Workers is the number of pods that compute: 1 unless set. Where the kind has a master, it is one of them.
	Workers dsl.Value[int]
	// Slots is the number of processes on each worker: of an MPIJob those that mpirun starts, as many as the worker
	// has GPUs unless set; of a PyTorchJob those of torchrun, 1 unless set; of a TrainJob those of torchrun, as many as GPUs unless set.
	Slots dsl.Value[int]
	// Runtime is the ClusterTrainingRuntime of a TrainJob, or TrainingRuntime/NAME for one of the job's namespace: torch-distributed
	// unless set.
	Runtime dsl.Value[string]
	// GPUs is the number of NVIDIA's GPUs of each worker: none unless set.
	GPUs dsl.Value[int]
	// GPUTopology has Alibaba Cloud's scheduler choose GPUs of an MPIJob's workers that are linked fast, NVLink before
	// PCIe: the GPUs are then aliyun.com/gpu, and Network is Host unless set.
	GPUTopology dsl.Value[bool]
	// Devices are others that each worker needs, by resource, such as amd.com/gpu.
	Devices map[string]dsl.Value[int]
	// RDMA gives each worker an RDMA device (the resource rdma/hca) and the right to lock memory for it.
	RDMA dsl.Value[bool]
	// CPU, Memory and SharedMemory are Kubernetes quantities, such as 500m and 10Gi, for each worker. SharedMemory
	// is the size of /dev/shm.
	CPU, Memory, SharedMemory dsl.Value[string]

	// Data mounts volume claims and folders of the node into every pod, each written claim:/path or /folder:/path.
	Data []dsl.Value[string]
	// MountsOnLauncher mounts Data in an MPIJob's launcher pod too: true unless set, since Command runs there and may
	// be a script on a volume. false lets that pod run where the volumes are not, such as on a node without GPUs while
	// a ReadWriteOnce claim is with the workers.
	MountsOnLauncher dsl.Value[bool]
	// Env is set in every pod and, through mpirun, in every process. A dsl.Secret is read by the job's pods themselves:
	// its content is in no argument and no object.
	Env dsl.Env
	// Annotations and Labels are put on the job and every pod.
	Annotations, Labels map[string]dsl.Value[string]

	// Git, if its Repo is set, is cloned into code/<name of the repository> under WorkingDir in every pod.
	Git Git
	// Rsync, if its Source is set, is copied into code under WorkingDir in every pod.
	Rsync Rsync
	// WorkingDir is where Command runs: /root unless set. Shell runs it: sh unless set.
	WorkingDir, Shell dsl.Value[string]
	// ImagePullPolicy is Always, IfNotPresent or Never; empty leaves it to the cluster.
	ImagePullPolicy string
	// ImagePullSecrets hold the passwords of private registries.
	ImagePullSecrets []dsl.Value[string]
	// ServiceAccount is that of the job's pods.
	ServiceAccount dsl.Value[string]

	// NodeSelector has labels of the nodes to run on.
	NodeSelector map[string]dsl.Value[string]
	// Tolerations are for taints of the nodes.
	Tolerations []Toleration
	// Network is CNI unless set.
	Network dsl.Value[Network]
	// SSHPort is where the workers of an MPIJob wait for mpirun: the image's, 22, unless set; on the Host network, where 22 is the
	// node's own, one between 20000 and 29999 that follows from the job's name.
	SSHPort dsl.Value[int]
	// HostIPC and HostPID share the node's shared memory and process numbers.
	HostIPC, HostPID dsl.Value[bool]

	// Gang places all pods together or, until there is room for all, none; false places each as it finds room. Unless
	// set it is as the cluster's operators do.
	Gang dsl.Value[bool]
	// Queue is the gang scheduler's, Priority a PriorityClass, Scheduler the name of the pods' scheduler.
	Queue, Priority, Scheduler dsl.Value[string]
	// Topology says which roles are placed near each other.
	Topology Topology

	// TensorBoard runs beside the job and stays until the job goes.
	TensorBoard TensorBoard
	// Metrics are read from what the job prints, as in "images/sec: 189.6" or "loss=0.25".
	Metrics []Metric

	// PendingTimeout fails the step when the job has not started by then, RunningTimeout when it has not ended.
	PendingTimeout, RunningTimeout dsl.Value[time.Duration]
	// SilenceTimeout fails the step when the job runs and none of its processes has printed anything for so long: never unless set.
	SilenceTimeout dsl.Value[time.Duration]
	// CheckImage runs the job's image for some seconds without devices, before the job asks for any, and fails the step when the image
	// lacks what the job needs, such as sshd. Unless set, it is done for jobs with GPUs or other devices.
	CheckImage dsl.Value[bool]
	// AllowFewerRanks lets the step go on when fewer processes take part than Workers and Slots ask for; otherwise it fails
	// within 30 seconds of their start.
	AllowFewerRanks dsl.Value[bool]
	// Probe measures the bandwidth between the processes of an MPIJob, in its own pods, before Command runs: the figure is in Environment,
	// and scaling reports show it. Where the image has no program for that, Environment says so.
	Probe dsl.Value[bool]
	// TTL is how long the job stays in the cluster after its end: as long as its run unless set.
	TTL dsl.Value[time.Duration]
	// CleanPodPolicy says which pods of the job go when it has ended: CleanRunning unless set.
	CleanPodPolicy CleanPodPolicy
	// RestartPolicy is RestartOnFailure where a pod that fails starts again in its place, Retries times in all; RestartNever,
	// where it is not set: the whole job starts again. MPIJobs, Volcano's and single Jobs have only the latter.
	RestartPolicy RestartPolicy
	// Retries is how often the job is started again when it fails: never unless set.
	Retries dsl.Value[int]

	// LauncherImage is the image of the step itself, for clusters that get it from a registry of their own: the
	// package's LauncherImage unless set.
	LauncherImage dsl.Value[string]
}

// Git is code to fetch before the job starts.
type Git struct {
	// Repo is the URL of the repository.
	Repo dsl.Value[string]
	// Branch is the one to check out: the repository's default unless set.
	Branch dsl.Value[string]
	// Revision is the commit or tag to check out: the newest of the branch unless set.
	Revision dsl.Value[string]
	// Image is a container image that fetches the code as git-sync does, by variables such as GIT_SYNC_REPO: the
	// launcher's own unless set.
	Image dsl.Value[string]
}

// Rsync is code to copy before the job starts.
type Rsync struct {
	// Source is what rsync reads, such as rsync://host/module/folder/ or host:/folder/.
	Source dsl.Value[string]
	// Image is a container image with rsync: the job's own unless set.
	Image dsl.Value[string]
}

// Toleration lets pods run on nodes with a taint.
type Toleration struct {
	// Key is the taint's; all tolerates every taint.
	Key string
	// Value is the taint's: any unless set.
	Value dsl.Value[string]
	// Effect is NoSchedule, PreferNoSchedule or NoExecute: all of them unless set.
	Effect string
}

// text is the toleration as the launcher reads it, KEY[=VALUE][:EFFECT].
func (t Toleration) text() dsl.Value[string] {
	text := dsl.Lit(t.Key)
	if t.Value.IsSet() {
		text = dsl.Sprintf("%s=%v", t.Key, t.Value)
	}
	if t.Effect != "" {
		text = dsl.Sprintf("%v:%s", text, t.Effect)
	}
	return text
}

// Network is how pods are connected.
type Network string

// The networks.
const (
	CNI  Network = "CNI"  // the cluster's pod network
	Host Network = "Host" // the node's own, without isolation
	ENI  Network = "ENI"  // an elastic network interface for each pod (Alibaba Cloud's Terway)
)

// Topology says which roles are to share nodes, which not, and which are placed first, by their names in lower case:
// ps and worker of a TFJob. It takes Volcano with its plugin task-topology.
type Topology struct {
	Affinity, AntiAffinity [][]string
	Order                  []string
}

// TensorBoard says what TensorBoard shows.
type TensorBoard struct {
	Enabled dsl.Value[bool]
	// LogDir is a folder on one of the job's volumes: /training_logs unless set.
	LogDir dsl.Value[string]
	// Image is one with TensorBoard: TensorFlow's unless set.
	Image dsl.Value[string]
}

// RestartPolicy says what starts again when a pod fails.
type RestartPolicy string

// Restart policies.
const (
	RestartNever     RestartPolicy = "Never"     // the whole job, as Retries says
	RestartOnFailure RestartPolicy = "OnFailure" // the pod, in its place
)

// CleanPodPolicy says which pods of an ended job are deleted.
type CleanPodPolicy string

// The clean pod policies.
const (
	CleanRunning CleanPodPolicy = "Running" // those still running, so that the others' logs stay
	CleanAll     CleanPodPolicy = "All"
	CleanNone    CleanPodPolicy = "None"
)

// Role says what pods of one role are; what is not set is as for the whole job.
type Role struct {
	Replicas       dsl.Value[int]
	Image, Command dsl.Value[string]
	// GPUs of each pod. Default: 0 in roles that do not train.
	GPUs         dsl.Value[int]
	CPU, Memory  dsl.Value[string]
	NodeSelector map[string]dsl.Value[string]
}

// Outputs are the outputs of a job of any kind.
type Outputs struct {
	*dsl.Step
	// JobName is the name of the job in the cluster.
	JobName dsl.Value[string]
	// WorldSize is the number of processes that took part.
	WorldSize dsl.Value[int]
	// Environment is what the job ran on, as a JSON object of texts: its machines, image, libraries and placement, as far as it can be found out.
	Environment dsl.Value[string]
}
