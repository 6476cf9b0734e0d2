package train

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// check reports what is wrong with the job as far as it is known already.
func (job Spec) check(step *dsl.Step, k kind) {
	required(step, "Image", job.Image)
	required(step, "Command", job.Command)
	atLeast(step, "Workers", job.Workers, 1)
	atLeast(step, "Slots", job.Slots, 1)
	atLeast(step, "GPUs", job.GPUs, 0)
	port(step, "SSHPort", job.SSHPort)
	atLeast(step, "Retries", job.Retries, 0)
	quantity(step, "CPU", job.CPU)
	quantity(step, "Memory", job.Memory)
	quantity(step, "SharedMemory", job.SharedMemory)
	for _, data := range job.Data {
		volume(step, data)
	}
	for _, name := range slices.Sorted(maps.Keys(job.Env)) {
		if !envName.MatchString(name) {
			step.Fault("Env %q is not a name for an environment variable: use letters, digits and _", name)
		}
		set(step, "Env", name, job.Env[name])
	}
	positive(step, "PendingTimeout", job.PendingTimeout)
	positive(step, "RunningTimeout", job.RunningTimeout)
	positive(step, "SilenceTimeout", job.SilenceTimeout)
	job.checkMetadata(step)
	job.checkCode(step)
	job.checkPlacement(step)
	job.checkKind(step, k)
	for _, m := range job.Metrics {
		m.check(step)
	}
	oneOf(step, "CleanPodPolicy", job.CleanPodPolicy, CleanRunning, CleanAll, CleanNone)
	oneOf(step, "RestartPolicy", job.RestartPolicy, RestartNever, RestartOnFailure)
	oneOf(step, "ImagePullPolicy", job.ImagePullPolicy, "Always", "IfNotPresent", "Never")
}

// checkKind refuses what jobs of the kind cannot have.
func (job Spec) checkKind(step *dsl.Step, k kind) {
	if k.single && job.Workers.IsSet() {
		step.Fault("Workers is set: a Job has one pod")
	}
	if !k.slots && job.Slots.IsSet() {
		step.Fault("Slots is set: each pod of a %s is one process, as far as its operator knows", k.name)
	}
	if !k.cleans && job.CleanPodPolicy != "" {
		step.Fault("CleanPodPolicy is set: a %s keeps its ended pods until it goes itself: see TTL", k.name)
	}
	if ofTrainingOperator := k.cleans && !k.mpi; job.RestartPolicy == RestartOnFailure && !ofTrainingOperator {
		step.Fault("RestartPolicy is OnFailure: the pods of a %s do not start again by themselves: see Retries", k.name)
	}
	if !k.mpi {
		for _, f := range []struct {
			field string
			value dsl.AnyValue
		}{{"GPUTopology", job.GPUTopology}, {"MountsOnLauncher", job.MountsOnLauncher}, {"SSHPort", job.SSHPort}} {
			if f.value.IsSet() {
				step.Fault("%s is set: only an MPIJob has it", f.field)
			}
		}
	}
	t := job.Topology
	groups := slices.Concat(t.Affinity, t.AntiAffinity, [][]string{t.Order})
	if !k.topology && len(slices.Concat(groups...)) > 0 {
		step.Fault("Topology is set: no scheduler learns of it for a %s", k.name)
		return
	}
	for _, role := range slices.Concat(groups...) {
		if k.roles != nil && !slices.Contains(k.roles, role) {
			step.Fault("Topology: a %s has no role %q: it has %s", k.name, role, strings.Join(k.roles, ", "))
		}
	}
}

func (job Spec) checkPlacement(step *dsl.Step) {
	for _, t := range job.Tolerations {
		if !qualifiedName.MatchString(t.Key) {
			step.Fault("Tolerations: %q is not the key of a taint, such as example.com/key", t.Key)
		}
		oneOf(step, "Tolerations: the Effect of "+t.Key, t.Effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		labelled(step, "Tolerations", t.Key, t.Value)
	}
	if known, ok := dsl.Known(job.Network); ok {
		oneOf(step, "Network", Network(known), CNI, Host, ENI)
	}
	object(step, "Queue", job.Queue)
	object(step, "Priority", job.Priority)
	object(step, "Scheduler", job.Scheduler)
	object(step, "ServiceAccount", job.ServiceAccount)
	for _, secret := range job.ImagePullSecrets {
		object(step, "ImagePullSecrets", secret)
	}
	for _, name := range slices.Sorted(maps.Keys(job.Devices)) {
		if !qualifiedName.MatchString(name) {
			step.Fault("Devices: %q is not a resource such as example.com/gpu", name)
		}
		if v := job.Devices[name]; v.IsSet() {
			atLeast(step, "Devices "+name, v, 0)
		} else {
			step.Fault("Devices %s is not set", name)
		}
	}
}

// checkRoles reports what is wrong with the roles of a job.
func checkRoles(step *dsl.Step, k kind, roles []Task) {
	seen := map[string]bool{}
	for _, r := range roles {
		if !roleName.MatchString(r.Name) {
			step.Fault("Tasks: the name %q must hold only lower-case letters, digits and -, and begin with a letter", r.Name)
		}
		if seen[r.Name] {
			step.Fault("Tasks: the name %s is used twice", r.Name)
		}
		seen[r.Name] = true
		atLeast(step, r.Name+" Replicas", r.Replicas, 0)
		atLeast(step, r.Name+" GPUs", r.GPUs, 0)
		quantity(step, r.Name+" CPU", r.CPU)
		quantity(step, r.Name+" Memory", r.Memory)
		metadata(step, r.Name+" NodeSelector", r.NodeSelector)
		if k.name == "TFJob" && r.Name == "worker" && r.Replicas.IsSet() {
			step.Fault("worker Replicas is set: the number of workers is Workers")
		}
	}
}

var (
	envName       = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	qualifiedName = regexp.MustCompile(`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$`)
	labelValue    = regexp.MustCompile(`^([a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)?$`)
	amount        = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)([mkMGTPE]|[KMGTPE]i|[eE][0-9]+)?$`)
	volumePath    = regexp.MustCompile(`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?|/[^:]*):/.*$`)
	objectName    = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`)
	roleName      = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
)

func (job Spec) checkMetadata(step *dsl.Step) {
	for _, name := range slices.Sorted(maps.Keys(job.Annotations)) {
		set(step, "Annotations", name, job.Annotations[name])
		if !qualifiedName.MatchString(name) {
			step.Fault("Annotations: %q is not a Kubernetes name such as example.com/key", name)
		}
	}
	metadata(step, "Labels", job.Labels)
	metadata(step, "NodeSelector", job.NodeSelector)
}

// metadata reports labels that Kubernetes would refuse.
func metadata(step *dsl.Step, field string, labels map[string]dsl.Value[string]) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		set(step, field, name, labels[name])
		if !qualifiedName.MatchString(name) {
			step.Fault("%s: %q is not a Kubernetes name such as example.com/key", field, name)
		}
		labelled(step, field, name, labels[name])
	}
}

// object reports the name of an object that cannot be one.
func object(step *dsl.Step, field string, v dsl.Value[string]) {
	if known, ok := dsl.Known(v); ok && known != "" && !objectName.MatchString(known) {
		step.Fault("%s is %q: it must be the name of an object: lower-case letters, digits, - and .", field, known)
	}
}

func labelled(step *dsl.Step, field, name string, v dsl.Value[string]) {
	if known, ok := dsl.Known(v); ok && !labelValue.MatchString(known) {
		step.Fault("%s: the value %q of %s must be letters, digits, -, _ and ., at most 63", field, known, name)
	}
}

func (job Spec) checkCode(step *dsl.Step) {
	if !job.Git.Repo.IsSet() && (job.Git.Branch.IsSet() || job.Git.Revision.IsSet()) {
		step.Fault("Git has a branch or revision but no Repo")
	}
	if !job.Git.Repo.IsSet() && job.Git.Image.IsSet() {
		step.Fault("Git has an image but no Repo")
	}
	if !job.Rsync.Source.IsSet() && job.Rsync.Image.IsSet() {
		step.Fault("Rsync has an image but no Source")
	}
	if job.Git.Repo.IsSet() && job.Rsync.Source.IsSet() {
		step.Fault("Git and Rsync are both set: code comes from one of them")
	}
}

func (m Metric) check(step *dsl.Step) {
	switch {
	case m.Name == "" && !m.NameFrom.IsSet():
		step.Fault("Metrics: a metric has no Name")
	case m.Name != "" && m.NameFrom.IsSet():
		step.Fault("Metrics: %s has both Name and NameFrom: set one", m.Name)
	case strings.Contains(m.Name, ":"):
		step.Fault("Metrics: the name %q holds a colon: set Format and Reduce in their fields", m.Name)
	}
	if !slices.Contains([]Format{"", Raw, Percentage}, m.Format) {
		step.Fault("Metrics: %s: Format is %q: it must be RAW or PERCENTAGE", m.Name, m.Format)
	}
	if !slices.Contains([]Reduce{"", Last, Max, Min, Mean, SumOverRanks}, m.Reduce) {
		step.Fault("Metrics: %s: Reduce is %q: it must be last, max, min, mean or sum-over-ranks", m.Name, m.Reduce)
	}
	if _, err := regexp.Compile(m.Pattern); err != nil {
		step.Fault("Metrics: %s: Pattern: %v", m.Name, err)
	}
	if m.Pattern != "" && m.NameFrom.IsSet() {
		step.Fault("Metrics: a metric has a Pattern and NameFrom, which may bring its own: set Name")
	}
}

// set reports a map's entry that has no value, most often a forgotten variable.
func set(step *dsl.Step, field, name string, v dsl.Value[string]) {
	if !v.IsSet() {
		step.Fault("%s %s is not set: use dsl.Lit(\"\") for an empty value", field, name)
	}
}

func required(step *dsl.Step, field string, v dsl.Value[string]) {
	// A parameter may be empty by default: the run sets it.
	if !v.IsSet() || strings.TrimSpace(v.String()) == "" {
		step.Fault("%s is not set", field)
	}
}

// quantity reports a Kubernetes quantity that is known already and wrong. Empty means not set.
func quantity(step *dsl.Step, field string, v dsl.Value[string]) {
	if known, ok := dsl.Known(v); ok && known != "" && !amount.MatchString(known) {
		step.Fault("%s is %q: it must be a quantity such as 500m, 2 or 10Gi", field, known)
	}
}

func positive(step *dsl.Step, field string, v dsl.Value[time.Duration]) {
	if known, ok := dsl.Known(v); ok {
		if d, err := time.ParseDuration(known); err == nil && d <= 0 {
			step.Fault("%s is %s: it must be more than nothing", field, known)
		}
	}
}

func volume(step *dsl.Step, v dsl.Value[string]) {
	if !v.IsSet() {
		step.Fault("Data: an entry is not set")
		return
	}
	if known, ok := dsl.Known(v); ok && known != "" && !volumePath.MatchString(known) {
		step.Fault("Data is %q: it must be a volume claim and an absolute path, as in training-data:/data, or a folder of the node and one", known)
	}
}

// oneOf reports a constant outside the allowed values. Empty means not set.
func oneOf[T ~string](step *dsl.Step, field string, v T, all ...T) {
	if v == "" || slices.Contains(all, v) {
		return
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	last := len(names) - 1
	step.Fault("%s is %q: it must be %s or %s", field, v, strings.Join(names[:last], ", "), names[last])
}

// port reports a port that is known already and none.
func port(step *dsl.Step, field string, v dsl.Value[int]) {
	if known, ok := dsl.Known(v); ok {
		if n, err := strconv.Atoi(known); err == nil && (n < 1 || n > 65535) {
			step.Fault("%s is %d: it must be a port, 1 to 65535", field, n)
		}
	}
}

// atLeast reports a whole number that is known already and too small.
func atLeast(step *dsl.Step, field string, v dsl.Value[int], smallest int) {
	if known, ok := dsl.Known(v); ok {
		if n, err := strconv.Atoi(known); err == nil && n < smallest {
			step.Fault("%s is %d: it must be at least %d", field, n, smallest)
		}
	}
}
