package job

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Spec is what the user asked for.
type Spec struct {
	// Kind is what the job is to be.
	Kind *Kind
	// Step is the name of the pipeline step.
	Step string
	// Roles are the job's groups of pods, in the order of their ranks.
	Roles []Role
	// Slots is the number of ranks of each pod that trains.
	Slots int

	// Shell runs the commands with -c, in WorkingDir, an absolute path.
	Shell, WorkingDir string
	// Devices are limits of each pod that trains, beside GPUs: 1 of rdma/hca.
	Devices map[string]int
	// Shm is the size of /dev/shm; zero leaves what the cluster gives.
	Shm resource.Quantity
	// RDMA gives the pods that train an RDMA device and the right to lock memory for it.
	RDMA bool
	// Env is set in all pods, and goes before what the launcher sets itself.
	Env []corev1.EnvVar
	// Data are the volumes to mount everywhere; BareLauncher leaves an MPIJob's launcher without them.
	Data         []Mount
	BareLauncher bool
	// LinkedGPUs asks Alibaba Cloud's scheduler for GPUs with fast links between them; of an MPIJob only.
	LinkedGPUs bool
	// SSHPort is that of an MPIJob's workers; 0 for the usual one.
	SSHPort int
	// Annotations and Labels go to the job and all its pods.
	Annotations, Labels map[string]string
	// Code is what to fetch first; nil for nothing.
	Code *Code

	PullPolicy       corev1.PullPolicy
	PullSecrets      []string
	ServiceAccount   string
	Tolerations      []corev1.Toleration
	Network          Network
	HostIPC, HostPID bool

	// Gang has all pods placed together or none; nil leaves that to the cluster.
	Gang *bool
	// Queue, Priority (a PriorityClass) and Scheduler may be empty.
	Queue, Priority, Scheduler string
	Topology                   Topology

	// TensorBoard shows what the job writes; nil for none.
	TensorBoard *TensorBoard
	// Metrics are looked for in the output.
	Metrics []scrape.Rule
	// RestartPolicy is OnFailure where a pod that fails starts again in its place, Never where the whole job does.
	RestartPolicy corev1.RestartPolicy
	// Retries is how often a failed job is started again, or its pods in all are.
	Retries int
	// CleanPodPolicy says which pods are removed when the job ends; Running unless set.
	CleanPodPolicy CleanPodPolicy
	// AllowFewerRanks lets the job go on, and succeed, when fewer ranks take part than it was asked for.
	AllowFewerRanks bool
	// SilenceTimeout bounds the time in which no rank prints anything. Zero means for ever.
	SilenceTimeout time.Duration
	// PendingTimeout bounds the time from creation to running, RunningTimeout the
	// time from running to the end. Zero means for ever.
	PendingTimeout, RunningTimeout time.Duration
	// TTL is how long the job stays after its end; nil keeps it as long as its workflow.
	TTL *time.Duration
}

// Role is a group of pods that do the same.
type Role struct {
	// Name is in lower case, as in the names of the pods: worker, ps.
	Name     string
	Replicas int
	// Trains tells pods that are ranks from those that serve them.
	Trains bool
	// Ends makes the job complete when the pods of this role are; of a VolcanoJob only.
	Ends bool

	Image, Command string
	// GPUs, CPU, Memory are the limits of each pod; zero means none.
	GPUs        int
	CPU, Memory resource.Quantity
	Selector    map[string]string
}

// Mount is a volume claim or a folder of the node, and where it is mounted.
type Mount struct {
	Claim, Host string // one of the two
	Path        string
}

// Code is what every pod of the job gets before it starts.
type Code struct {
	// Mode is git or rsync.
	Mode string
	// Source is a URL or a path.
	Source string
	// Image fetches it; the launcher's own if empty, and for rsync the job's. One for git is to do as git-sync does.
	Image string
	// Branch is a branch or tag; the repository's default if empty.
	Branch string
	// Revision is a commit; the newest of Branch if empty.
	Revision string
}

// Network is how pods are connected.
type Network string

// The networks.
const (
	NetworkCNI  Network = "CNI"  // the cluster's pod network
	NetworkHost Network = "Host" // the node's own
	NetworkENI  Network = "ENI"  // a network interface of the cloud (Alibaba's Terway)
)

// Topology says which roles are to share a node, which not, and which are placed first, in Volcano's
// notation: roles joined by commas, groups by semicolons.
type Topology struct{ Affinity, AntiAffinity, Order string }

// TensorBoard says where TensorBoard finds what it shows.
type TensorBoard struct{ Image, LogDir string }

// CleanPodPolicy says which pods of an ended job go.
type CleanPodPolicy string

// The clean pod policies.
const (
	CleanRunning CleanPodPolicy = "Running"
	CleanAll     CleanPodPolicy = "All"
	CleanNone    CleanPodPolicy = "None"
)

// World is the number of ranks that were asked for.
func (s *Spec) World() int { return s.trainers() * s.Slots }

// trainers is the number of pods that compute, pods that of all.
func (s *Spec) trainers() (n int) {
	for _, r := range s.Roles {
		if r.Trains {
			n += r.Replicas
		}
	}
	return n
}

// Pods is how many pods compute, without the one that starts them.
func (s *Spec) Pods() (n int) {
	for _, r := range s.Roles {
		n += r.Replicas
	}
	return n
}

// role is the role of that name, nil when the job has none.
func (s *Spec) role(name string) *Role {
	for i := range s.Roles {
		if s.Roles[i].Name == name {
			return &s.Roles[i]
		}
	}
	return nil
}

// Identity ties a job to the step that it belongs to.
type Identity struct {
	// Namespace is where the job lives.
	Namespace string
	// Workflow is the name of the workflow, Node the id of the step's node in it.
	Workflow, Node string
	// Pod is the launcher's own pod; nil outside a cluster.
	Pod *corev1.Pod
}
