package dsl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Value is a T that is known now or only when the pipeline runs. Functions of this package return Values; the zero Value means "not set".
// Values of different types do not mix, but Go can convert them: dsl.Value[string](epochs).
type Value[T any] struct{ text *text }

// AnyValue is a Value of any type.
type AnyValue interface {
	// IsSet says whether the value is there at all.
	IsSet() bool
	recorded() text
	kind() graph.Type
}

// IsSet says whether the value is more than the zero Value.
func (v Value[T]) IsSet() bool { return v.text != nil }

// String returns the text of a constant. Other values are not known yet: String returns a placeholder for them, and a step that contains it
// is refused with a hint to use Sprintf.
func (v Value[T]) String() string {
	if s, ok := Known(v); ok && len(v.recorded().refs()) == 0 {
		return s
	}
	return notYet
}

// notYet marks the text of a value that package fmt was asked for too early.
const notYet = holeEdge + "dsl.Value" + holeEdge

func (v Value[T]) recorded() text {
	if v.text == nil {
		return text{}
	}
	return *v.text
}

func (v Value[T]) kind() graph.Type { return typeOf[T]() }

func (v *Value[T]) set(t text) { v.text = &t }

// text is the recorded form of a value: its parts in order, and the mistakes made on the way to it.
type text struct {
	parts  []part
	faults Faults
	name   string // what messages call it; empty for the place where it is used
}

// part is constant text, or a reference.
type part struct {
	constant string
	ref      *ref
}

// ref is a graph.Ref together with what is needed to check its use.
type ref struct {
	graph.Ref
	pipeline *Pipeline
	producer *node  // what must have ended before the value is there; nil for parameters and items
	scope    *scope // where the value may be used; nil: anywhere
	param    *graph.Param
	source   *graph.EnvVar // of an environment variable from a secret or a field
	imported *imported     // where the file comes from, if not from a step
	imports  bool          // imported is meant, even if it is nil
	label    string        // what a file is called in the container of a component
	ownPath  string        // inside a component: where the step itself writes this output
}

func constant(s string) text         { return text{parts: []part{{constant: s}}} }
func reference(r ref) text           { return text{parts: []part{{ref: &r}}} }
func valueOf[T any](t text) Value[T] { return Value[T]{&t} }
func faulty(at graph.Position, format string, args ...any) text {
	return text{faults: Faults{{At: at, Message: fmt.Sprintf(format, args...)}}}
}

// Lit returns a constant as a Value. Strings stay unchanged, durations are written like 1h30m, other types become JSON.
func Lit[T any](v T) Value[T] {
	s, err := encode(v)
	if err != nil {
		return valueOf[T](faulty(caller(), "the constant cannot be written as JSON: %v", err))
	}
	return valueOf[T](constant(s))
}

// Argo returns one of Argo's own variables, such as workflow.name, workflow.namespace, pod.name, retries, or in
// an exit step workflow.status.
func Argo(variable string) Value[string] {
	if !argoVariable.MatchString(variable) {
		return valueOf[string](faulty(caller(), "dsl.Argo(%q): write the variable's name without braces, as in workflow.name", variable))
	}
	return valueOf[string](reference(ref{Ref: graph.Ref{Variable: variable}}))
}

var argoVariable = regexp.MustCompile(`^[a-zA-Z][-_.a-zA-Z0-9]*$`)

// Sprintf formats like fmt.Sprintf. Use the verbs %v and %s for Values; their text is inserted when the pipeline runs.
func Sprintf(format string, args ...any) Value[string] {
	if false {
		_ = fmt.Sprintf(format, args...) // tells go vet to check calls of this function like fmt.Sprintf's
	}
	holes := make([]*hole, 0, len(args))
	filled := make([]any, len(args))
	for i, arg := range args {
		v, ok := arg.(AnyValue)
		if !ok {
			filled[i] = arg
			continue
		}
		h := &hole{mark: holeEdge + strconv.Itoa(len(holes)) + holeEdge, value: v}
		holes = append(holes, h)
		filled[i] = h
	}
	out := fmt.Sprintf(format, filled...)

	var t text
	if bad := fmtMistake.FindString(out); bad != "" {
		t.faults = append(t.faults, &Fault{At: caller(), Message: fmt.Sprintf("dsl.Sprintf(%q): the arguments do not fit the format: %s", format, holeName.ReplaceAllString(bad, "a value"))})
	}
	for i, piece := range strings.Split(out, holeEdge) {
		if i%2 == 0 {
			t.add(part{constant: piece})
			continue
		}
		n, err := strconv.Atoi(piece)
		if err != nil || n >= len(holes) { // not a mark of ours: use says what is wrong with it
			t.add(part{constant: holeEdge + piece + holeEdge})
			continue
		}
		if verb := holes[n].badVerb; verb != "" {
			t.faults = append(t.faults, &Fault{At: caller(), Message: fmt.Sprintf("dsl.Sprintf(%q): %s needs the value now, and it is known only when the pipeline runs: use %%v", format, verb)})
		}
		if !holes[n].value.IsSet() {
			t.faults = append(t.faults, &Fault{At: caller(), Message: fmt.Sprintf("dsl.Sprintf(%q): value %d is not set", format, n+1)})
		}
		t.append(holes[n].value.recorded())
	}
	return valueOf[string](t)
}

// fmtMistake is what package fmt leaves in the text where verbs and arguments do not fit, as in %!d(string=x).
var fmtMistake = regexp.MustCompile(`%!(.?\([^)]*\)|[a-z]\b|\(NOVERB\))`)

// holeName is what package fmt calls a Value where it complains.
var holeName = regexp.MustCompile(`\*dsl\.hole(=` + holeEdge + `[0-9]+` + holeEdge + `)?`)

// holeEdge encloses the number of a Value in formatted text. It cannot stand in a command line or in YAML.
const holeEdge = "\x00"

// hole stands in for a Value while package fmt formats the text around it.
type hole struct {
	mark    string
	value   AnyValue
	badVerb string
}

// Format implements fmt.Formatter.
func (h *hole) Format(s fmt.State, verb rune) {
	if plain := fmt.FormatString(s, verb); plain != "%v" && plain != "%s" {
		h.badVerb = plain
	}
	fmt.Fprint(s, h.mark)
}

// Args returns a list of constants and Values of any types. Strings stay unchanged, other types become JSON.
func Args(args ...any) []Value[string] {
	values := make([]Value[string], len(args))
	for i, arg := range args {
		if v, ok := arg.(AnyValue); ok {
			if v.IsSet() { // an unset one stays unset, and is refused with its place in the list
				values[i] = valueOf[string](v.recorded())
			}
			continue
		}
		s, err := encode(arg)
		if err != nil {
			values[i] = valueOf[string](faulty(caller(), "argument %d cannot be written as text: %v", i+1, err))
			continue
		}
		values[i] = valueOf[string](constant(s))
	}
	return values
}

// Named returns v with a name for error messages, for packages that build steps and whose users know the value by another name than
// Args[3].
func Named[T any](v Value[T], name string) Value[T] {
	if !v.IsSet() {
		return v
	}
	t := v.recorded()
	t.name = name
	return valueOf[T](t)
}

// Known returns the text of v if it is known already: a constant's, or the default of a parameter. Packages that build steps use it for
// early checks.
func Known(v AnyValue) (s string, ok bool) {
	if v == nil || !v.IsSet() {
		return "", false
	}
	t := v.recorded()
	if len(t.faults) > 0 {
		return "", false
	}
	for _, part := range t.parts {
		switch {
		case part.ref == nil:
			s += part.constant
		case part.ref.param != nil:
			s += part.ref.param.Default
		default:
			return "", false
		}
	}
	return s, true
}

func (t text) refs() []*ref {
	var refs []*ref
	for _, p := range t.parts {
		if p.ref != nil {
			refs = append(refs, p.ref)
		}
	}
	return refs
}

// producers returns what must have ended before the value is there.
func (t text) producers() []*node {
	var nodes []*node
	for _, r := range t.refs() {
		if r.producer != nil {
			nodes = append(nodes, r.producer)
		}
	}
	return nodes
}

// single returns the reference where the text is one reference and nothing else.
func (t text) single() *ref {
	if len(t.parts) != 1 {
		return nil
	}
	return t.parts[0].ref
}

func (t *text) add(p part) {
	if p.ref == nil && p.constant == "" {
		return
	}
	if last := len(t.parts) - 1; p.ref == nil && last >= 0 && t.parts[last].ref == nil {
		t.parts[last].constant += p.constant
		return
	}
	t.parts = append(t.parts, p)
}

func (t *text) append(other text) {
	for _, p := range other.parts {
		t.add(p)
	}
	t.faults = append(t.faults, other.faults...)
}

// encode returns the text that carries a Go value between steps.
func encode(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", fmt.Errorf("it is nil")
	case time.Duration:
		return v.String(), nil
	}
	switch rv := reflect.ValueOf(v); {
	case rv.Kind() == reflect.String:
		return rv.String(), nil
	case rv.Kind() == reflect.Pointer && rv.IsNil():
		return "", fmt.Errorf("it is nil")
	case rv.Kind() == reflect.Slice && rv.IsNil():
		return "[]", nil
	case rv.Kind() == reflect.Map && rv.IsNil():
		return "{}", nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // keep < readable: the text never reaches a web page
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// travels says why a T cannot be a value.
func travels[T any]() error {
	switch t := reflect.TypeFor[T](); t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("a %s cannot be written as JSON", t)
	}
	return nil
}

func typeOf[T any]() graph.Type {
	t := reflect.TypeFor[T]()
	if t == reflect.TypeFor[time.Duration]() {
		return graph.String
	}
	switch t.Kind() {
	case reflect.Bool:
		return graph.Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return graph.Integer
	case reflect.Float32, reflect.Float64:
		return graph.Float
	case reflect.Slice, reflect.Array:
		return graph.List
	case reflect.Map, reflect.Struct:
		return graph.Object
	}
	return graph.String
}
