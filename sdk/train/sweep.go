package train

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/scaling/plan"
)

// Matrix says what Sweep measures: every combination of the values of its axes.
type Matrix struct {
	Axes []AnyAxis
	// Repeats is how often each combination is measured: 5 times unless set. Fewer than 4 can show no difference.
	Repeats int
	// Seed is the number that the order comes from: 1 unless set.
	Seed uint64
	// AtOnce is how many pods the pipeline has at most at a time: 1 unless set, so that no step disturbs the one that is measured.
	AtOnce int
}

// Axis is a parameter of a sweep, with the values that it is measured with. Vary makes it.
type Axis[T any] struct {
	name   string
	values []T
}

// AnyAxis is an Axis of whatever type.
type AnyAxis interface {
	axis() (name string, values []any)
}

// Cell is one combination of values, in one pass of the loop.
type Cell struct {
	pipeline *dsl.Pipeline
	item     dsl.Value[map[string]any]
	used     map[string]bool // by the names of the axes
}

// repeat is the field of an item that tells repetitions of a cell apart. No step reads it, so reports do not list it as a parameter.
const repeat = "repeat"

// Vary makes an axis. Reports know workers, slots, gpus, batch_size and global_batch_size by these names.
func Vary[T any](name string, values ...T) Axis[T] { return Axis[T]{name, values} }

func (a Axis[T]) axis() (name string, values []any) {
	for _, v := range a.values {
		if d, is := any(v).(time.Duration); is { // as steps read it
			values = append(values, d.String())
		} else {
			values = append(values, v)
		}
	}
	return a.name, values
}

// Of is the value that the axis has in a cell.
func (a Axis[T]) Of(c Cell) dsl.Value[T] {
	if _, known := c.used[a.name]; !known {
		c.pipeline.Fault("Sweep: %s is not among the Axes of its Matrix", a.name)
		return dsl.Value[T]{}
	}
	c.used[a.name] = true
	return dsl.Field[T](c.item, a.name)
}

// Sweep measures the step that measure adds, with each combination of the matrix. It is a loop over the combinations: they run one
// after the other, in an order that is shuffled and goes back and forth (A B B A), and never take their outputs from the cache. The
// others go on where one fails; the run then fails at its end, and a retry of the run repeats what failed and leaves the rest.
// A scaling report of the run has a measurement for each pass.
func Sweep(p *dsl.Pipeline, m Matrix, measure func(Cell)) {
	if p == nil {
		return
	}
	if measure == nil {
		p.Fault("Sweep has no function")
		return
	}
	m.Repeats, m.Seed, m.AtOnce = cmp.Or(m.Repeats, 5), cmp.Or(m.Seed, 1), cmp.Or(m.AtOnce, 1)
	cells, text, used := m.cells(p)
	if len(cells) == 0 || m.Repeats < 0 {
		p.Fault("Sweep has nothing to measure: Axes need values, and Repeats must be at least 1")
		return
	}
	var items []map[string]any
	for _, t := range plan.Order(cells, m.Repeats, m.Seed) {
		item := maps.Clone(t.Cell)
		item[repeat] = t.Repeat
		items = append(items, item)
	}
	p.Set(dsl.Parallelism(m.AtOnce))
	stated := fmt.Sprintf("%s; %d repeats in the order of seed %d, at most %d at once", text, m.Repeats, m.Seed, m.AtOnce)
	p.With(func() {
		dsl.Each(p, dsl.Lit(items), func(item dsl.Value[map[string]any]) struct{} {
			measure(Cell{p, item, used})
			return struct{}{}
		})
	}, dsl.NoCache(), dsl.Annotations(map[string]dsl.Value[string]{"argosy.dev/sweep": dsl.Lit(stated)}))
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !used[name] {
			p.Fault("Sweep: no step uses %s: give it the axis's Of(cell)", name)
		}
	}
}

// cells are all combinations; text is the matrix as people write it, used has the names of the axes.
func (m Matrix) cells(p *dsl.Pipeline) (cells []map[string]any, text string, used map[string]bool) {
	used = map[string]bool{}
	var axes []string
	cells = []map[string]any{{}}
	for _, a := range m.Axes {
		name, values := a.axis()
		if _, twice := used[name]; twice || name == repeat {
			p.Fault("Sweep: an axis cannot have the name %s, which is taken", name)
		}
		used[name] = false
		texts := written(p, name, values)
		axes = append(axes, name+"="+strings.Join(texts, ","))
		var more []map[string]any
		for _, c := range cells {
			for _, v := range values {
				next := maps.Clone(c)
				next[name] = v
				more = append(more, next)
			}
		}
		cells = more
	}
	if len(axes) == 0 {
		return nil, "", used
	}
	return cells, strings.Join(axes, " "), used
}

// written are the values of an axis as people write them. The same value twice would pass for more repeats.
func written(p *dsl.Pipeline, name string, values []any) (texts []string) {
	for _, v := range values {
		text := fmt.Sprint(v)
		if data, err := json.Marshal(v); err != nil || len(data) > 0 && (data[0] == '{' || data[0] == '[') {
			p.Fault("Sweep: %s: a value must be a text, a number or a bool, not %T", name, v)
		}
		if slices.Contains(texts, text) {
			p.Fault("Sweep: %s has the value %s twice", name, text)
		}
		texts = append(texts, text)
	}
	return texts
}
