package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/manifest/meaning"
)

// Change is one difference between two workflows. From is empty for an addition, To for a removal.
type Change struct {
	// Step is the path from the entry point to the changed step, by the names of tasks, as in sweep/fit; empty for the workflow as a whole.
	Step string `json:"step,omitempty"`
	Path string `json:"path"` // as in container.args[3]
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
}

// unimportant are annotations that say when and by what a workflow was written, not what it does.
var unimportant = []string{
	"argosy.dev/sdk_version", "pipelines.kubeflow.org/kfp_sdk_version", "pipelines.kubeflow.org/pipeline_compilation_time",
}

// specAnnotation holds JSON; its layout has no meaning.
const specAnnotation = "pipelines.kubeflow.org/pipeline_spec"

// Diff returns what two workflows do differently. It follows both from their entry points, task by task, and ignores names and order of
// templates, the order of parameters, tasks and variables, and the style of YAML.
func Diff(a, b []byte) ([]Change, error) {
	left, err := load(a)
	if err != nil {
		return nil, fmt.Errorf("the first workflow: %s", explain(err))
	}
	right, err := load(b)
	if err != nil {
		return nil, fmt.Errorf("the second workflow: %s", explain(err))
	}
	d := &differ{a: left.templates, b: right.templates, seen: map[[2]string]bool{}}
	d.compare("", "", left.rest, right.rest)
	d.template("", "entrypoint", left.entry, right.entry)
	d.template("onExit", "onExit", left.exit, right.exit)
	return d.changes, nil
}

// DiffMeaning returns what two workflows do differently, however they are written. It also ignores names of templates, inputs and tasks,
// the grouping of tasks, and notes of the SDK that wrote them: package meaning defines the comparison.
func DiffMeaning(a, b []byte) ([]Change, error) {
	left, err := meaning.Of(a)
	if err != nil {
		return nil, fmt.Errorf("the first workflow: %s", explain(err))
	}
	right, err := meaning.Of(b)
	if err != nil {
		return nil, fmt.Errorf("the second workflow: %s", explain(err))
	}
	d := &differ{}
	d.compare("", "", left.Settings, right.Settings)
	for i, pairs := range [][]meaning.Pair{meaning.Differ(left.Steps, right.Steps), meaning.Differ(left.Exit, right.Exit)} {
		before := len(d.changes)
		for _, p := range pairs {
			if err := d.pair([]string{"", "onExit "}[i], p); err != nil {
				return nil, err
			}
		}
		if len(pairs) > 0 && len(d.changes) == before { // steps of the same name, or equal ones
			p := pairs[0]
			d.change(p.A.Path, "before", "equal steps that are wired", "otherwise")
		}
	}
	return d.changes, nil
}

// pair compares two steps.
func (d *differ) pair(prefix string, p meaning.Pair) error {
	var bodies [2]map[string]any
	step := ""
	for i, s := range []*meaning.Step{p.B, p.A} { // the name is that of the first workflow, if it has the step
		if s != nil {
			step = prefix + s.Path
			if err := json.Unmarshal([]byte(s.Body), &bodies[1-i]); err != nil {
				return fmt.Errorf("step %s: %w", step, err)
			}
		}
	}
	switch {
	case p.A == nil:
		d.change(step, "", nil, bodies[1])
	case p.B == nil:
		d.change(step, "", bodies[0], nil)
	default:
		for _, body := range bodies { // so that paths are those of a template
			pod, _ := body["pod"].(map[string]any)
			delete(body, "pod")
			maps.Copy(body, pod)
		}
		d.mappings(step, "", prune(bodies[0]).(map[string]any), prune(bodies[1]).(map[string]any))
	}
	return nil
}

// loaded is a workflow as plain data, taken apart.
type loaded struct {
	rest        any // all but the templates
	templates   map[string]map[string]any
	entry, exit string
}

func load(manifest []byte) (loaded, error) {
	wf, err := engine.Read(manifest)
	if err != nil {
		return loaded{}, err
	}
	if p := wf.Spec.Parallelism; p != nil && *p == 0 {
		wf.Spec.Parallelism = nil // the Python SDK writes 0 and means no limit
	}
	for _, name := range unimportant {
		delete(wf.Annotations, name)
	}
	l := loaded{templates: map[string]map[string]any{}, entry: wf.Spec.Entrypoint, exit: wf.Spec.OnExit}
	for i := range wf.Spec.Templates {
		data, err := plain(&wf.Spec.Templates[i])
		if err != nil {
			return loaded{}, err
		}
		delete(data, "name")
		l.templates[wf.Spec.Templates[i].Name] = data
	}
	wf.Spec.Templates, wf.Spec.Entrypoint, wf.Spec.OnExit = nil, "", ""
	wf.Status = wfv1.WorkflowStatus{}
	rest, err := plain(wf)
	if err != nil {
		return loaded{}, err
	}
	delete(rest, "status")
	l.rest = rest
	if m, ok := rest["metadata"].(map[string]any); ok {
		if notes, ok := m["annotations"].(map[string]any); ok {
			var spec any
			if text, ok := notes[specAnnotation].(string); ok && json.Unmarshal([]byte(text), &spec) == nil {
				notes[specAnnotation] = spec
			}
		}
	}
	return l, nil
}

// plain is a value as JSON has it, without what is empty.
func plain(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	pruned, _ := prune(out).(map[string]any)
	return pruned, nil
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e = prune(e); e == nil {
				delete(v, k)
			} else {
				v[k] = e
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			prune(v[i])
		}
	}
	return v
}

type differ struct {
	a, b    map[string]map[string]any
	seen    map[[2]string]bool // pairs of templates that were compared: recursion ends here
	changes []Change
}

func (d *differ) change(step, path string, from, to any) {
	d.changes = append(d.changes, Change{step, path, from, to})
}

// template compares what the two names stand for.
func (d *differ) template(step, path, a, b string) {
	left, right := d.a[a], d.b[b]
	switch {
	case left == nil || right == nil:
		if left == nil && right == nil && a == b {
			return // both lie in the cluster, or there is none
		}
		d.change(step, path, known(a, left), known(b, right))
	case !d.seen[[2]string{a, b}]:
		d.seen[[2]string{a, b}] = true
		d.compare(step, "", left, right)
	}
}

func known(name string, t map[string]any) any {
	switch {
	case name == "":
		return nil
	case t == nil:
		return name + " (which does not exist)"
	}
	return name
}

// compare finds the differences of two values and notes them.
func (d *differ) compare(step, path string, a, b any) {
	switch left := a.(type) {
	case map[string]any:
		if right, ok := b.(map[string]any); ok {
			d.mappings(step, path, left, right)
			return
		}
	case []any:
		if right, ok := b.([]any); ok {
			d.lists(step, path, left, right)
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		d.change(step, path, a, b)
	}
}

func (d *differ) mappings(step, path string, a, b map[string]any) {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		switch where := join(path, k); {
		case where == "dag.tasks" || where == "steps":
			d.tasks(step, tasksOf(a[k]), tasksOf(b[k]))
		case a[k] == nil || b[k] == nil:
			d.change(step, where, a[k], b[k])
		default:
			d.compare(step, where, a[k], b[k])
		}
	}
}

func join(path, k string) string {
	if path == "" {
		return k
	}
	return path + "." + k
}

// tasks compares the tasks of two DAGs, or the steps of two templates, by their names, and the templates they run.
func (d *differ) tasks(step string, a, b map[string]map[string]any) {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		left, right, inner := a[name], b[name], strings.TrimPrefix(step+"/"+name, "/")
		if left == nil || right == nil {
			d.change(inner, "", whole(left), whole(right))
			continue
		}
		l, leftTask := apart(left)
		r, rightTask := apart(right)
		d.compare(inner, "task", leftTask, rightTask)
		d.template(inner, "task.template", l, r)
	}
}

// apart separates a task and the name of its template: what that stands for is compared, not what it is called.
func apart(task map[string]any) (template string, rest map[string]any) {
	template, _ = task["template"].(string)
	rest = maps.Clone(task)
	delete(rest, "template")
	return template, rest
}

func whole(task map[string]any) any {
	if task == nil {
		return nil
	}
	return task
}

// tasksOf are tasks by their names. Steps note in which group they are.
func tasksOf(list any) map[string]map[string]any {
	tasks := map[string]map[string]any{}
	elements, _ := list.([]any)
	for i, e := range elements {
		switch e := e.(type) {
		case map[string]any:
			tasks[nameOf(e)] = e
		case []any:
			for _, s := range e {
				if m, ok := s.(map[string]any); ok {
					m["(group)"] = i + 1
					tasks[nameOf(m)] = m
				}
			}
		}
	}
	return tasks
}

func nameOf(m map[string]any) string {
	name, _ := m["name"].(string)
	return name
}

// lists compares lists: elements that have names are matched by name, lists without a meaning of order as sets, and
// all other lists in order.
func (d *differ) lists(step, path string, a, b []any) {
	left, leftNamed := byName(a)
	right, rightNamed := byName(b)
	if leftNamed && rightNamed {
		keys := maps.Clone(left)
		maps.Copy(keys, right)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			d.compare(step, path+"["+k+"]", left[k], right[k])
		}
		return
	}
	if path == "task.dependencies" {
		a, b = sorted(a), sorted(b)
	}
	i, j := 0, 0
	for _, p := range common(a, b) {
		// What stands in the same place between two likes was changed; what is left over was added or removed.
		for ; i < p.a && j < p.b; i, j = i+1, j+1 {
			d.compare(step, fmt.Sprintf("%s[%d]", path, i), a[i], b[j])
		}
		for ; i < p.a; i++ {
			d.change(step, fmt.Sprintf("%s[%d]", path, i), a[i], nil)
		}
		for ; j < p.b; j++ {
			d.change(step, fmt.Sprintf("%s[%d]", path, j), nil, b[j])
		}
		i, j = p.a+1, p.b+1
	}
}

func sorted(list []any) []any {
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y any) int { return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return list
}

func byName(list []any) (map[string]any, bool) {
	named := map[string]any{}
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return nil, false
		}
		name, ok := m["name"].(string)
		if !ok {
			name, ok = m["mountPath"].(string)
		}
		if _, twice := named[name]; !ok || twice {
			return nil, false
		}
		named[name] = e
	}
	return named, true
}

// pair is where an element of one list and its like in the other are.
type pair struct{ a, b int }

// common finds a longest common subsequence, and ends with the ends of both lists.
func common(a, b []any) []pair {
	const most = 2000 // elements; longer lists are compared one by one
	var pairs []pair
	if len(a) > most || len(b) > most {
		for i := range min(len(a), len(b)) {
			if reflect.DeepEqual(a[i], b[i]) {
				pairs = append(pairs, pair{i, i})
			}
		}
		return append(pairs, pair{len(a), len(b)})
	}
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	same := func(i, j int) bool { return reflect.DeepEqual(a[i], b[j]) }
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(i, j) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case same(i, j):
			pairs = append(pairs, pair{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return append(pairs, pair{len(a), len(b)})
}
