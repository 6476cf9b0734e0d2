package dsl

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Cond is a comparison that is evaluated when the pipeline runs.
type Cond struct {
	left  text
	op    string
	right string
	typ   graph.Type
	err   error
}

// Eq asks whether a is b.
func Eq[T comparable](a Value[T], b T) Cond { return compare(a, "==", b) }

// Ne asks whether a is not b.
func Ne[T comparable](a Value[T], b T) Cond { return compare(a, "!=", b) }

// Lt asks whether a < b.
func Lt[T cmp.Ordered](a Value[T], b T) Cond { return compare(a, "<", b) }

// Le asks whether a <= b.
func Le[T cmp.Ordered](a Value[T], b T) Cond { return compare(a, "<=", b) }

// Gt asks whether a > b.
func Gt[T cmp.Ordered](a Value[T], b T) Cond { return compare(a, ">", b) }

// Ge asks whether a >= b.
func Ge[T cmp.Ordered](a Value[T], b T) Cond { return compare(a, ">=", b) }

func compare[T any](a Value[T], op string, b T) Cond {
	c := Cond{op: op, typ: typeOf[T]()}
	c.right, c.err = encode(b)
	if !a.IsSet() {
		c.left = faulty(caller(), "the value to compare is not set")
	} else {
		c.left = a.recorded()
	}
	return c
}

// Branch is an If that can get further branches.
type Branch struct {
	pipeline *Pipeline
	last     *node // the If or ElseIf that was added last
	ended    bool  // by Else
}

// If records steps that run only when cond holds. Their outputs may not exist, so they cannot be used outside; OneOf merges the outputs of
// several branches.
func (p *Pipeline) If(cond Cond, steps func()) *Branch {
	if p == nil {
		return nil
	}
	return &Branch{pipeline: p, last: p.branch("If", cond, steps)}
}

// ElseIf records steps that run when cond holds and no earlier branch ran.
func (b *Branch) ElseIf(cond Cond, steps func()) *Branch {
	if b == nil || !b.open("ElseIf") {
		return b
	}
	outer := b.last
	b.pipeline.within(outer.orElse(), func() { b.last = b.pipeline.branch("ElseIf", cond, steps) })
	return b
}

// Else records steps that run when no earlier branch ran.
func (b *Branch) Else(steps func()) {
	if b == nil || !b.open("Else") {
		return
	}
	b.ended = true
	b.pipeline.within(b.last.orElse(), steps)
	if len(b.last.other.nodes) == 0 {
		b.pipeline.fault(caller(), "", "Else has no steps in it")
	}
}

func (b *Branch) open(what string) bool {
	if b.ended {
		b.pipeline.fault(caller(), "", "%s comes after the Else of its If", what)
	}
	return !b.ended
}

// orElse returns the scope of what runs when the condition does not hold.
func (n *node) orElse() *scope {
	if n.other == nil {
		n.other = &scope{kind: elseScope, owner: n}
	}
	return n.other
}

func (p *Pipeline) branch(kind string, cond Cond, steps func()) *node {
	at := caller()
	n := p.group(ifScope, "condition", graph.Node{Kind: kind, At: at, If: &graph.If{}})
	switch {
	case cond.op == "":
		p.fault(at, "", "%s: the condition is empty: make it with dsl.Eq, dsl.Lt and so on", kind)
	case cond.err != nil:
		p.fault(at, "", "%s: the constant cannot be written as text: %v", kind, cond.err)
	case cond.typ == graph.List || cond.typ == graph.Object:
		p.fault(at, "", "%s: lists and objects cannot be compared", kind)
	}
	n.If.Cond = graph.Cond{Left: p.use(n, kind, valueOf[string](cond.left)), Op: cond.op, Right: cond.right, Type: cond.typ}
	if err := checkText(cond.right); err != nil {
		p.fault(at, "", "%s: the constant %v", kind, err)
	}
	p.within(n.inner, steps)
	p.refuseEmpty(n)
	return n
}

// OneOf returns the output of the branch that ran: each argument is an output of a step in a different branch of an If. The last argument
// may come from outside the If, for the branches without an output; an If without an Else needs one.
func OneOf[V any, P interface {
	*V
	settable
}](values ...V) V {
	var result V
	set := P(&result).set
	at := caller()
	texts := make([]text, len(values))
	for i := range values {
		v := P(&values[i])
		texts[i] = v.recorded()
		if !v.IsSet() {
			set(faulty(at, "OneOf: argument %d is not set", i+1))
			return result
		}
		if len(texts[i].faults) > 0 {
			set(texts[i])
			return result
		}
	}
	_, file := any(result).(AnyFile)
	set(oneOf(at, texts, P(&result).kind(), file))
	return result
}

func oneOf(at graph.Position, values []text, kind graph.Type, file bool) text {
	if len(values) == 0 {
		return faulty(at, "OneOf has no arguments")
	}
	first := values[0].single()
	if first == nil || first.producer == nil || first.scope.top() == nil {
		return faulty(at, "OneOf: argument 1 must be an output of a step in an If")
	}
	for i, v := range values {
		if r := v.single(); r != nil && r.File && r.Collected > 0 {
			return faulty(at, "OneOf: argument %d is a folder of collected files, which Argo cannot hand on: give it to a step of that branch, and OneOf what the step makes of it", i+1)
		}
	}
	top := first.scope.top()
	branches, total := top.branches()
	m := graph.Merge{Type: kind, File: file, From: make([]*graph.Ref, len(branches))}
	var otherwise *text
	for i, v := range values {
		r := v.single()
		branch := -1
		if r != nil && r.scope != nil {
			for j, b := range branches {
				if b == r.scope {
					branch = j
				}
			}
		}
		switch {
		case branch >= 0 && m.From[branch] != nil:
			return faulty(at, "OneOf: argument %d is of the same branch as one before", i+1)
		case branch >= 0:
			own := r.Ref
			m.From[branch] = &own
		case i == len(values)-1:
			otherwise = &values[i]
		default:
			return faulty(at, "OneOf: argument %d is not of a branch of the If at %s", i+1, place(top.At))
		}
	}
	missing := !total
	for _, from := range m.From {
		missing = missing || from == nil
	}
	if missing && otherwise == nil {
		return faulty(at, "OneOf: there may be none: give a value for every branch, an Else among them, or a last one from outside of the If")
	}
	p := first.pipeline
	m.Name = fmt.Sprintf("one-of-%d", len(top.If.Outputs)+1)
	if otherwise != nil {
		m.Otherwise = p.otherwise(top, *otherwise, file)
	}
	top.If.Outputs = append(top.If.Outputs, m)
	return reference(ref{
		Ref: graph.Ref{Step: top.Name, Output: m.Name, File: file}, pipeline: p, producer: top, scope: top.scope,
	})
}

// otherwise turns the value from outside of an If into plain data.
func (p *Pipeline) otherwise(n *node, t text, file bool) graph.Text {
	if !file {
		return p.use(n, "OneOf", valueOf[string](t))
	}
	r := t.single()
	if r == nil || r.imports || r.ownPath != "" {
		p.fault(n.At, "", "OneOf: the file for when no branch gives one must be an output of a step")
		return nil
	}
	if !p.checkRef(n, "OneOf", r) {
		return nil
	}
	own := r.Ref
	return graph.Text{{Ref: &own}}
}

// Each records steps that run once for every item of list, all at the same time, and returns what steps returns. Its values belong to one
// iteration; Collect turns them into a list over all iterations. If outputs are collected, the list must not be empty when the pipeline
// runs.
func Each[T, R any](p *Pipeline, list Value[[]T], steps func(item Value[T]) R) R {
	var result R
	if p == nil {
		return result
	}
	at := caller()
	if steps == nil {
		p.fault(at, "", "Each has no function")
		return result
	}
	n := p.group(eachScope, "for-loop", graph.Node{Kind: "Each", At: at, Each: &graph.Each{Item: typeOf[T]()}})
	if !list.IsSet() {
		p.fault(at, "", "Each: the list is not set")
	}
	n.Each.Items = p.use(n, "Each", list)
	if _, err := n.Each.Items.List(); len(n.Each.Items) > 1 && err != nil {
		p.fault(at, "", "Each: a list that is put together must be JSON, with values in its strings only: %v", err)
	}
	if constant, ok := n.Each.Items.Constant(); ok && list.IsSet() {
		var items []any
		if err := json.Unmarshal([]byte(constant), &items); err != nil || len(items) == 0 {
			p.fault(at, "", "Each: the list is empty")
		}
		for i, item := range items {
			if text, ok := item.(string); ok {
				if err := checkParameter(text); err != nil {
					p.fault(at, "", "Each: item %d %v", i, err)
				}
			}
		}
	}
	item := valueOf[T](reference(ref{Ref: graph.Ref{Loop: n.Name}, pipeline: p, scope: n.inner}))
	p.within(n.inner, func() { result = steps(item) })
	p.refuseEmpty(n)
	return result
}

// Field returns a field of a loop's item that is an object.
func Field[T, M any](item Value[M], name string) Value[T] {
	r := item.recorded().single()
	switch {
	case r == nil || r.Loop == "" || r.Index || r.Field != "":
		return valueOf[T](faulty(caller(), "Field %s: only the item of an Each has fields", name))
	case !fileName.MatchString(name):
		return valueOf[T](faulty(caller(), "Field %q: the name must hold only letters, digits, - and _", name))
	}
	own := *r
	own.Field, own.FieldType = name, typeOf[T]()
	return valueOf[T](reference(own))
}

func (p *Pipeline) refuseEmpty(group *node) {
	if len(group.inner.nodes) == 0 {
		p.fault(group.At, "", "%s has no steps in it", group.Kind)
	}
}
