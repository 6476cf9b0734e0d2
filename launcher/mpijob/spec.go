package mpijob

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Spec is what the user asked for.
type Spec struct {
	// Step is the name of the pipeline step.
	Step string
	// Image runs in the launcher and the workers of the job.
	Image string
	// Command is run by sh -c in the job's launcher, in WorkingDir.
	Command string
	// WorkingDir is an absolute path; /root unless set.
	WorkingDir string

	// Workers is the number of worker pods, Slots the number of ranks on each.
	Workers, Slots int
	// GPUs, CPU, Memory are the limits of each worker; zero means none.
	GPUs        int
	CPU, Memory resource.Quantity
	// Shm is the size of /dev/shm; zero leaves what the cluster gives.
	Shm resource.Quantity

	// Env is set in launcher and workers, and goes before what the launcher sets itself.
	Env []corev1.EnvVar
	// Data are the volume claims to mount everywhere.
	Data []Claim
	// Annotations and Labels go to the job and all its pods.
	Annotations, Labels map[string]string
	// Git is the code to fetch first; nil for none.
	Git *Git

	// Metrics are looked for in the output.
	Metrics []scrape.Rule
	// Retries is how often a failed launcher is started again.
	Retries int
	// CleanPodPolicy says which pods are removed when the job ends; Running unless set.
	CleanPodPolicy kubeflow.CleanPodPolicy
	// PendingTimeout bounds the time from creation to running, RunningTimeout the
	// time from running to the end. Zero means for ever.
	PendingTimeout, RunningTimeout time.Duration
}

// Claim is a persistent volume claim and where it is mounted.
type Claim struct {
	Name, Path string
}

// Git is a repository whose code every pod of the job gets.
type Git struct {
	// Repo is a URL or a path.
	Repo string
	// Branch is a branch or tag; the repository's default if empty.
	Branch string
	// Revision is a commit; the newest of Branch if empty.
	Revision string
}

// World is the number of ranks that were asked for.
func (s *Spec) World() int { return s.Workers * s.Slots }

// Identity ties a job to the step that it belongs to.
type Identity struct {
	// Namespace is where the job lives.
	Namespace string
	// Workflow is the name of the workflow, Node the id of the step's node in it.
	Workflow, Node string
	// Pod is the launcher's own pod; nil outside a cluster.
	Pod *corev1.Pod
}
