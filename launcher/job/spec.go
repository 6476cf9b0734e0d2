package job

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// Spec is what the user asked for.
type Spec struct {
	// Kind is what the job is to be.
	Kind *Kind
	// Step is the name of the pipeline step.
	Step string
	// Roles are the job's groups of pods, in the order of their ranks.
	Roles []Role
	// Values are the options that need no more than reading.
	option.Values
	// Shm is the size of /dev/shm; zero leaves what the cluster gives.
	Shm resource.Quantity
	// Env is set in all pods, and goes before what the launcher sets itself.
	Env []corev1.EnvVar
	// Data are the volumes to mount everywhere.
	Data []option.Volume
	// Code is what to fetch first; nil for nothing.
	Code        *Code
	Tolerations []corev1.Toleration
	// Metrics are looked for in the output.
	Metrics []scrape.Rule
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

func (s *Spec) roleNames() string {
	var names []string
	for _, r := range s.Roles {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
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
