package decompile_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Two workflows are equivalent when they unfold to the same pods. Unfolded, a workflow is a bag of steps, which have
// neither names nor an order: what a step is, is its template with all values in their places, an output of another step
// standing there as that step itself; the conditions and the items of the loops around it; and the steps that must have
// ended before, however many groups say so. What is written differently and means the same is written the same way: volumes
// stand where they are mounted, sequences are lists, pasted comparisons are expressions, $(NAME) and $$ are what Kubernetes
// makes of them. Beside the steps, the parameters and settings of the workflows must be the same.
type unfolded struct {
	Steps, Exit map[string]int // how often each is there
	Settings    map[string]any
}

// differing is what a is and b is not, one line after the other.
func differing(a, b unfolded) []string {
	var lines []string
	for i, steps := range []map[string]int{a.Steps, a.Exit} {
		for _, step := range slices.Sorted(maps.Keys(steps)) {
			if n := steps[step]; n != []map[string]int{b.Steps, b.Exit}[i][step] {
				lines = append(append(lines, fmt.Sprintf("%d times", n)), strings.Split(step, "\n")...)
			}
		}
	}
	return lines
}

type unfolder struct {
	t         *testing.T
	wf        *wfv1.Workflow
	templates map[string]*wfv1.Template
	bodies    map[string]string // of steps, by their marks
	steps     map[string]int
}

func unfold(t *testing.T, manifest []byte) unfolded {
	t.Helper()
	var wf wfv1.Workflow
	require.NoError(t, yaml.UnmarshalStrict(manifest, &wf), "%s", manifest)
	u := &unfolder{t: t, wf: &wf, templates: map[string]*wfv1.Template{}, bodies: map[string]string{}}
	for i := range wf.Spec.Templates {
		u.templates[wf.Spec.Templates[i].Name] = &wf.Spec.Templates[i]
	}
	u.dropExitTwin()
	out := unfolded{Steps: u.from(wf.Spec.Entrypoint), Exit: u.from(wf.Spec.OnExit), Settings: settingsOf(t, &wf)}
	return out
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
		return t.Template == u.wf.Spec.OnExit && len(dependencies(t)) == 0
	})
}

func (u *unfolder) from(name string) map[string]int {
	u.steps = map[string]int{}
	if name == "" {
		return u.steps
	}
	in := given{values: map[string]string{}}
	for _, p := range u.wf.Spec.Arguments.Parameters {
		in.values["inputs.parameters."+p.Name] = "<param " + p.Name + ">"
		in.values["workflow.parameters."+p.Name] = "<param " + p.Name + ">"
	}
	t := u.templates[name]
	require.NotNil(u.t, t, name)
	for _, p := range t.Inputs.Parameters {
		if _, ok := in.values["inputs.parameters."+p.Name]; !ok {
			require.NotNil(u.t, p.Value, p.Name)
			in.values["inputs.parameters."+p.Name] = p.Value.String()
		}
	}
	u.template(t, in, nil)
	return u.steps
}

// given is what a template is run with.
type given struct {
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
	if slices.Contains(stack, t.Name) {
		var args []string
		for _, k := range slices.Sorted(maps.Keys(in.values)) {
			if strings.HasPrefix(k, "inputs.") {
				args = append(args, k+"="+in.values[k])
			}
		}
		return u.step(map[string]any{"calls itself": args}, in, outputNames(t))
	}
	stack = append(slices.Clone(stack), t.Name)
	switch {
	case t.DAG != nil:
		return u.tasks(t, t.DAG.Tasks, in, stack)
	case t.Steps != nil:
		var tasks []wfv1.DAGTask
		var before []string
		for _, group := range t.Steps {
			var now []string
			for _, s := range group.Steps {
				tasks = append(tasks, wfv1.DAGTask{
					Name: s.Name, Template: s.Template, Arguments: s.Arguments, When: s.When, WithItems: s.WithItems,
					WithParam: s.WithParam, WithSequence: s.WithSequence, Dependencies: before,
				})
				now = append(now, s.Name)
			}
			before = now
		}
		return u.tasks(t, tasks, in, stack)
	}
	return u.step(u.pod(t, in), in, outputNames(t))
}

func outputNames(t *wfv1.Template) []string {
	var names []string
	for _, p := range t.Outputs.Parameters {
		names = append(names, "outputs.parameters."+p.Name)
	}
	for _, a := range t.Outputs.Artifacts {
		names = append(names, "outputs.artifacts."+a.Name)
	}
	return names
}

// step notes a step and gives it a mark, by which others know it.
func (u *unfolder) step(body map[string]any, in given, outputs []string) ran {
	around := slices.Clone(in.around)
	text, err := json.MarshalIndent(map[string]any{"pod": body, "around": around, "before": in.before}, "", " ")
	require.NoError(u.t, err)
	mark := fmt.Sprintf("%x", sha256.Sum256(text))[:12]
	u.bodies[mark] = string(text)
	u.steps[string(text)]++
	r := ran{outputs: map[string]string{}, marks: []string{mark}}
	for _, name := range outputs {
		r.outputs[name] = "<" + mark + "." + name + ">"
	}
	return r
}

func (u *unfolder) tasks(t *wfv1.Template, tasks []wfv1.DAGTask, in given, stack []string) ran {
	values := maps.Clone(in.values)
	done := map[string]ran{}
	closure := map[string][]string{}
	left := slices.Clone(tasks)
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(t wfv1.DAGTask) bool {
			return !slices.ContainsFunc(dependencies(t), func(d string) bool { _, ok := done[d]; return !ok })
		})
		require.GreaterOrEqual(u.t, i, 0, "a cycle")
		task := left[i]
		left = slices.Delete(left, i, i+1)
		before := slices.Clone(in.before)
		for _, d := range dependencies(task) {
			before = append(append(before, done[d].marks...), closure[d]...)
		}
		slices.Sort(before)
		before = slices.Compact(before)
		closure[task.Name] = before
		r := u.task(task, given{values: values, around: in.around, loops: in.loops, before: before}, stack)
		done[task.Name] = r
		for name, v := range r.outputs {
			values["tasks."+task.Name+"."+name], values["steps."+task.Name+"."+name] = v, v
		}
	}
	out := ran{outputs: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(done)) {
		out.marks = append(out.marks, done[name].marks...)
	}
	slices.Sort(out.marks)
	for _, p := range t.Outputs.Parameters {
		if p.ValueFrom != nil {
			v := fill(p.ValueFrom.Parameter, values)
			if p.ValueFrom.Expression != "" {
				v = expression(p.ValueFrom.Expression, values)
			}
			out.outputs["outputs.parameters."+p.Name] = v
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

func dependencies(t wfv1.DAGTask) []string {
	all := slices.Clone(t.Dependencies)
	for d := range strings.SplitSeq(t.Depends, "&&") {
		if d = strings.TrimSuffix(strings.TrimSpace(d), ".Succeeded"); d != "" {
			all = append(all, d)
		}
	}
	return all
}

// task runs a template with arguments, conditions and items.
func (u *unfolder) task(task wfv1.DAGTask, in given, stack []string) ran {
	values := maps.Clone(in.values)
	around, loops := slices.Clone(in.around), in.loops
	if items := itemsOf(u.t, task, values); items != "" {
		loops++
		values["item"] = fmt.Sprintf("<item %d>", loops)
		if !strings.HasPrefix(items, "[") || strings.ContainsAny(items, `\<>&`) { // there may be escapes in them
			values["item"] = fmt.Sprintf("<raw item %d>", loops)
		}
		values["(text of item)"] = fmt.Sprintf("<item %d>", loops)
		around = append(around, fmt.Sprintf("for each item %d of %s", loops, items))
	}
	if task.When != "" {
		for _, q := range questions(task.When, values) {
			around = append(around, "if "+q)
		}
	}
	t := u.templates[task.Template]
	require.NotNil(u.t, t, task.Template)
	inner := given{values: map[string]string{}, around: around, loops: loops, before: in.before}
	for k, v := range in.values {
		if strings.HasPrefix(k, "workflow.") {
			inner.values[k] = v
		}
	}
	for _, p := range t.Inputs.Parameters {
		switch {
		case p.Value != nil:
			inner.values["inputs.parameters."+p.Name] = p.Value.String()
		case p.Default != nil:
			inner.values["inputs.parameters."+p.Name] = p.Default.String()
		}
	}
	for _, a := range t.Inputs.Artifacts {
		inner.values["inputs.artifacts."+a.Name] = located(u.t, a, inner.values)
	}
	for _, p := range task.Arguments.Parameters {
		if p.Value != nil {
			inner.values["inputs.parameters."+p.Name] = fill(p.Value.String(), values)
		}
	}
	for _, a := range task.Arguments.Artifacts {
		v := located(u.t, a, values)
		if a.From != "" {
			v = fill(a.From, values)
		}
		inner.values["inputs.artifacts."+a.Name] = v
	}
	r := u.template(t, inner, stack)
	if loops > in.loops {
		for name, v := range r.outputs {
			r.outputs[name] = "<all of " + v + ">"
		}
	}
	return r
}

func itemsOf(t *testing.T, task wfv1.DAGTask, values map[string]string) string {
	text := ""
	switch {
	case len(task.WithItems) > 0:
		items, err := json.Marshal(task.WithItems)
		require.NoError(t, err)
		text = string(items)
	case task.WithParam != "":
		text = fill(task.WithParam, values)
	case task.WithSequence != nil:
		var items []any
		s := task.WithSequence
		start, end := 0, 0
		if s.Start != nil {
			start = s.Start.IntValue()
		}
		if end = start; s.Count != nil {
			end = start + s.Count.IntValue() - 1
		} else if s.End != nil {
			end = s.End.IntValue()
		}
		step := 1
		if end < start {
			step = -1
		}
		for n := start; n*step <= end*step; n += step {
			if s.Format != "" {
				items = append(items, fmt.Sprintf(s.Format, n))
			} else {
				items = append(items, n)
			}
		}
		out, err := json.Marshal(items)
		require.NoError(t, err)
		text = string(out)
	}
	var items any
	if json.Unmarshal([]byte(text), &items) == nil {
		out, err := json.Marshal(items)
		require.NoError(t, err)
		text = string(out)
	}
	return text
}
