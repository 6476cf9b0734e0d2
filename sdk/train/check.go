package train

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

// check reports what is wrong with the job as far as it is known already.
func (job Spec) check(step *dsl.Step, k kind) {
	required(step, "Image", job.Image)
	required(step, "Command", job.Command)
	for i := range option.Table {
		o := &option.Table[i]
		if o.Field == "" || o.Role {
			continue
		}
		all := settings(o, reflect.ValueOf(job))
		check(step, o, o.Field, all)
		for _, s := range all {
			if known, _ := dsl.Known(s.value); s.value.IsSet() {
				report(step, o.Field, o.Allow(k.command, k.name, known))
			}
		}
	}
	if retries, known := dsl.Known(job.Retries); known || !job.Retries.IsSet() {
		report(step, "RestartPolicy", option.AllowRestarts(string(job.RestartPolicy), strings.TrimSpace(retries)))
	}
	job.checkCode(step)
	job.checkTopology(step, k)
	for _, m := range job.Metrics {
		m.check(step)
	}
}

// checkTopology reports roles that jobs of the kind do not have.
func (job Spec) checkTopology(step *dsl.Step, k kind) {
	t := job.Topology
	for _, role := range slices.Concat(slices.Concat(t.Affinity, t.AntiAffinity, [][]string{t.Order})...) {
		if k.roles != nil && !slices.Contains(k.roles, role) {
			step.Fault("Topology: a %s has no role %q: it has %s", k.name, role, strings.Join(k.roles, ", "))
		}
	}
}

// checkRoles reports what is wrong with the roles of a job.
func checkRoles(step *dsl.Step, k kind, roles []Task) {
	seen := map[string]bool{}
	for _, r := range roles {
		report(step, "Tasks", option.RoleName(r.Name))
		if seen[r.Name] {
			step.Fault("Tasks: the name %s is used twice", r.Name)
		}
		seen[r.Name] = true
		for i := range option.Table {
			if o := &option.Table[i]; o.Role {
				check(step, o, r.Name+" "+o.Field, settings(o, reflect.ValueOf(r)))
			}
		}
		if k.name == "TFJob" && r.Name == "worker" && r.Replicas.IsSet() {
			step.Fault("worker Replicas is set: the number of workers is Workers")
		}
	}
}

// check reports values that are not of the option's form, and entries without a value: most often a forgotten variable.
func check(step *dsl.Step, o *option.Option, field string, all []setting) {
	for _, s := range all {
		named := field
		if o.Form.Keyed() {
			report(step, field, o.Form.CheckKey(s.key))
			named += " " + s.key
		}
		if _, isText := s.value.(dsl.Value[string]); !s.value.IsSet() && (o.Form.Keyed() || o.Form.Many) {
			hint := ""
			if isText {
				hint = `: use dsl.Lit("") for an empty value`
			}
			step.Fault("%s is not set%s", named, hint)
		}
		if known, ok := dsl.Known(s.value); ok {
			_, err := o.Form.Read(known)
			report(step, named, err)
		}
	}
}

func report(step *dsl.Step, field string, err error) {
	if err != nil {
		step.Fault("%s: %v", field, err)
	}
}

func required(step *dsl.Step, field string, v dsl.Value[string]) {
	// A parameter may be empty by default: the run sets it.
	if !v.IsSet() || strings.TrimSpace(v.String()) == "" {
		step.Fault("%s is not set", field)
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
