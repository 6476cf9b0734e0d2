package decompile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// enter begins a closure of the source; leave ends it.
func (d *decompiler) enter() {
	d.closures++
	d.around = append(d.around, d.closures)
}

func (d *decompiler) leave() { d.around = d.around[:len(d.around)-1] }

// define writes a variable: as such, for the whole function where it outlives the closure that sets it, or not at all
// where nobody uses it. Kind is its type where it must be declared.
func (d *decompiler) define(variable, code, kind string) string {
	d.defined[variable] = slices.Clone(d.around)
	switch {
	case !d.uses[variable]:
		return code + "\n"
	case d.outlives[variable]:
		d.declared = append(d.declared, fmt.Sprintf("var %s %s\n", variable, kind))
		return variable + " = " + code + "\n"
	}
	return variable + " := " + code + "\n"
}

// use notes that a variable is used here.
func (d *decompiler) use(variable string) {
	where, ok := d.defined[variable]
	if !ok {
		return
	}
	d.uses[variable] = true
	if len(where) > len(d.around) || !slices.Equal(where, d.around[:len(where)]) {
		d.outlives[variable] = true
	}
}

// note tells the type of an output, as the way it is collected shows.
func (d *decompiler) note(v value, kind string) {
	if v.variable != "" && v.level == 1 {
		d.kinds[v.variable] = kind
	}
}

func (d *decompiler) kind(variable, otherwise string) string {
	if k := d.kinds[variable]; k != "" {
		return k
	}
	return otherwise
}

// job is a task of a DAG, or a step of a list of steps.
type job struct {
	*object
	name  string
	after []string
}

// tasks writes the tasks of a template.
func (d *decompiler) tasks(t *object, s *scope) {
	if slices.Contains(d.inside, t.path) {
		t.fault("a template that runs itself cannot be expressed in the DSL")
		return
	}
	d.inside = append(d.inside, t.path)
	defer func() { d.inside = d.inside[:len(d.inside)-1] }()
	jobs := d.jobs(t)
	t.get("metadata") // of pods that a group does not have
	t.get("name")
	t.get("inputs") // they are in the scope already
	defer t.finish()
	handles := map[string]string{} // of each task, something to wait for
	for _, j := range jobs {
		d.job(j, s, handles)
	}
}

// jobs reads the tasks of a DAG in an order in which each comes after those that it waits for.
func (d *decompiler) jobs(t *object) []job {
	var jobs []job
	if dag := t.object("dag"); dag != nil {
		for _, o := range dag.list("tasks") {
			j := job{object: o, name: o.text("name"), after: o.texts("dependencies")}
			if depends := o.text("depends"); depends != "" {
				j.after = append(j.after, d.depends(o, depends)...)
			}
			jobs = append(jobs, j)
		}
		dag.finish()
	}
	if steps := t.get("steps"); steps != nil {
		jobs = append(jobs, d.steplist(t, steps)...)
	}
	return inOrder(jobs)
}

// steplist reads lists of steps: each list waits for the one before it.
func (d *decompiler) steplist(t *object, steps *yaml.Node) []job {
	var jobs []job
	var before []string
	for i, group := range steps.Content {
		holder := &object{node: &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "steps"}, group}}, path: t.path, all: d}
		if group.Kind == yaml.MappingNode { // a single step, without its list
			holder.node.Content[1] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{group}}
		}
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
func (d *decompiler) depends(o *object, text string) []string {
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

// job writes one task: a step, a condition or a loop.
func (d *decompiler) job(j job, s *scope, handles map[string]string) {
	here := &scope{inputs: s.inputs, outputs: s.outputs, at: j.node, path: j.path}
	when, param, items := j.text("when"), j.text("withParam"), j.get("withItems")
	t := d.templates[j.text("template")]
	if t == nil {
		j.fault("its template %q is not in the workflow", j.text("template"))
		return
	}
	after := d.waits(j, handles)
	handles[j.name] = "" // others may wait for it, also where it cannot be expressed
	switch {
	case when != "" && (param != "" || items != nil):
		j.fault("a condition and a loop on the same task cannot be expressed in the DSL: put the one inside of the other")
	case when != "":
		fmt.Fprintf(&d.out, "p.If(%s, func() {\n", d.condition(here, when))
		d.enter()
		handles[j.name], _ = d.inner(j, t, here, after)
		d.leave()
		d.out.WriteString("})\n")
	case param != "" || items != nil:
		handles[j.name], s.outputs[j.name] = d.loop(j, t, here, after, param, items)
	case t.has("dag") || t.has("steps"):
		j.fault("a DAG inside of a DAG, without a condition or a loop, cannot be expressed in the DSL")
	default:
		handles[j.name], s.outputs[j.name] = d.step(j.name, t, d.call(j, t, here), after)
	}
	j.finish()
}

// waits are the handles of what a task waits for. What its arguments name it waits for anyway.
func (d *decompiler) waits(j job, handles map[string]string) []string {
	var after []string
	named := ""
	for _, key := range []string{"arguments", "when", "withParam"} {
		if n := j.get(key); n != nil {
			text, err := yaml.Marshal(n)
			if err == nil {
				named += strings.ReplaceAll(string(text), "''", "'") // YAML's quotes
			}
		}
	}
	for _, before := range j.after {
		h, ok := handles[before]
		switch {
		case !ok:
			j.fault("it waits for %q, which is no task beside it", before)
		case strings.Contains(named, "tasks."+before+".") || strings.Contains(named, "tasks['"+before+"']") || strings.Contains(named, "steps."+before+"."):
		case h != "":
			after = append(after, h)
		}
	}
	return after
}

// call is the scope of a template that a task runs: its inputs are the task's arguments, or defaults.
func (d *decompiler) call(j job, t *object, s *scope) *scope {
	given := map[string]value{}
	if arguments := j.object.object("arguments"); arguments != nil {
		for _, p := range arguments.list("parameters") {
			list := d.pieces(s, p.text("value"), false)
			v := value{kind: "string", pieces: list}
			if len(list) == 1 && list[0].value != nil {
				v = *list[0].value
			} else if len(list) == 0 {
				v = value{code: `dsl.Lit("")`, kind: "string"}
			}
			given[p.text("name")] = v
			p.finish()
		}
		arguments.finish()
	}
	inner := &scope{inputs: map[string]value{}, outputs: map[string]map[string]value{}, at: t.node, path: t.path}
	if inputs := t.object("inputs"); inputs != nil {
		for _, p := range inputs.list("parameters") {
			name := p.text("name")
			v, ok := given[name]
			if def := p.get("value"); !ok && def != nil {
				v, ok = value{code: "dsl.Lit(" + literal(def.Value) + ")", kind: "string"}, true
			}
			if !ok {
				p.fault("the task %s gives no value for it", j.name)
			}
			inner.inputs[name] = v
			p.finish()
		}
		inputs.finish()
	}
	return inner
}

// plain notes that what a loop collected was used as it is: then it was lists or objects.
func (d *decompiler) plain(v value) {
	if v.level == 1 && d.kinds[v.variable] == "" && !v.typed {
		d.kinds[v.variable] = "json.RawMessage"
	}
}

// inner writes what is inside of a condition or a loop. It returns a handle to wait for, and what the steps there give.
func (d *decompiler) inner(j job, t *object, s *scope, after []string) (handle string, inside *scope) {
	inside = d.call(j, t, s)
	if !t.has("dag") && !t.has("steps") {
		handle, outputs := d.step(j.name, t, inside, after)
		return handle, &scope{outputs: map[string]map[string]value{"": outputs}}
	}
	d.pending = append(d.pending, after...)
	before := d.firstStep
	d.firstStep = ""
	d.tasks(t, inside)
	handle = d.firstStep
	if before != "" {
		d.firstStep = before
	}
	return handle, inside
}

// loop writes a task that runs once for each item.
func (d *decompiler) loop(j job, t *object, s *scope, after []string, param string, items *yaml.Node) (string, map[string]value) {
	variable := d.variable("item")
	kind, list := d.kind(variable, "json.RawMessage"), ""
	if items != nil {
		kind, list = d.items(j, items, kind)
	} else if p := d.pieces(s, param, false); len(p) == 1 && p[0].value != nil {
		list = d.as(*p[0].value, "[]"+kind)
	} else if len(p) == 1 && json.Valid([]byte(p[0].text)) {
		list = "dsl.Value[[]" + kind + "](dsl.Lit(" + literal(p[0].text) + "))"
	} else {
		j.fault("withParam: %s cannot be expressed in the DSL: it must be one value", param)
	}
	fmt.Fprintf(&d.out, "dsl.Each(p, %s, func(%s dsl.Value[%s]) any {\n", list, variable, kind)
	d.enter()
	s.item = &value{code: variable, kind: kind, variable: variable}
	handle, inside := d.inner(j, t, s, after)
	outputs := map[string]value{}
	collect := func(v value) value {
		v.code, v.kind, v.level = "dsl.Collect("+v.code+")", "[]"+v.kind, v.level+1
		return v
	}
	if t.has("dag") || t.has("steps") {
		if o := t.object("outputs"); o != nil {
			for _, p := range o.list("parameters") {
				outputs[p.text("name")] = collect(d.export(p, inside))
				p.finish()
			}
			o.finish()
		}
	} else {
		for name, v := range inside.outputs[""] {
			outputs[name] = collect(v)
		}
	}
	d.leave()
	d.out.WriteString("return nil\n})\n")
	return handle, outputs
}

// export reads an output of a DAG: a value of one of its tasks.
func (d *decompiler) export(p *object, within *scope) value {
	from := p.object("valueFrom")
	if from == nil {
		p.fault("an output of a DAG without valueFrom cannot be expressed in the DSL")
		return value{}
	}
	inside := &scope{outputs: within.outputs, inputs: within.inputs, at: p.node, path: p.path}
	text, ok := from.text("expression"), false
	var v value
	if text != "" {
		v, ok = d.expression(inside, text)
		v.typed = true
	} else {
		text = from.text("parameter")
		v, ok = d.reference(inside, strings.Trim(text, "{} "))
		d.plain(v)
	}
	from.finish()
	if !ok {
		p.fault("%s cannot be expressed in the DSL", text)
	}
	return v
}

// items writes the constant items of a loop and tells their type.
func (d *decompiler) items(j job, items *yaml.Node, kind string) (itemKind, code string) {
	var texts, raw []string
	numbers := true
	for _, n := range items.Content {
		text, err := jsonOf(n)
		if err != nil {
			d.fault(n, join(j.path, "withItems"), "%v", err)
			return kind, "nil"
		}
		if _, err := strconv.Atoi(text); err != nil {
			numbers = false
		}
		if n.Tag == "!!str" {
			texts = append(texts, literal(n.Value))
		}
		raw = append(raw, text)
	}
	switch {
	case kind == "string" && len(texts) == len(raw):
		return kind, "dsl.Lit([]string{" + strings.Join(texts, ", ") + "})"
	case kind == "string":
		j.fault("withItems: items of several types cannot be expressed in the DSL")
		return kind, "nil"
	case numbers:
		return "int", "dsl.Lit([]int{" + strings.Join(raw, ", ") + "})"
	}
	for i := range raw {
		raw[i] = "json.RawMessage(" + literal(raw[i]) + ")"
	}
	return kind, "dsl.Lit([]json.RawMessage{" + strings.Join(raw, ", ") + "})"
}
