package dsltest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// runner goes through one pipeline.
type runner struct {
	testing.TB
	g      *graph.Pipeline
	steps  Steps
	params map[string]string
	result *Result
	types  map[graph.Ref]graph.Type // of outputs, as far as they ran
	depth  int
}

// note keeps an output and its type.
func (r *runner) note(f frame, ref graph.Ref, t graph.Type, value string) {
	f[ref], r.types[ref] = value, t
}

// frame holds the values that are known where nodes stand.
type frame map[graph.Ref]string

// maxDepth is how deep sub-pipelines may call themselves.
const maxDepth = 1000

// nodes runs nodes in order and says whether all of them ended well. New values go into the frame.
func (r *runner) nodes(nodes []graph.Node, f frame) bool {
	r.Helper()
	ended := map[string]bool{} // whether well
	for len(ended) < len(nodes) {
		before := len(ended)
		for _, n := range nodes {
			_, done := ended[n.Name]
			ready := !slices.ContainsFunc(n.After, func(name string) bool { _, ok := ended[name]; return !ok })
			if done || !ready {
				continue
			}
			waitedWell := !slices.ContainsFunc(n.After, func(name string) bool { return !ended[name] })
			ended[n.Name] = waitedWell && r.node(n, f)
		}
		if len(ended) == before {
			r.Fatalf("nodes wait for each other, or for one that is not there")
		}
	}
	return !slices.Contains(slices.Collect(maps.Values(ended)), false)
}

func (r *runner) node(n graph.Node, f frame) bool {
	r.Helper()
	switch {
	case n.Container != nil:
		return r.step(n, f)
	case n.If != nil:
		return r.branch(n, f)
	case n.Each != nil:
		return r.loop(n, f)
	}
	return r.call(n, f)
}

func (r *runner) step(n graph.Node, f frame) bool {
	r.Helper()
	c := Call{
		Step: n.Name, Image: r.render(n.Container.Image, f), Command: r.all(n.Container.Command, f), Args: r.all(n.Container.Args, f),
		Env: map[string]string{}, Requests: r.pairs(n.Container.Requests, f), Limits: r.pairs(n.Container.Limits, f), Outputs: map[string]string{},
	}
	for _, e := range n.Container.Env {
		c.Env[e.Name] = r.render(e.Value, f)
	}
	given := Outputs{}
	var err error
	if stand := r.steps[n.Name]; stand != nil {
		given, err = stand(c)
	}
	c.Failed = err != nil
	for _, o := range n.Container.Outputs {
		value, ok := given[o.Name]
		switch {
		case ok:
			c.Outputs[o.Name] = r.text(value)
		case o.Default != nil:
			c.Outputs[o.Name] = *o.Default
		case !c.Failed:
			r.Fatalf("step %s puts out %s: say what it is in Steps", n.Name, o.Name)
		}
		r.note(f, graph.Ref{Step: n.Name, Output: o.Name}, o.Type, c.Outputs[o.Name])
	}
	for name := range given {
		if !slices.ContainsFunc(n.Container.Outputs, func(o graph.Output) bool { return o.Name == name }) {
			r.Fatalf("step %s has no output %s", n.Name, name)
		}
	}
	for _, a := range n.Container.Artifacts {
		f[graph.Ref{Step: n.Name, Output: a.Name, File: true}] = n.Name + ":" + a.Path
	}
	r.result.Calls = append(r.result.Calls, c)
	if c.Failed {
		r.result.Status = "Failed"
	}
	return !c.Failed
}

func (r *runner) branch(n graph.Node, f frame) bool {
	r.Helper()
	taken, well := -1, true
	inner := maps.Clone(f)
	for i, b := range n.If.Branches() {
		if b.Cond == nil || r.holds(*b.Cond, f) {
			taken, well = i, r.nodes(b.Nodes, inner)
			break
		}
	}
	for _, m := range n.If.Outputs {
		value := r.render(m.Otherwise, f)
		if taken >= 0 && m.From[taken] != nil {
			value = inner[*m.From[taken]]
		}
		r.note(f, graph.Ref{Step: n.Name, Output: m.Name, File: m.File}, m.Type, value)
	}
	return well
}

func (r *runner) holds(c graph.Cond, f frame) bool {
	r.Helper()
	left := r.render(c.Left, f)
	order := strings.Compare(left, c.Right)
	switch c.Type {
	case graph.Integer, graph.Float:
		a, err := strconv.ParseFloat(left, 64)
		b, wrong := strconv.ParseFloat(c.Right, 64)
		if err != nil || wrong != nil {
			r.Fatalf("a condition compares %q with %q, which are not both numbers", left, c.Right)
		}
		order = 0
		if a < b {
			order = -1
		} else if a > b {
			order = 1
		}
	case graph.Bool:
		order = strings.Compare(strings.ToLower(left), c.Right)
	}
	return map[string]bool{"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[c.Op]
}

func (r *runner) loop(n graph.Node, f frame) bool {
	r.Helper()
	var items []json.RawMessage
	if list := r.render(n.Each.Items, f); json.Unmarshal([]byte(list), &items) != nil {
		r.Fatalf("a loop is over %q, which is not a list", list)
	}
	well := true
	lists := map[graph.Ref][]json.RawMessage{}
	for _, item := range items {
		pass := maps.Clone(f)
		pass[graph.Ref{Loop: n.Name}] = plain(item)
		well = r.nodes(n.Each.Nodes, pass) && well
		for ref, value := range pass {
			if _, outside := f[ref]; outside || ref.Step == "" || ref.File {
				continue
			}
			element := encoded(value, ref.Collected == 0 && r.types[ref] == graph.String)
			ref.Collected++
			lists[ref] = append(lists[ref], element)
		}
	}
	for ref, values := range lists {
		f[ref] = r.text(values)
	}
	return well
}

func (r *runner) call(n graph.Node, f frame) bool {
	r.Helper()
	if r.depth++; r.depth > maxDepth {
		r.Fatalf("sub-pipeline %s called itself %d times: does its condition ever fail to hold?", n.Call.Sub, maxDepth)
	}
	defer func() { r.depth-- }()
	i := slices.IndexFunc(r.g.Subs, func(s graph.Sub) bool { return s.Name == n.Call.Sub })
	sub := r.g.Subs[i]
	inner := frame{}
	for _, in := range sub.Inputs {
		for _, a := range n.Call.Args {
			if a.Name == in.Name {
				inner[graph.Ref{Input: in.Name, File: in.File}] = r.render(a.Value, f)
			}
		}
	}
	well := r.nodes(sub.Nodes, inner)
	for _, o := range sub.Outputs {
		r.note(f, graph.Ref{Step: n.Name, Output: o.Name, File: o.File}, o.Type, r.render(o.From, inner))
	}
	return well
}

func (r *runner) render(t graph.Text, f frame) string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.Ref == nil:
			b.WriteString(p.Text)
		case p.Ref.Param != "":
			b.WriteString(r.params[p.Ref.Param])
		case p.Ref.Variable == "workflow.status":
			b.WriteString(r.result.Status)
		case p.Ref.Variable != "":
			b.WriteString("{" + p.Ref.Variable + "}")
		case p.Ref.Env != "":
			b.WriteString("$(" + p.Ref.Env + ")")
		case p.Ref.Field != "":
			var item map[string]json.RawMessage
			if text := f[graph.Ref{Loop: p.Ref.Loop}]; json.Unmarshal([]byte(text), &item) != nil || item[p.Ref.Field] == nil {
				r.Fatalf("the item %s has no field %s", text, p.Ref.Field)
			}
			b.WriteString(plain(item[p.Ref.Field]))
		default:
			b.WriteString(f[*p.Ref])
		}
	}
	return b.String()
}

func (r *runner) all(texts []graph.Text, f frame) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = r.render(t, f)
	}
	return out
}

func (r *runner) pairs(pairs []graph.Pair, f frame) map[string]string {
	out := map[string]string{}
	for _, p := range pairs {
		out[p.Name] = r.render(p.Value, f)
	}
	return out
}

// text writes a value as it travels between steps.
func (r *runner) text(v any) string {
	r.Helper()
	switch v := v.(type) {
	case string:
		return v
	case time.Duration:
		return v.String()
	}
	out, err := json.Marshal(v)
	if err != nil {
		r.Fatalf("%v cannot be written as JSON: %v", v, err)
	}
	return string(out)
}

// plain is an item of a list as a value: text without its quotes.
func plain(item json.RawMessage) string {
	var s string
	if json.Unmarshal(item, &s) == nil {
		return s
	}
	return string(item)
}

// encoded is a value as an item of a list: text in quotes, all else is JSON already.
func encoded(value string, text bool) json.RawMessage {
	if !text && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	out, _ := json.Marshal(value) // text always can be
	return out
}
