// Package meaning reduces a workflow to what it does, independent of how it is written.
//
// A workflow becomes a bag of steps without names and order. A step consists of its template with all values filled in, where an output of
// another step is represented by that step; the conditions and loop items around it; and the steps that must have ended before, through any
// number of groups. Different spellings with the same effect become equal: volumes appear where they are mounted, sequences are lists,
// pasted comparisons are expressions, $(NAME) and $$ are as Kubernetes expands them, and outputs are the files that they are read from.
package meaning

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/server/engine"
)

// Meaning is what a workflow does.
type Meaning struct {
	Steps, Exit []Step         // Exit runs at the end
	Settings    map[string]any // of the workflow as a whole, its parameters among them
}

// Step is one that a workflow runs.
type Step struct {
	Path string // the tasks around it and its own, as in sweep/fit; two steps may be equal all the same
	Mark string // names the step in other steps; equal steps have equal marks
	Body string // JSON of what it does, and when
}

// Of unfolds a workflow.
func Of(manifest []byte) (*Meaning, error) {
	wf, err := engine.Read(manifest)
	if err != nil {
		return nil, err
	}
	u := &unfolder{wf: wf, templates: map[string]*wfv1.Template{}}
	for i := range wf.Spec.Templates {
		u.templates[wf.Spec.Templates[i].Name] = &wf.Spec.Templates[i]
	}
	u.dropExitTwin()
	out := &Meaning{Steps: u.from(wf.Spec.Entrypoint), Exit: u.from(wf.Spec.OnExit)}
	if out.Settings, err = settings(wf, manifest); err != nil {
		return nil, err
	}
	return out, u.err
}

// Bag counts equal steps.
func Bag(steps []Step) map[string]int {
	bag := map[string]int{}
	for _, s := range steps {
		bag[s.Body]++
	}
	return bag
}

type unfolder struct {
	wf        *wfv1.Workflow
	templates map[string]*wfv1.Template
	steps     []Step
	first     map[string]string // what the tasks gave with which the workflow begins
	calls     int
	err       error
}

// mostCalls is how often templates may be run before a workflow is too large to unfold.
const mostCalls = 50000

func (u *unfolder) fail(format string, args ...any) {
	if u.err == nil {
		u.err = fmt.Errorf(format, args...)
	}
}

// dropExitTwin takes the exit handler out of the first tasks, as the server does: Kubeflow Pipelines' first SDKs name it
// twice.
func (u *unfolder) dropExitTwin() {
	_, own := u.wf.Annotations["argosy.dev/sdk_version"]
	entry := u.templates[u.wf.Spec.Entrypoint]
	if own || u.wf.Spec.ServiceAccountName != "pipeline-runner" || entry == nil || entry.DAG == nil {
		return
	}
	entry.DAG.Tasks = slices.DeleteFunc(entry.DAG.Tasks, func(t wfv1.DAGTask) bool {
		names, _ := dependencies(t)
		return t.Template == u.wf.Spec.OnExit && len(names) == 0
	})
}

func (u *unfolder) from(name string) []Step {
	u.steps, u.first = nil, map[string]string{}
	if name == "" {
		return nil
	}
	in := given{values: map[string]string{}}
	for _, p := range u.wf.Spec.Arguments.Parameters {
		in.values["inputs.parameters."+p.Name] = "<param " + p.Name + ">"
		in.values["workflow.parameters."+p.Name] = "<param " + p.Name + ">"
	}
	t := u.templates[name]
	if t == nil {
		u.fail("there is no template %q", name)
		return nil
	}
	for _, p := range t.Inputs.Parameters {
		if _, ok := in.values["inputs.parameters."+p.Name]; !ok && p.Value != nil {
			in.values["inputs.parameters."+p.Name] = p.Value.String()
		}
	}
	u.template(t, in, nil)
	return u.steps
}

// given is what a template is run with.
type given struct {
	path   []string          // the tasks
	values map[string]string // by the paths of Argo's variables
	around []string          // the conditions and loops
	loops  int
	before []string // marks of steps
}

// ran is what a template gave: values by the ends of their paths, and the marks of its steps.
type ran struct {
	outputs map[string]string
	marks   []string
}

func (u *unfolder) template(t *wfv1.Template, in given, stack []string) ran {
	if u.calls++; u.calls > mostCalls {
		u.fail("it is too large: templates are run more than %d times", mostCalls)
	}
	if u.err != nil {
		return ran{}
	}
	if slices.Contains(stack, t.Name) {
		var args []string
		for _, k := range slices.Sorted(maps.Keys(in.values)) {
			if strings.HasPrefix(k, "inputs.") {
				args = append(args, in.values[k])
			}
		}
		slices.Sort(args)
		return u.step(map[string]any{"calls itself": args}, in, exports(t))
	}
	stack = append(slices.Clone(stack), t.Name)
	switch {
	case t.DAG != nil:
		if t.DAG.FailFast != nil && !*t.DAG.FailFast {
			in.around = append(slices.Clone(in.around), "go on when a step fails")
		}
		return u.tasks(t, t.DAG.Tasks, u.limited(t, t.DAG.Tasks, in), stack)
	case t.Steps != nil:
		tasks := tasksOf(t)
		return u.tasks(t, tasks, u.limited(t, tasks, in), stack)
	}
	return u.step(u.pod(t, in), in, outputs(t))
}

// limited notes that a template runs few steps at a time, where there may be more.
func (u *unfolder) limited(t *wfv1.Template, tasks []wfv1.DAGTask, in given) given {
	if t.Parallelism == nil || *t.Parallelism == 0 {
		return in
	}
	atOnce := int64(0)
	for _, task := range tasks {
		if inner := u.templates[task.Template]; inner == nil || inner.DAG != nil || inner.Steps != nil || loops(task) {
			atOnce = *t.Parallelism + 1
		}
		atOnce++
	}
	if atOnce > *t.Parallelism {
		in.around = append(slices.Clone(in.around), fmt.Sprintf("at most %d at a time", *t.Parallelism))
	}
	return in
}

func loops(t wfv1.DAGTask) bool {
	return len(t.WithItems) > 0 || t.WithParam != "" || t.WithSequence != nil
}

// tasksOf are lists of steps as tasks.
func tasksOf(t *wfv1.Template) []wfv1.DAGTask {
	var tasks []wfv1.DAGTask
	var before []string
	for _, group := range t.Steps {
		var now []string
		for _, s := range group.Steps {
			tasks = append(tasks, wfv1.DAGTask{
				Name: s.Name, Template: s.Template, TemplateRef: s.TemplateRef, Arguments: s.Arguments, When: s.When, WithItems: s.WithItems,
				WithParam: s.WithParam, WithSequence: s.WithSequence, ContinueOn: s.ContinueOn, Hooks: s.Hooks, Dependencies: before,
			})
			now = append(now, s.Name)
		}
		before = now
	}
	return tasks
}

// outputs are what a step gives: for the ends of their paths, the files that they are read from.
func outputs(t *wfv1.Template) map[string]string {
	names := map[string]string{}
	for _, p := range t.Outputs.Parameters {
		names["outputs.parameters."+p.Name] = "value " + source(p)
	}
	for _, a := range t.Outputs.Artifacts {
		names["outputs.artifacts."+a.Name] = "file " + a.Path
	}
	return names
}

// exports are what a template of tasks gives, where it is not known of what.
func exports(t *wfv1.Template) map[string]string {
	names := map[string]string{}
	for _, p := range t.Outputs.Parameters {
		names["outputs.parameters."+p.Name] = "value " + p.Name
	}
	for _, a := range t.Outputs.Artifacts {
		names["outputs.artifacts."+a.Name] = "file " + a.Name
	}
	return names
}

// source is where an output is read from.
func source(p wfv1.Parameter) string {
	from := p.ValueFrom
	switch {
	case from == nil:
		return "named " + p.Name
	case from.Path != "":
		return from.Path
	case from.JSONPath != "":
		return from.JSONPath
	}
	text, err := json.Marshal(from)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// step records a step under a mark that names it in other steps.
func (u *unfolder) step(body map[string]any, in given, outputs map[string]string) ran {
	whole := map[string]any{"pod": body}
	if len(in.around) > 0 {
		whole["around"] = in.around
	}
	if len(in.before) > 0 {
		whole["before"] = in.before
	}
	text, err := json.MarshalIndent(whole, "", " ")
	if err != nil {
		u.fail("%w", err)
	}
	mark := fmt.Sprintf("%x", sha256.Sum256(text))[:12]
	u.steps = append(u.steps, Step{strings.Join(in.path, "/"), mark, string(text)})
	r := ran{outputs: map[string]string{}, marks: []string{mark}}
	for name, from := range outputs {
		r.outputs[name] = "<" + mark + " " + from + ">"
	}
	return r
}

func (u *unfolder) tasks(t *wfv1.Template, tasks []wfv1.DAGTask, in given, stack []string) ran {
	values := maps.Clone(in.values)
	done, closure := map[string]ran{}, map[string][]string{}
	left := slices.Clone(tasks)
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(t wfv1.DAGTask) bool {
			names, _ := dependencies(t)
			return !slices.ContainsFunc(names, func(d string) bool { _, ok := done[d]; return !ok })
		})
		if i < 0 {
			u.fail("tasks of template %s wait for each other, or for what is not there", t.Name)
			return ran{}
		}
		task := left[i]
		left = slices.Delete(left, i, i+1)
		before := slices.Clone(in.before)
		names, only := dependencies(task)
		for _, d := range names {
			before = append(append(before, done[d].marks...), closure[d]...)
		}
		slices.Sort(before)
		before = slices.Compact(before)
		closure[task.Name] = before
		here := given{path: append(slices.Clone(in.path), task.Name), values: values, around: in.around, loops: in.loops, before: before}
		if only != "" {
			here.around = append(slices.Clone(here.around), "if "+only)
		}
		r := u.task(task, here, stack)
		done[task.Name] = r
		for name, v := range r.outputs {
			values["tasks."+task.Name+"."+name], values["steps."+task.Name+"."+name] = v, v
			if len(stack) == 1 {
				u.first["tasks."+task.Name+"."+name] = v
			}
		}
	}
	out := ran{outputs: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(done)) {
		out.marks = append(out.marks, done[name].marks...)
	}
	slices.Sort(out.marks)
	for _, p := range t.Outputs.Parameters {
		if from := p.ValueFrom; from != nil && from.Expression != "" {
			out.outputs["outputs.parameters."+p.Name] = expression(from.Expression, values)
		} else if from != nil {
			out.outputs["outputs.parameters."+p.Name] = fill(from.Parameter, values)
		}
	}
	for _, a := range t.Outputs.Artifacts {
		v := fill(a.From, values)
		if a.FromExpression != "" {
			v = expression(a.FromExpression, values)
		}
		out.outputs["outputs.artifacts."+a.Name] = v
	}
	return out
}

// dependencies are the tasks that one waits for; and what else it asks of them, in words.
func dependencies(t wfv1.DAGTask) (names []string, only string) {
	names = slices.Clone(t.Dependencies)
	for d := range strings.SplitSeq(t.Depends, "&&") {
		d = strings.TrimSpace(d)
		if strings.ContainsAny(d, "|!()") || strings.Contains(strings.TrimSuffix(d, ".Succeeded"), ".") {
			return words(t.Depends), t.Depends
		}
		if d = strings.TrimSuffix(d, ".Succeeded"); d != "" {
			names = append(names, d)
		}
	}
	return names, ""
}

// words are the tasks that an expression of depends names.
func words(depends string) []string {
	var names []string
	for _, word := range strings.FieldsFunc(depends, func(r rune) bool { return strings.ContainsRune("|&!() ", r) }) {
		name, _, _ := strings.Cut(word, ".")
		names = append(names, name)
	}
	return names
}

// task runs a template with arguments, conditions and items.
func (u *unfolder) task(task wfv1.DAGTask, in given, stack []string) ran {
	values := maps.Clone(in.values)
	around, depth := slices.Clone(in.around), in.loops
	if loops(task) {
		items, constants := u.items(task, values)
		depth++
		u.nameItems(values, depth, items, constants)
		around = append(around, fmt.Sprintf("for each item %d of %s", depth, items))
	}
	if task.When != "" {
		for _, q := range questions(task.When, values) {
			around = append(around, "if "+q)
		}
	}
	if task.ContinueOn != nil {
		around = append(around, fmt.Sprintf("others go on when it fails %v or has errors %v", task.ContinueOn.Failed, task.ContinueOn.Error))
	}
	if len(task.Hooks) > 0 || task.OnExit != "" || task.Inline != nil {
		u.fail("task %s has hooks or a template of its own in it", task.Name)
	}
	t := u.templates[task.Template]
	if t == nil {
		u.fail("task %s runs the template %q, which is not in the workflow", task.Name, task.Template)
		return ran{}
	}
	inner := given{path: in.path, values: map[string]string{}, around: around, loops: depth, before: in.before}
	for k, v := range in.values {
		if strings.HasPrefix(k, "workflow.") {
			inner.values[k] = v
		}
	}
	u.arguments(t, task.Arguments, values, inner.values)
	r := u.template(t, inner, stack)
	if depth > in.loops {
		for name, v := range r.outputs {
			r.outputs[name] = "<all of " + v + ">"
		}
	}
	return r
}

// arguments gives the inputs of a template their values.
func (u *unfolder) arguments(t *wfv1.Template, args wfv1.Arguments, values, inner map[string]string) {
	for _, p := range t.Inputs.Parameters {
		switch {
		case p.Value != nil:
			inner["inputs.parameters."+p.Name] = p.Value.String()
		case p.Default != nil:
			inner["inputs.parameters."+p.Name] = p.Default.String()
		}
	}
	for _, p := range args.Parameters {
		if p.Value != nil {
			inner["inputs.parameters."+p.Name] = fill(p.Value.String(), values)
		}
	}
	for _, a := range t.Inputs.Artifacts {
		inner["inputs.artifacts."+a.Name] = u.located(a, inner)
	}
	for _, a := range args.Artifacts {
		v := fill(a.From, values)
		if a.From == "" {
			v = u.located(a, values)
		}
		inner["inputs.artifacts."+a.Name] = v
	}
}
