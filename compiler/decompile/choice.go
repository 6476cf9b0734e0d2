package decompile

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// isChoice says whether a template is that of an If with several branches, or with values, as the compiler writes it:
// tasks; one of them at most runs.
func isChoice(t *object) bool {
	dag := t.object("dag")
	if dag == nil {
		return false
	}
	tasks := dag.list("tasks")
	for i, o := range tasks {
		when, expression := strings.CutPrefix(o.text("when"), "{{=")
		if o.text("name") != fmt.Sprintf("branch-%d", i+1) || !expression || strings.Index(when, "}}") != len(when)-2 {
			return false
		}
	}
	return len(tasks) > 0
}

// choice raises an If with several branches, or with values.
func (r tasks) choice(t *object, s *scope) (graph.Node, outputs) {
	jobs := r.jobs(t)
	first := graph.Node{Name: r.group("condition"), Kind: "If", If: &graph.If{}}
	last := first.If // to which the next branch is added
	var given []outputs
	var asked []string
	for i, j := range jobs {
		here := s.within(j.object)
		own, ok := ownCondition(strings.TrimSuffix(strings.TrimPrefix(j.text("when"), "{{="), "}}"), asked, i == len(jobs)-1)
		if !ok {
			j.fault("the branches cannot be told apart as those of an If, ElseIf and Else")
			continue
		}
		var cond graph.Cond
		if own != "" {
			if cond, ok = r.condition(here, own); !ok {
				j.fault("the condition %s cannot be expressed in the DSL", own)
			}
			asked = append(asked, "!("+own+")")
		}
		if i > 0 && own != "" {
			next := graph.Node{Name: r.group("condition"), Kind: "ElseIf", If: &graph.If{}}
			last.Else = []graph.Node{next}
			last = next.If
		}
		for _, key := range []string{"name", "dependencies", "template"} {
			j.get(key)
		}
		nodes, out := r.branch(j, here)
		if own == "" {
			last.Else = nodes
		} else {
			last.Cond, last.Nodes = cond, nodes
		}
		given = append(given, out)
		j.finish()
	}
	t.get("name")
	t.get("inputs")
	out := r.merges(t, s, first, given)
	t.finish()
	return first, out
}

func (r tasks) branch(j job, s *scope) ([]graph.Node, outputs) {
	t := r.templates[j.text("template")]
	if t == nil {
		j.fault("its template %q is not in the workflow", j.text("template"))
		return nil, outputs{}
	}
	return r.contents(j, t, s)
}

// ownCondition takes from a branch's condition that no branch before it was run. What is left is empty for an Else.
func ownCondition(when string, asked []string, last bool) (string, bool) {
	before := strings.Join(asked, " && ")
	switch {
	case len(asked) == 0:
		return when, true
	case when == before:
		return "", last
	}
	own, ok := strings.CutPrefix(when, before+" && (")
	return strings.TrimSuffix(own, ")"), ok && strings.HasSuffix(own, ")")
}

var (
	branchStatus = regexp.MustCompile(`^tasks\.branch-(\d+)\.status$`)
	branchValue  = regexp.MustCompile(`^tasks\.branch-(\d+)\.outputs\.(?:parameters|artifacts)\.(.+)$`)
)

// merges reads the outputs that take their value from the branch that ran.
func (r tasks) merges(t *object, s *scope, n graph.Node, given []outputs) outputs {
	out := outputs{params: map[string]graph.Text{}, files: map[string]file{}}
	o := t.object("outputs")
	if o == nil {
		return out
	}
	for _, p := range o.list("parameters") {
		text := ""
		if from := p.object("valueFrom"); from != nil {
			text = from.text("expression")
			from.finish()
		}
		m := r.merge(s.within(p), p, n, given, text, false)
		out.params[m.Name] = refText(graph.Ref{Step: n.Name, Output: m.Name})
	}
	for _, a := range o.list("artifacts") {
		m := r.merge(s.within(a), a, n, given, a.text("fromExpression"), true)
		ref := graph.Ref{Step: n.Name, Output: m.Name, File: true}
		out.files[m.Name] = file{ref: &ref}
		r.mayBeCollected(ref)
	}
	o.finish()
	return out
}

func (r tasks) merge(s *scope, at *object, n graph.Node, given []outputs, text string, isFile bool) graph.Merge {
	m := graph.Merge{Name: fmt.Sprintf("one-of-%d", len(n.If.Outputs)+1), File: isFile, From: make([]*graph.Ref, len(given))}
	if own := at.text("name"); own != m.Name {
		at.fault("its name must be %s: that of a value which branches give", m.Name)
	}
	at.finish()
	if isFile {
		m.Type = "Artifact"
	}
	take := func(value string) bool {
		var i int
		parts := branchValue.FindStringSubmatch(path(value))
		if parts == nil {
			return false
		}
		if _, err := fmt.Sscan(parts[1], &i); err != nil || i < 1 || i > len(given) {
			return false
		}
		v := given[i-1].params[parts[2]]
		if f := given[i-1].files[parts[2]]; isFile && f.ref != nil {
			v = graph.Text{{Ref: f.ref}}
		}
		if len(v) != 1 || v[0].Ref == nil || v[0].Ref.Step == "" {
			return false
		}
		m.From[i-1] = v[0].Ref
		return true
	}
	rest := text
	for {
		question, after, more := strings.Cut(rest, ` == "Succeeded" ? `)
		if !more {
			break
		}
		value, last, found := strings.Cut(after, " : ")
		asked := branchStatus.FindStringSubmatch(path(question))
		given := branchValue.FindStringSubmatch(path(value))
		if !found || asked == nil || given == nil || asked[1] != given[1] || !take(value) {
			at.fault("the expression %s cannot be expressed in the DSL, which takes the value of the branch that was run", text)
			break
		}
		rest = last
	}
	if !take(rest) {
		r.otherwise(s, at, &m, rest)
	}
	n.If.Outputs = append(n.If.Outputs, m)
	return m
}

// otherwise reads the value for when no branch gives one.
func (r tasks) otherwise(s *scope, at *object, m *graph.Merge, text string) {
	if !m.File {
		v, ok := r.expression(s, text)
		if !ok {
			at.fault("the expression %s cannot be expressed in the DSL, which takes the value of the branch that was run", text)
		}
		m.Otherwise = v
		return
	}
	if f, ok := r.artifact(s, text); ok && f.ref != nil {
		m.Otherwise = graph.Text{{Ref: f.ref}}
		return
	}
	at.fault("the expression %s cannot be expressed in the DSL, which takes the file of the branch that was run", text)
}
