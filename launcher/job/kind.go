package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/argosy-ml/argosy/sdk/train/option"
)

// Kind is a kind of distributed job: what the launcher must know to write one and to read its state.
type Kind struct {
	// Command is its name on the launcher's command line, such as pytorchjob.
	Command string
	// Name is what Kubernetes calls it, Title what people do: the Jobs of Volcano are not those of Kubernetes.
	Name, Title string

	version  schema.GroupVersion
	resource string // plural, as in the API's paths
	operator string // who takes such jobs up, for messages

	// roles says which pods the options ask for.
	roles func(*roles)
	// build writes the job's spec, as anything that becomes its JSON.
	build func(*Spec, Identity) any
	// read makes a status out of the job's own.
	read func(*unstructured.Unstructured) status
	// podLabels select the job's pods.
	podLabels func(job string) labels.Set
	// place tells a pod's role and its number there.
	place func(*corev1.Pod) (role string, index int)
	// container runs the user's command.
	container string
	// speaks is the only role whose output is read; empty for all.
	speaks string
	// oneByOne: pods that speak come one after the other, each another attempt, by the operator's own doing.
	oneByOne bool
	// suffix is the longest that the operator adds to the job's name; empty for -ROLE-INDEX.
	suffix string
	// waits describes what a job waits for that is not running yet; nil for: all its pods.
	waits func(state, *Spec) string
	// patient: pods that fail before the job runs are not replaced, and the job would wait for ever.
	patient bool
	// cleans: the operator deletes the pods of CleanAll while their output is still being read.
	cleans bool
}

// Kinds are all kinds of job.
func Kinds() []*Kind {
	return []*Kind{&mpiJob, &tfJob, &pyTorchJob, &xgBoostJob, &paddleJob, &jaxJob, &mxJob, &trainJob, &volcanoJob, &singleJob}
}

// Article is the title with the article that goes before it in a sentence: an MPIJob, a TFJob.
func (k *Kind) Article() string { return option.Article(k.Title) }

// GVR is where the API keeps such jobs.
func (k *Kind) GVR() schema.GroupVersionResource { return k.version.WithResource(k.resource) }

// group is the resource as error texts and rules of RBAC have it.
func (k *Kind) group() string { return k.resource + "." + k.version.Group }

// podGroup is the name of the group that a gang scheduler sees.
func (k *Kind) podGroup(job *unstructured.Unstructured) string {
	if k == &volcanoJob {
		return job.GetName() + "-" + string(job.GetUID())
	}
	return job.GetName()
}

// status is what the launcher must know of a job's state.
type status struct {
	seen      bool      // the operator has taken the job up
	suspended bool      // and waits for people
	running   time.Time // since when it runs or ran; zero before, and where the job does not tell
	succeeded bool
	failed    bool
	reason    string // of the failure
	message   string
	ended     time.Time
}

func (s status) over() bool { return s.succeeded || s.failed }

// conditions is the status of Kubeflow's jobs and of Kubernetes' own.
type conditions struct {
	Conditions     []metav1.Condition `json:"conditions"`
	CompletionTime metav1.Time        `json:"completionTime"`
}

// readStatus reads a part of a job's status. What cannot be read is a job whose operator is broken, and waits.
func readStatus[T any](job *unstructured.Unstructured) (s T) {
	raw, err := json.Marshal(job.Object["status"])
	if err == nil {
		_ = json.Unmarshal(raw, &s)
	}
	return s
}

// Build makes the job. It holds nothing that differs from one start of the
// launcher to the next.
func Build(s *Spec, id Identity) (*unstructured.Unstructured, error) {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelStep] = label(s.Step)
	labels[labelNode] = id.hash()
	annotations := maps.Clone(s.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationWorkflow] = id.Workflow
	maps.Copy(annotations, s.topology())
	if s.Queue != "" && s.Kind != &volcanoJob {
		annotations[AnnotationQueue] = s.Queue
	}
	var owners []metav1.OwnerReference
	if id.Pod != nil {
		annotations[annotationLauncher] = string(id.Pod.UID)
		owners = workflowOwner(id.Pod)
		if run := id.run(); run != "" {
			labels[labelRun] = run
		}
	}
	raw, err := json.Marshal(struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              any `json:"spec"`
	}{
		metav1.TypeMeta{APIVersion: s.Kind.version.String(), Kind: s.Kind.Name},
		metav1.ObjectMeta{Name: s.name(id), Namespace: id.Namespace, Labels: labels, Annotations: annotations, OwnerReferences: owners},
		s.Kind.build(s, id),
	})
	if err != nil {
		return nil, fmt.Errorf("write the %s: %w", s.Kind.Title, err)
	}
	var job unstructured.Unstructured
	if err := job.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("write the %s: %w", s.Kind.Title, err)
	}
	return &job, nil
}

// topology is what Volcano's plugin task-topology reads.
func (s *Spec) topology() map[string]string {
	t := s.Topology
	all := map[string]string{
		"volcano.sh/task-topology-affinity": t.Affinity, "volcano.sh/task-topology-anti-affinity": t.AntiAffinity, "volcano.sh/task-topology-task-order": t.Order,
	}
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	return all
}

// workflowOwner is the reference to the workflow that owns the launcher's own
// pod. The job goes when the workflow goes, but the workflow does not wait for it.
func workflowOwner(pod *corev1.Pod) []metav1.OwnerReference {
	for _, o := range pod.OwnerReferences {
		if o.Kind == "Workflow" {
			o.Controller, o.BlockOwnerDeletion = ptr.To(false), ptr.To(false)
			return []metav1.OwnerReference{o}
		}
	}
	return nil
}

// indexOf reads a number that a label holds.
func indexOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// rank is the number of a pod among all that speak, in the order of the roles.
func (s *Spec) rank(pod *corev1.Pod) (name string, rank int) {
	role, index := s.Kind.place(pod)
	before := 0
	// Those that train come first. A parameter server has no rank, but its lines need a tag too.
	order := slices.Clone(s.Roles)
	slices.SortStableFunc(order, func(a, b Role) int { return boolOrder(b.Trains) - boolOrder(a.Trains) })
	for _, r := range order {
		if r.Name == role {
			break
		}
		before += r.Replicas
	}
	return role + "-" + strconv.Itoa(index), before + index
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}
