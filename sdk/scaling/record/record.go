// Package record reads what is known of runs as measurements for a scaling report, in the same way for the server and for its clients.
package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

// Metric says which number of a run is measured.
type Metric struct {
	Name string
	Step string // display name of the step that reports it; empty when only one step does
}

// Run is a run that has ended, as it is known.
type Run struct {
	ID, Name          string
	Started           time.Time
	Succeeded         bool
	Failure           string // why it did not succeed
	Pipeline, Version string // name, and id of the version; may be empty
	Parameters        map[string]string
	Steps             []Step
	Numbers           []Number
}

// Step is a step of a run, with what it gave.
type Step struct {
	ID, Label string
	Outputs   []Output
}

// Output is an output parameter of a step.
type Output struct{ Name, Value string }

// Number is a metric that a step reported.
type Number struct {
	StepID, Name string
	Value        float64
}

// OnlyOthers begins the reason of a run that has metrics, but not the one that is asked for.
const OnlyOthers = "it reported "

// Of reads one run.
func Of(r Run, m Metric) (scaling.Run, error) {
	run := scaling.Run{ID: r.ID, Name: r.Name, Started: r.Started, Parameters: r.Parameters, Facts: map[string]string{}, Asked: asked(r.Parameters)}
	for name, value := range map[string]string{"pipeline": r.Pipeline, "pipeline version": r.Version} {
		if value != "" {
			run.Facts[name] = value
		}
	}
	if !r.Succeeded {
		run.Failure = r.Failure
		return run, nil
	}
	measured, err := r.find(m)
	if err != nil {
		return run, err
	}
	if measured == nil {
		run.Failure = "it reported no metrics"
		if len(r.Numbers) > 0 {
			run.Failure = OnlyOthers + r.metrics()
		}
		return run, nil
	}
	run.Value = &measured.Value
	for _, s := range r.Steps {
		outputs(&run, s, s.ID == measured.StepID)
	}
	return run, nil
}

// Missing refuses a metric that no run has, when it is not that all of them failed.
func Missing(all []scaling.Run, m Metric) error {
	var others []string
	for _, r := range all {
		if r.Value != nil {
			return nil
		}
		if names, ok := strings.CutPrefix(r.Failure, OnlyOthers); ok && !slices.Contains(others, names) {
			others = append(others, names)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("no run has the metric %q; %s%s", m.Name, OnlyOthers, strings.Join(others, "; "))
}

// find gives the metric; nil when the run does not have it.
func (r *Run) find(m Metric) (*Number, error) {
	var found []*Number
	var labels []string
	for i := range r.Numbers {
		n := &r.Numbers[i]
		if label := r.Label(n.StepID); SameMetric(n.Name, m.Name) && (m.Step == "" || label == m.Step) {
			found, labels = append(found, n), append(labels, label)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("run %s: the steps %s report %s; choose one with --step", r.Name, strings.Join(labels, ", "), m.Name)
}

// Label is what people call a step.
func (r *Run) Label(id string) string {
	for _, s := range r.Steps {
		if s.ID == id {
			return s.Label
		}
	}
	return id
}

// SameMetric takes images-sec for images/sec: names of metrics in KFP have no slash.
func SameMetric(have, want string) bool {
	return have == want || have == strings.ReplaceAll(want, "/", "-")
}

func (r *Run) metrics() string {
	var names []string
	for _, n := range r.Numbers {
		if !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ", ")
}

// longestFact is how long a fact may be, in bytes.
const longestFact = 200

// outputs takes what a step gave as facts: versions, devices, a commit. The world size is that of the step that is measured.
func outputs(run *scaling.Run, s Step, measured bool) {
	for _, o := range s.Outputs {
		switch {
		case o.Name == "world-size" && measured:
			run.World, _ = strconv.Atoi(o.Value)
		case o.Name == "environment":
			environment(run, s, o.Value)
		case o.Name == "world-size", o.Name == "job-name": // a name is new in each run
		case o.Value != "" && len(o.Value) <= longestFact && !strings.Contains(o.Value, "\n"):
			run.Facts[s.Label+" "+o.Name] = o.Value
		}
	}
}

// environment takes what the launcher found out of a job's: a JSON object of texts.
func environment(run *scaling.Run, s Step, text string) {
	const most = 64
	var facts map[string]string
	if json.Unmarshal([]byte(text), &facts) != nil || len(facts) > most {
		return
	}
	for name, value := range facts {
		if value != "" && len(value) <= longestFact {
			run.Facts[s.Label+" "+name] = value
		}
	}
}

// asked is how many ranks the conventional names of parameters ask for; 0 when there is none of them.
func asked(parameters map[string]string) int {
	number := func(name string) int {
		n, err := strconv.Atoi(parameters[name])
		if err != nil {
			return 0
		}
		return n
	}
	return number("workers") * max(1, number("slots"), number("gpus"))
}

// Failed says in a line why a run did not succeed: the first of reasons that says something.
func Failed(reasons ...string) string {
	for _, text := range reasons {
		line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		if line != "" {
			return line
		}
	}
	return ""
}

// FailedStep is the reason that a step gives.
func FailedStep(label, message string) string { return "step " + label + ": " + message }
