// Package record turns runs into measurements for a scaling report, for the server and for its clients.
//
// A run gives one measurement. A run whose measured step is in a loop gives one for each pass of the loop.
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
	Step string // the step that reports it, by its name or by its label; empty when only one does
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

// Step is a node of a run, with what it was given and what it gave.
type Step struct {
	ID, Label string
	// Name is the node's own, without those of the nodes around it: "train", and in the pass of a loop "train(2:0.01)".
	Name string
	// Around is the id of the node that it is a part of; empty for the whole run.
	Around    string
	Pod       bool // it runs a pod, or tries several
	Succeeded bool
	Message   string // why it did not succeed, as the workflow engine says
	Started   time.Time
	Inputs    []Value
	Outputs   []Value
}

// Value is a parameter that a step was given, or that it gave.
type Value struct{ Name, Value string }

// Measurement is what a run, or a pass of a loop in it, gives to a report.
type Measurement struct {
	scaling.Run
	steps []string // the ids of the steps that were measured, where it is one of several of the run
}

// Number is a metric that a step reported.
type Number struct {
	StepID, Name string
	Value        float64
}

// OnlyOthers begins the reason of a run that has metrics, but not the one that is asked for.
const OnlyOthers = "it reported "

// Of reads one run. It gives one measurement, or one for each pass of the loop that the measured step is in.
func Of(r Run, m Metric) ([]Measurement, error) {
	run := scaling.Run{ID: r.ID, Name: r.Name, Started: r.Started, Parameters: r.Parameters, Facts: map[string]string{}, Asked: asked(r.Parameters)}
	for name, value := range map[string]string{"pipeline": r.Pipeline, "pipeline version": r.Version} {
		if value != "" {
			run.Facts[name] = value
		}
	}
	l := newLoops(&r)
	if found := l.measured(m); len(found) > 0 {
		return l.each(run, found, m), nil
	}
	if !r.Succeeded {
		run.Failure = r.Failure
		return []Measurement{{Run: run}}, nil
	}
	measured, err := r.find(m)
	if err != nil {
		return nil, err
	}
	if measured == nil {
		run.Failure = none(r.Numbers)
		return []Measurement{{Run: run}}, nil
	}
	run.Value = &measured.Value
	for _, s := range r.Steps {
		outputs(&run, s.Label, s.Outputs, s.ID == measured.StepID)
	}
	return []Measurement{{Run: run}}, nil
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
		if r.reports(n, m) {
			found, labels = append(found, n), append(labels, r.Label(n.StepID))
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

// reports tells whether a number is of the metric.
func (r *Run) reports(n *Number, m Metric) bool {
	return SameMetric(n.Name, m.Name) && (m.Step == "" || r.Label(n.StepID) == m.Step || r.StepName(n.StepID) == m.Step)
}

// Label is what people call a step.
func (r *Run) Label(id string) string {
	if s := r.step(id); s != nil {
		return s.Label
	}
	return id
}

// StepName is what people call a step in all passes of its loop.
func (r *Run) StepName(id string) string {
	if s := r.step(id); s != nil {
		return s.place().name
	}
	return id
}

func (r *Run) step(id string) *Step {
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return &r.Steps[i]
		}
	}
	return nil
}

// SameMetric takes images-sec for images/sec: KFP refuses names with a slash, so pipelines made for KFP report images-sec.
func SameMetric(have, want string) bool {
	return have == want || have == strings.ReplaceAll(want, "/", "-")
}

// none says that the metric is not among the numbers.
func none(numbers []Number) string {
	var names []string
	for _, n := range numbers {
		if !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return "it reported no metrics"
	}
	return OnlyOthers + strings.Join(names, ", ")
}

// longestFact is how long a fact may be, in bytes.
const longestFact = 200

// outputs takes what a step gave as facts: versions, devices, a commit. The world size is that of the step that is measured.
func outputs(run *scaling.Run, step string, given []Value, measured bool) {
	for _, o := range given {
		switch {
		case o.Name == "world-size" && measured:
			run.World, _ = strconv.Atoi(o.Value)
		case o.Name == "environment":
			environment(run, step, o.Value)
		case o.Name == "world-size", o.Name == "job-name": // a name is new in each run
		case o.Value != "" && len(o.Value) <= longestFact && !strings.Contains(o.Value, "\n"):
			run.Facts[step+" "+o.Name] = o.Value
		}
	}
}

// environment takes what the launcher found out of a job's: a JSON object of texts.
func environment(run *scaling.Run, step, text string) {
	const most = 64
	var facts map[string]string
	if json.Unmarshal([]byte(text), &facts) != nil || len(facts) > most {
		return
	}
	for name, value := range facts {
		switch {
		case name == bandwidth:
			run.Bandwidth, _ = strconv.ParseFloat(strings.TrimSuffix(value, " GB/s"), 64)
		case name == bandwidthProbe:
			run.Probe = strings.TrimPrefix(value, "none: ")
		case value != "" && len(value) <= longestFact:
			run.Facts[step+" "+name] = value
		}
	}
}

// The facts of the launcher's bandwidth probe. They are other in each run, and no difference between runs.
const (
	bandwidth      = "bus bandwidth"   // as in 3.13 GB/s
	bandwidthProbe = "bandwidth probe" // how it was measured, or why it was not
)

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
