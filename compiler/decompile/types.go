package decompile

import (
	"encoding/json"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// types is what the uses of values tell of their types, which a workflow does not name.
type types struct {
	must  map[valueKey]graph.Type // because of how they are collected
	may   map[valueKey]graph.Type // because of how they are compared
	items map[string]*item        // of loops
	calls map[valueKey]string     // sub-pipelines by the calls' names
}

// valueKey is an output within the pipeline or one of its sub-pipelines, where names are unique.
type valueKey struct {
	sub          string
	step, output string
	loop         string
}

func newTypes() types {
	return types{must: map[valueKey]graph.Type{}, may: map[valueKey]graph.Type{}, items: map[string]*item{}, calls: map[valueKey]string{}}
}

// single is the output or item that a text is, if it is one.
func single(sub string, t graph.Text) (valueKey, int, bool) {
	if len(t) != 1 || t[0].Ref == nil || t[0].Ref.Step == "" && t[0].Ref.Loop == "" {
		return valueKey{}, 0, false
	}
	r := t[0].Ref
	return valueKey{sub, r.Step, r.Output, r.Loop}, r.Collected, true
}

// collected notes that the values were put together as those of a type.
func (t types) collected(sub string, v graph.Text, kind graph.Type) {
	if k, n, ok := single(sub, v); ok && n == 1 {
		t.must[k] = kind
	}
}

// plain notes that a value is used as it is: if it was collected, its parts were lists or objects.
func (t types) plain(sub string, v graph.Text) {
	if k, n, ok := single(sub, v); ok && n == 1 && t.must[k] == "" {
		t.must[k] = graph.List
	}
}

// compared notes that a value was compared with one of a type, or is used as one.
func (t types) compared(sub string, v graph.Text, kind graph.Type) {
	if k, n, ok := single(sub, v); ok && n == 0 && t.may[k] == "" {
		t.may[k] = kind
	}
}

// settle gives types to what has none yet.
func (r *raiser) settle() {
	r.settleIn("", r.g.Nodes)
	r.settleIn("", r.g.Exit)
	for i := range r.g.Subs {
		s := &r.g.Subs[i]
		r.settleIn(s.Name, s.Nodes)
		for j := range s.Outputs {
			o := &s.Outputs[j]
			o.Type = r.typeOf(valueKey{sub: s.Name, output: o.Name}, o.From, o.Type)
		}
	}
}

func (r *raiser) settleIn(sub string, nodes []graph.Node) {
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.Container != nil:
			for j := range n.Container.Outputs {
				o := &n.Container.Outputs[j]
				o.Type = r.typeOf(valueKey{sub: sub, step: n.Name, output: o.Name}, nil, o.Type)
			}
		case n.If != nil:
			r.settleIn(sub, n.If.Nodes)
			r.settleIn(sub, n.If.Else)
			for j := range n.If.Outputs {
				r.settleMerge(sub, n.Name, n.If, j)
			}
		case n.Each != nil:
			n.Each.Item = r.itemType(n)
			r.settleIn(sub, n.Each.Nodes)
		}
	}
}

// settleMerge gives a value that is one of several the type that its use tells, or that of the first.
func (r *raiser) settleMerge(sub, step string, c *graph.If, i int) {
	m := &c.Outputs[i]
	for _, from := range m.From {
		if from != nil && !m.File {
			m.Type = r.typeOf(valueKey{sub: sub, step: step, output: m.Name}, graph.Text{{Ref: from}}, m.Type)
			return
		}
	}
}

// typeOf is the type of an output: what its uses demand, what is known of it, what its uses or source suggest.
func (r *raiser) typeOf(k valueKey, from graph.Text, known graph.Type) graph.Type {
	must := r.types.must[k]
	switch {
	case must == graph.Float && (known == graph.Integer || r.types.may[k] == graph.Integer):
		return graph.Integer
	case must == graph.List && known == graph.Object:
		return known
	case must != "":
		return must
	case known != "":
		return known
	case r.types.may[k] != "":
		return r.types.may[k]
	}
	if source, n, ok := single(k.sub, from); ok && n == 0 {
		if r.types.must[source] != "" {
			return r.types.must[source]
		}
		if r.types.may[source] != "" {
			return r.types.may[source]
		}
	} else if ok {
		return graph.List
	}
	return graph.String
}

// itemType tells what the items of a loop are.
func (r *raiser) itemType(n *graph.Node) graph.Type {
	it := r.types.items[n.Name]
	if it != nil && it.quoted {
		return graph.String
	}
	text, constant := n.Each.Items.Constant()
	if ref := n.Each.Items.Refs(); len(ref) == 1 && ref[0].Param != "" {
		for _, p := range r.g.Params {
			if p.Name == ref[0].Param {
				text, constant = p.Default, p.Default != ""
			}
		}
	}
	var items []any
	if !constant || json.Unmarshal([]byte(text), &items) != nil || len(items) == 0 {
		return graph.List
	}
	kind := graph.Type("")
	for i, v := range items {
		own := kindOf(v)
		switch {
		case i == 0:
			kind = own
		case kind == graph.Integer && own == graph.Float, kind == graph.Float && own == graph.Integer:
			kind = graph.Float
		case kind != own:
			return graph.List
		}
	}
	if kind == graph.String { // as they are: their escapes would stay
		if plain := it != nil && it.plain; plain && (len(n.Each.Items.Refs()) > 0 || !simple(items)) {
			return graph.List
		}
	}
	return kind
}

func kindOf(v any) graph.Type {
	switch v := v.(type) {
	case string:
		return graph.String
	case bool:
		return graph.Bool
	case map[string]any:
		return graph.Object
	case json.Number:
		n, err := v.Float64()
		if err != nil || encode(n) != v.String() {
			return graph.List
		}
		return kindOf(n)
	case float64:
		if v == float64(int64(v)) && v < 1<<53 && v > -1<<53 {
			return graph.Integer
		}
		return graph.Float
	}
	return graph.List
}

// simple says whether texts have no escapes in JSON.
func simple(items []any) bool {
	for _, v := range items {
		text, _ := v.(string)
		if quoted, err := json.Marshal(v); err != nil || strings.Trim(string(quoted), `"`) != text || strings.Contains(text, `"`) {
			return false
		}
	}
	return true
}
