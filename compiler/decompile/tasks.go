package decompile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// job is a task of a DAG, or a step of a list of steps.
type job struct {
	*object
	name  string
	after []string
}

// isGroup says whether a template runs others.
func isGroup(t *object) bool { return t.has("dag") || t.has("steps") }

// nodes raises the tasks of a template. What they give is in the scope then.
func (r tasks) nodes(t *object, s *scope) []graph.Node {
	jobs := r.jobs(t)
	t.get("metadata") // of pods that a group does not have
	t.get("name")
	t.get("inputs")  // they are in the scope already
	t.get("outputs") // read where they are needed
	if n := t.number("parallelism"); n > 0 && n < r.atOnce(jobs) {
		t.fault("parallelism: %d of some of the steps cannot be expressed in the DSL, which has one for the whole pipeline", n)
	}
	if n := t.get("failFast"); n != nil && n.Value != "true" {
		t.fault("failFast: false cannot be expressed in the DSL")
	}
	t.finish()
	if dag := t.object("dag"); dag != nil {
		dag.get("tasks")
		if n := dag.get("failFast"); n != nil && n.Value != "true" {
			dag.fault("failFast: false cannot be expressed in the DSL")
		}
		dag.finish()
	}
	names := map[string]string{} // of nodes, by those of tasks
	var nodes []graph.Node
	for _, j := range jobs {
		if r.isExitTwin(j, t, jobs) {
			continue
		}
		n := r.job(j, s)
		for _, before := range j.after {
			name, known := names[before]
			if !known {
				j.fault("it waits for %q, which is not a task beside it, or waits for it", before)
			} else if !slices.Contains(n.After, name) {
				n.After = append(n.After, name)
			}
		}
		names[j.name] = n.Name
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		t.fault("it has no tasks")
	}
	return nodes
}

// atOnce is how many pods tasks may have at a time at most, as far as that is known.
func (r tasks) atOnce(jobs []job) int64 {
	for _, j := range jobs {
		if t := r.templates[j.text("template")]; t == nil || isGroup(t) || j.has("withItems") || j.has("withParam") || j.has("withSequence") {
			return math.MaxInt64
		}
	}
	return int64(len(jobs))
}

// isExitTwin says whether a task is the exit handler, which Kubeflow Pipelines' first SDKs name twice: the server runs it
// at the end only.
func (r tasks) isExitTwin(j job, t *object, jobs []job) bool {
	if r.exit == "" || j.text("template") != r.exit || len(j.after) > 0 || !r.fromSDK || t != r.templates[r.entry] || !t.has("dag") {
		return false
	}
	return !slices.ContainsFunc(jobs, func(other job) bool { return slices.Contains(other.after, j.name) })
}

// jobs reads the tasks of a template in an order in which each comes after those that it waits for.
func (r tasks) jobs(t *object) []job {
	var jobs []job
	if dag := t.object("dag"); dag != nil {
		for _, o := range dag.list("tasks") {
			j := job{object: o, name: o.text("name"), after: o.texts("dependencies")}
			if depends := o.text("depends"); depends != "" {
				j.after = append(j.after, r.depends(o, depends)...)
			}
			jobs = append(jobs, j)
		}
		r.checkDepends(jobs)
	}
	if steps := t.get("steps"); steps != nil {
		jobs = append(jobs, r.steplist(t, steps)...)
	}
	return inOrder(jobs)
}

// steplist reads lists of steps: each list waits for the one before it.
func (r tasks) steplist(t *object, steps *yaml.Node) []job {
	var jobs []job
	var before []string
	for i, group := range steps.Content {
		if group.Kind == yaml.AliasNode {
			group = group.Alias
		}
		list := group
		if group.Kind == yaml.MappingNode { // a single step, without its list
			list = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{group}}
		}
		holder := &object{path: t.path, all: &r.reader, node: &yaml.Node{
			Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "steps"}, list},
		}}
		var now []string
		for _, o := range holder.list("steps") {
			o.path = fmt.Sprintf("%s.steps[%d]%s", t.path, i, strings.TrimPrefix(o.path, t.path+".steps"))
			j := job{object: o, name: o.text("name"), after: before}
			now = append(now, j.name)
			jobs = append(jobs, j)
		}
		before = now
	}
	return jobs
}

// depends reads "a && b.Succeeded", the part of Argo's language that dependencies can say too.
func (r tasks) depends(o *object, text string) []string {
	var names []string
	for part := range strings.SplitSeq(text, "&&") {
		name := strings.TrimSuffix(strings.TrimSpace(part), ".Succeeded")
		if name == "" || strings.ContainsAny(name, ".|!() ") {
			o.fault("depends: %q cannot be expressed in the DSL: steps wait for others that succeed", text)
			return nil
		}
		names = append(names, name)
	}
	return names
}

// checkDepends refuses to wait for the success of what may be passed over: others than Argo, who then passes over the
// task too, the DSL goes on.
func (r tasks) checkDepends(jobs []job) {
	for _, j := range jobs {
		for part := range strings.SplitSeq(j.text("depends"), "&&") {
			name, success := strings.CutSuffix(strings.TrimSpace(part), ".Succeeded")
			if i := slices.IndexFunc(jobs, func(o job) bool { return o.name == name }); success && i >= 0 && jobs[i].text("when") != "" {
				j.fault("depends: %s.Succeeded cannot be expressed in the DSL, where a task runs too when one that it waits for was passed over", name)
			}
		}
	}
}

// inOrder sorts jobs so that values are there before they are used, and otherwise leaves them as they are.
func inOrder(jobs []job) []job {
	byName := map[string]int{}
	for i, j := range jobs {
		byName[j.name] = i
	}
	var out []job
	visited := make([]bool, len(jobs))
	var visit func(int)
	visit = func(i int) {
		if visited[i] {
			return
		}
		visited[i] = true
		for _, name := range jobs[i].after {
			if k, ok := byName[name]; ok {
				visit(k)
			}
		}
		out = append(out, jobs[i])
	}
	for i := range jobs {
		visit(i)
	}
	return out
}

// job raises one task, with the loop and the conditions that are around it.
func (r tasks) job(j job, s *scope) graph.Node {
	here := s.within(j.object)
	here.env = nil
	t := r.templates[j.text("template")]
	if t == nil {
		if ref := j.object.object("templateRef"); ref != nil {
			j.fault("template %s of WorkflowTemplate %s lies in the cluster, and cannot be expressed in the DSL", ref.text("template"), ref.text("name"))
		} else {
			j.fault("its template %q is not in the workflow", j.text("template"))
		}
		return graph.Node{Name: r.free("gone")}
	}
	for _, key := range []string{"name", "dependencies", "depends", "template"} {
		j.get(key)
	}
	var n graph.Node
	var out outputs
	switch when := j.text("when"); {
	case j.has("withItems") || j.has("withParam") || j.has("withSequence"):
		n, out = r.loop(j, t, here, when)
	case when != "":
		n = r.guarded(j, t, here, when)
		out.lost = "the step may not have run: in the DSL its values can be used inside of its If only, or by OneOf with those of the other branches"
	default:
		n, out = r.direct(j, t, here)
	}
	s.tasks[j.name] = out
	j.finish()
	return n
}

// direct raises what a task runs.
func (r tasks) direct(j job, t *object, s *scope) (graph.Node, outputs) {
	switch {
	case !isGroup(t):
		return steps(r).step(j.name, t, r.call(j, t, s))
	case isChoice(t):
		return r.choice(t, r.call(j, t, s))
	}
	return r.callSub(j, t, s)
}

// contents raises what a condition or a loop holds.
func (r tasks) contents(j job, t *object, s *scope) ([]graph.Node, outputs) {
	name := j.text("template")
	if isGroup(t) && !isChoice(t) && r.uses[name] == 1 {
		inside := r.call(j, t, s)
		if s.item != nil {
			inside.loop = s.item.loop
		}
		nodes := r.nodes(t, inside)
		return nodes, r.exports(t, inside)
	}
	n, out := r.direct(j, t, s)
	return []graph.Node{n}, out
}

// guarded raises a task with conditions.
func (r tasks) guarded(j job, t *object, s *scope, when string) graph.Node {
	conditions := r.conditions(s, when)
	var names []string
	for range conditions {
		names = append(names, r.group("condition"))
	}
	nodes, _ := r.contents(j, t, s)
	for i, c := range slices.Backward(conditions) {
		nodes = []graph.Node{{Name: names[i], Kind: "If", If: &graph.If{Cond: c, Nodes: nodes}}}
	}
	return nodes[0]
}

// loop raises a task that runs once for each item.
func (r tasks) loop(j job, t *object, s *scope, when string) (graph.Node, outputs) {
	n := graph.Node{Name: r.group("for-loop"), Kind: "Each", Each: &graph.Each{Items: r.items(j, s)}}
	s.item = &item{loop: n.Name}
	if _, known := n.Each.Items.Constant(); known { // values in them may have escapes, which stay as they are
		s.item.constants, _ = n.Each.Items.List()
	}
	r.types.items[n.Name] = s.item
	r.around = append([]string{n.Name}, r.around...)
	var inner outputs
	if when != "" {
		n.Each.Nodes = []graph.Node{r.guarded(j, t, s, when)}
		inner.lost = "the step may not have run in all passes of the loop, and the DSL collects from all"
	} else {
		n.Each.Nodes, inner = r.contents(j, t, s)
	}
	r.around = r.around[1:]
	if s.item.quoted && s.item.plain {
		j.fault("the item is used both as it is and as text whose escapes are taken back, which are two types in the DSL")
	}
	out := outputs{lost: inner.lost, params: map[string]graph.Text{}, files: map[string]file{}}
	for name, v := range inner.params {
		if len(v) != 1 || v[0].Ref == nil || v[0].Ref.Step == "" {
			out.lost = "the DSL collects the outputs of steps, and nothing that is put together"
			continue
		}
		ref := *v[0].Ref
		ref.Collected++
		out.params[name] = refText(ref)
	}
	return n, out
}

// items reads what a loop goes through.
func (r tasks) items(j job, s *scope) graph.Text {
	if list := j.get("withItems"); list != nil {
		text, err := jsonOf(list)
		if err != nil || list.Kind != yaml.SequenceNode {
			r.fault(list, joinPath(j.path, "withItems"), "it must be a list of items")
		}
		if !strings.Contains(text, "{{") {
			return graph.Text{{Text: text}}
		}
		items := r.text(s, text)
		if _, err := items.List(); err != nil {
			r.fault(list, joinPath(j.path, "withItems"), "variables in items can stand in texts only in the DSL")
		}
		return items
	}
	if seq := j.object.object("withSequence"); seq != nil {
		return graph.Text{{Text: steps(r).sequence(seq)}}
	}
	items := r.text(s, j.text("withParam"))
	if text, ok := items.Constant(); len(items) != 1 || ok && (!json.Valid([]byte(text)) || compact(text)[0] != '[') {
		j.fault("withParam: it must be one value, which is a list, in the DSL")
	}
	r.types.compared(r.sub, items, graph.List)
	return items
}
