package record

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

var (
	tryOf  = regexp.MustCompile(`\(\d+\)$`)              // train(2): the third try
	passOf = regexp.MustCompile(`(?s)^(.*?)\(\d+:.*\)$`) // train(2:0.01): the third pass
	// itemOf finds the items of loops among inputs, as Kubeflow Pipelines' SDKs name them.
	itemOf = regexp.MustCompile(`^(?:(.+)-)?loop-item(?:-param-[0-9a-z]+)?(?:-subvar-(.+))?$`)
)

// place says where a step is in a loop.
type place struct {
	name string // of the step, in all passes
	pass bool   // the step itself is a pass
	key  string // the same for all tries of the step
}

func (s *Step) place() place {
	own := tryOf.ReplaceAllString(s.Name, "")
	key := s.Around + "\x00" + own
	if found := passOf.FindStringSubmatch(own); found != nil {
		return place{found[1], true, key}
	}
	return place{own, false, key}
}

// loops finds the steps of a run that are in loops.
type loops struct {
	run    *Run
	places map[*Step]place
	passes map[*Step][]*Step // the passes around each step and the step itself if it is one, the outermost first
}

func newLoops(r *Run) *loops {
	l := &loops{r, map[*Step]place{}, map[*Step][]*Step{}}
	byID := map[string]*Step{}
	for i := range r.Steps {
		s := &r.Steps[i]
		byID[s.ID], l.places[s] = s, s.place()
	}
	for s := range l.places {
		for at := s; at != nil; at = byID[at.Around] {
			if l.places[at].pass {
				l.passes[s] = append(l.passes[s], at)
			}
		}
		slices.Reverse(l.passes[s])
	}
	return l
}

// instance is a step in one pass of its loop, with all its tries.
type instance struct {
	steps  []*Step
	passes []*Step // that it is in
}

// measured gives the instances of the step that is measured; none when it is in no loop.
func (l *loops) measured(m Metric) (all []*instance) {
	name := l.step(m)
	if name == "" {
		return nil
	}
	known := map[string]*instance{}
	for i := range l.run.Steps {
		s := &l.run.Steps[i]
		key := l.places[s].key
		if !s.Pod || l.places[s].name != name || m.Step != "" && m.Step != name && m.Step != s.Label {
			continue
		}
		if known[key] == nil {
			known[key] = &instance{passes: l.passes[s]}
			all = append(all, known[key])
		}
		known[key].steps = append(known[key].steps, s)
	}
	slices.SortStableFunc(all, func(a, b *instance) int { return a.steps[0].Started.Compare(b.steps[0].Started) })
	return all
}

// step finds the name of the step in a loop that is measured: the one that reports the metric. Where every pass failed it is the
// one that is asked for, else the distributed one, else the one that failed.
func (l *loops) step(m Metric) string {
	reports := func(s *Step) bool {
		return slices.ContainsFunc(l.run.Numbers, func(n Number) bool { return n.StepID == s.ID && l.run.reports(&n, m) })
	}
	distributed := func(s *Step) bool {
		return slices.ContainsFunc(s.Outputs, func(o Value) bool { return o.Name == "world-size" })
	}
	failed := func(s *Step) bool { return !l.run.Succeeded && !s.Succeeded }
	signs := []func(*Step) bool{reports, distributed, failed}
	if m.Step != "" {
		signs = []func(*Step) bool{reports, func(s *Step) bool { return l.places[s].name == m.Step || s.Label == m.Step }}
	}
	for _, fits := range signs {
		if name, some := l.sharedName(fits); some {
			return name
		}
	}
	return ""
}

// sharedName returns the name that all fitting steps share. It is empty when they have several, or when one is in no loop; some tells whether any fits.
func (l *loops) sharedName(fits func(*Step) bool) (name string, some bool) {
	for i := range l.run.Steps {
		s := &l.run.Steps[i]
		if !s.Pod || !fits(s) {
			continue
		}
		if len(l.passes[s]) == 0 || some && l.places[s].name != name {
			return "", true
		}
		name, some = l.places[s].name, true
	}
	return name, some
}

// each measures every pass. The run as a whole gives what the passes have in common.
func (l *loops) each(whole scaling.Run, found []*instance, m Metric) (all []Measurement) {
	for _, at := range found {
		run := whole
		run.Name += " " + at.steps[0].Label
		run.Started = at.steps[0].Started
		run.Facts, run.Parameters = maps.Clone(whole.Facts), maps.Clone(whole.Parameters)
		if run.Parameters == nil {
			run.Parameters = map[string]string{}
		}
		maps.Copy(run.Parameters, l.items(at))
		run.Asked = asked(run.Parameters)
		if run.Failure = at.failure(l.run); run.Failure == "" {
			l.value(&run, at, m)
		}
		l.facts(&run, at)
		all = append(all, Measurement{run, at.ids()})
	}
	return all
}

// failure says why no try of the step succeeded; empty when one did.
func (at *instance) failure(r *Run) string {
	var reasons []string
	for _, s := range at.steps {
		if s.Succeeded {
			return ""
		}
		reasons = append(reasons, s.Message)
	}
	slices.Reverse(reasons) // the last try first
	return Failed(append(reasons, r.Failure, "it did not succeed")...)
}

// ids are those of the tries that count: those that succeeded, else all.
func (at *instance) ids() (ids []string) {
	some := slices.ContainsFunc(at.steps, func(s *Step) bool { return s.Succeeded })
	for _, s := range at.steps {
		if s.Succeeded || !some {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// value takes the metric of a pass that succeeded.
func (l *loops) value(run *scaling.Run, at *instance, m Metric) {
	ids := at.ids()
	var own []Number
	for _, n := range l.run.Numbers {
		if !slices.Contains(ids, n.StepID) {
			continue
		}
		own = append(own, n)
		if SameMetric(n.Name, m.Name) {
			run.Value = &n.Value
		}
	}
	if run.Value == nil {
		run.Failure = none(own)
	}
}

// facts takes what the pass, a failed one too, and the steps around it gave.
func (l *loops) facts(run *scaling.Run, at *instance) {
	ids := at.ids()
	for i := range l.run.Steps {
		s := &l.run.Steps[i]
		if own := slices.Contains(ids, s.ID); own || s.Succeeded && l.beside(s, at) {
			outputs(run, cmp.Or(l.places[s].name, s.Label), s.Outputs, own)
		}
	}
}

// beside tells whether a step is in no other pass than those that the instance is in.
func (l *loops) beside(s *Step, at *instance) bool {
	for _, pass := range l.passes[s] {
		if !slices.ContainsFunc(at.passes, func(p *Step) bool { return l.places[p].key == l.places[pass].key }) {
			return false
		}
	}
	return true
}

// items are the fields of the items that the pass is of.
func (l *loops) items(at *instance) map[string]string {
	all := map[string]string{}
	for _, pass := range at.passes {
		for name, input := range l.given(pass) {
			if _, taken := all[name]; taken { // by the loop around this one
				name = input.Name
			}
			all[name] = input.Value
		}
	}
	return all
}

// given are the inputs of a pass that come from its loop, by the fields of the item. Where a loop is right around a container,
// as people write it in YAML, these are all inputs but the parameters of the run.
func (l *loops) given(pass *Step) map[string]Value {
	fields, others := map[string]Value{}, map[string]Value{}
	for _, in := range pass.Inputs {
		_, whole := l.run.Parameters[in.Name]
		if field := field(l.places[pass].name, in.Name); field != "" {
			fields[field] = in
		} else if pass.Pod && !whole {
			others[in.Name] = in
		}
	}
	if len(fields) > 0 {
		return fields
	}
	return others
}

// field is the part of a loop's item that an input carries: item for all of it; empty if the input does not come from the loop.
func field(loop, input string) string {
	if rest, own := strings.CutPrefix(input, loop+"-item"); own && (rest == "" || rest[0] == '-') {
		return cmp.Or(strings.TrimPrefix(rest, "-"), "item")
	}
	if found := itemOf.FindStringSubmatch(input); found != nil {
		return cmp.Or(found[2], found[1], "item")
	}
	return ""
}
