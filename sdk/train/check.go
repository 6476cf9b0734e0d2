package train

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

// check reports what is wrong with the job as far as it is known already.
func (job MPI) check(step *dsl.Step) {
	required(step, "Image", job.Image)
	required(step, "Command", job.Command)
	atLeast(step, "Workers", job.Workers, 1)
	atLeast(step, "Slots", job.Slots, 1)
	atLeast(step, "GPUs", job.GPUs, 0)
	atLeast(step, "Retries", job.Retries, 0)
	quantity(step, "CPU", job.CPU)
	quantity(step, "Memory", job.Memory)
	quantity(step, "SharedMemory", job.SharedMemory)
	for _, data := range job.Data {
		claim(step, data)
	}
	for _, name := range slices.Sorted(maps.Keys(job.Env)) {
		if !envName.MatchString(name) {
			step.Fault("Env %q is not a name for an environment variable: use letters, digits and _", name)
		}
		set(step, "Env", name, job.Env[name])
	}
	positive(step, "PendingTimeout", job.PendingTimeout)
	positive(step, "RunningTimeout", job.RunningTimeout)
	job.checkMetadata(step)
	job.checkGit(step)
	for _, m := range job.Metrics {
		m.check(step)
	}
	if !slices.Contains([]CleanPodPolicy{"", CleanRunning, CleanAll, CleanNone}, job.CleanPodPolicy) {
		step.Fault("CleanPodPolicy is %q: it must be Running, All or None", job.CleanPodPolicy)
	}
}

var (
	envName       = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	qualifiedName = regexp.MustCompile(`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$`)
	labelValue    = regexp.MustCompile(`^([a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)?$`)
	amount        = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)([mkMGTPE]|[KMGTPE]i|[eE][0-9]+)?$`)
	claimPath     = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?:/.*$`)
)

func (job MPI) checkMetadata(step *dsl.Step) {
	for _, name := range slices.Sorted(maps.Keys(job.Annotations)) {
		set(step, "Annotations", name, job.Annotations[name])
		if !qualifiedName.MatchString(name) {
			step.Fault("Annotations: %q is not a Kubernetes name such as example.com/key", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(job.Labels)) {
		v := job.Labels[name]
		set(step, "Labels", name, v)
		if !qualifiedName.MatchString(name) {
			step.Fault("Labels: %q is not a Kubernetes name such as example.com/key", name)
		}
		if known, ok := dsl.Known(v); ok && !labelValue.MatchString(known) {
			step.Fault("Labels: the value %q of %s must be letters, digits, -, _ and ., at most 63", known, name)
		}
	}
}

func (job MPI) checkGit(step *dsl.Step) {
	if !job.Git.Repo.IsSet() && (job.Git.Branch.IsSet() || job.Git.Revision.IsSet()) {
		step.Fault("Git has a branch or revision but no Repo")
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
}

// set reports a map's entry that has no value, most often a forgotten variable.
func set(step *dsl.Step, field, name string, v dsl.Value[string]) {
	if !v.IsSet() {
		step.Fault("%s %s is not set: use dsl.Lit(\"\") for an empty value", field, name)
	}
}

func required(step *dsl.Step, field string, v dsl.Value[string]) {
	// A parameter may be empty by default: whoever starts the run fills it in.
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

func claim(step *dsl.Step, v dsl.Value[string]) {
	if !v.IsSet() {
		step.Fault("Data: an entry is not set")
		return
	}
	if known, ok := dsl.Known(v); ok && known != "" && !claimPath.MatchString(known) {
		step.Fault("Data is %q: it must be a volume claim and an absolute path, as in training-data:/data", known)
	}
}
