package dsl

import (
	"cmp"
	"encoding/json"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Cond is a question that is answered when the pipeline runs.
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

// If records steps that run only when cond holds. Outside of it their outputs cannot be used, since they may not
// be there.
func (p *Pipeline) If(cond Cond, steps func()) {
	if p == nil {
		return
	}
	at := caller()
	n := p.group(ifScope, "condition", graph.Node{Kind: "If", At: at, If: &graph.If{}})
	switch {
	case cond.op == "":
		p.fault(at, "", "If: the condition is empty: make it with dsl.Eq, dsl.Lt and so on")
	case cond.err != nil:
		p.fault(at, "", "If: the constant cannot be written as text: %v", cond.err)
	case cond.typ == graph.List || cond.typ == graph.Object:
		p.fault(at, "", "If: lists and objects cannot be compared")
	}
	n.If.Cond = graph.Cond{Left: p.use(n, "If", valueOf[string](cond.left)), Op: cond.op, Right: cond.right, Type: cond.typ}
	if err := checkText(cond.right); err != nil {
		p.fault(at, "", "If: the constant %v", err)
	}
	p.within(n.inner, steps)
	p.refuseEmpty(n)
}

// Each records steps that run once for every item of list, all at the same time, and returns what steps returns.
// The values in it belong to one pass of the loop; Collect makes the list of all passes out of them. The list
// must not be empty when the pipeline runs if something is collected.
func Each[T, R any](p *Pipeline, list Value[[]T], steps func(item Value[T]) R) R {
	var result R
	if p == nil || steps == nil {
		return result
	}
	at := caller()
	n := p.group(eachScope, "for-loop", graph.Node{Kind: "Each", At: at, Each: &graph.Each{Item: typeOf[T]()}})
	if !list.IsSet() {
		p.fault(at, "", "Each: the list is not set")
	}
	n.Each.Items = p.use(n, "Each", list)
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

// Collect returns the list of the values that an output of a step inside Each has in all passes of the loop, in
// the order of the items. After nested loops, each Collect leaves one of them.
func Collect[T any](v Value[T]) Value[[]T] {
	if !v.IsSet() {
		return valueOf[[]T](faulty(caller(), "Collect: the value is not set"))
	}
	t := v.recorded()
	if len(t.faults) > 0 {
		return valueOf[[]T](t)
	}
	single := t.single()
	if single == nil || single.producer == nil {
		return valueOf[[]T](faulty(caller(), "Collect: only an output of a step can be collected"))
	}
	r := *single
	if r.scope.kind != eachScope {
		return valueOf[[]T](faulty(caller(), "Collect: %s is in %s, not in an Each", r.describe(), r.scope.describe()))
	}
	r.Collected++
	r.producer = r.scope.owner
	r.scope = r.producer.scope
	return valueOf[[]T](reference(r))
}

func (p *Pipeline) refuseEmpty(group *node) {
	if len(group.inner.nodes) == 0 {
		p.fault(group.At, "", "%s has no steps in it", group.Kind)
	}
}
