package train

import (
	"regexp"
	"slices"
	"strings"

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
	for name := range job.Env {
		if !envName.MatchString(name) {
			step.Fault("Env %q is not a name for an environment variable: use letters, digits and _", name)
		}
	}
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
	for name := range job.Annotations {
		if !qualifiedName.MatchString(name) {
			step.Fault("Annotations: %q is not a Kubernetes name such as example.com/key", name)
		}
	}
	for name, v := range job.Labels {
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
	if !slices.Contains([]Reduce{"", Last, Max, Mean, SumOverRanks}, m.Reduce) {
		step.Fault("Metrics: %s: Reduce is %q: it must be last, max, mean or sum-over-ranks", m.Name, m.Reduce)
	}
}

func required(step *dsl.Step, field string, v dsl.Value[string]) {
	if known, ok := dsl.Known(v); !v.IsSet() || ok && strings.TrimSpace(known) == "" {
		step.Fault("%s is not set", field)
	}
}

// quantity reports a Kubernetes quantity that is known already and wrong. Empty means not set.
func quantity(step *dsl.Step, field string, v dsl.Value[string]) {
	if known, ok := dsl.Known(v); ok && known != "" && !amount.MatchString(known) {
		step.Fault("%s is %q: it must be a quantity such as 500m, 2 or 10Gi", field, known)
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
