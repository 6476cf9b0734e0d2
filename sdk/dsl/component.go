package dsl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Component is a reusable step with typed inputs and outputs.
//
// In is a struct of Values and Files; all must be set, unless the field is tagged `dsl:",optional"`. Out is a struct of
// Values and Files, each an output of the step; a field of type *Step, if there is one, becomes the step itself. The name of
// an output is that of its field, best-model for BestModel, or the one in the tag: `dsl:"model"`.
type Component[In, Out any] struct {
	name  string
	build func(In, Out) Container
	run   function // of Func
	at    graph.Position
}

// Define makes a component. Build returns the container to run; in it, fields of out are only for Path, which returns the file that the
// program must write the output to.
func Define[In, Out any](name string, build func(in In, out Out) Container) *Component[In, Out] {
	return &Component[In, Out]{name: name, build: build, at: caller()}
}

// Path returns the file to which a component's program writes the output, for use within Define. Its folder, /tmp, exists.
func Path(output AnyValue) Value[string] {
	if output != nil {
		if r := output.recorded().single(); r != nil && r.ownPath != "" {
			return valueOf[string](constant(r.ownPath))
		}
	}
	return valueOf[string](faulty(caller(), "dsl.Path is for the outputs that dsl.Define hands to its function"))
}

// Add adds a step that runs the component, and returns its outputs. The step is named after the component; further ones get the suffixes
// -2, -3 and so on.
func (c *Component[In, Out]) Add(p *Pipeline, in In, opts ...StepOption) Out {
	var out Out
	if p == nil || c == nil {
		return out
	}
	s := p.begin(p.unused(c.name), "")
	fits := c.checkInputs(s, in)
	inside, outside := reflect.New(reflect.TypeFor[Out]()).Elem(), reflect.ValueOf(&out).Elem()
	if inside.Kind() != reflect.Struct {
		s.Fault("the outputs of component %s are a %s: they must be a struct", c.name, inside.Type())
		return out
	}
	for i := range inside.NumField() {
		s.declare(inside.Type().Field(i), inside.Field(i), outside.Field(i))
	}
	if c.build == nil {
		s.Fault("component %s has no function", c.name)
		return out
	}
	if !fits {
		return out
	}
	if c.run != nil {
		p.define(s, c.name, c.run, c.at)
	}
	p.fill(s, c.build(labelled(in), inside.Interface().(Out)), opts)
	return out
}

// labelled has files lie in the container by the names of the inputs, whatever the outputs are called that they are from.
func labelled[In any](in In) In {
	v := reflect.ValueOf(&in).Elem()
	for i := range v.NumField() {
		f, name, ok := endpoint(v.Type().Field(i), v.Field(i))
		if _, isFile := f.(AnyFile); !ok || !isFile || len(f.recorded().faults) > 0 {
			continue
		}
		if r := f.recorded().single(); r != nil {
			own := *r
			own.label = name
			f.set(reference(own))
		}
	}
	return in
}

// unused returns name, or name-2, name-3 and so on where it is taken.
func (p *Pipeline) unused(name string) string {
	candidate := name
	for i := max(2, p.numbers[name]); ; i++ {
		if _, taken := p.names[candidate]; !taken {
			return candidate
		}
		candidate, p.numbers[name] = fmt.Sprintf("%s-%d", name, i), i
	}
}

// checkInputs says whether the inputs are a struct, whatever may be missing in it.
func (c *Component[In, Out]) checkInputs(s *Step, in In) bool {
	v := reflect.ValueOf(in)
	if v.Kind() != reflect.Struct {
		s.Fault("the inputs of component %s are a %s: they must be a struct", c.name, reflect.TypeFor[In]())
		return false
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		_, flags := tag(field)
		if field.Type.Implements(anyValue) && v.Field(i).IsZero() && !slices.Contains(flags, "optional") {
			s.Fault("input %s is not set", field.Name)
		}
	}
	return true
}

var anyValue = reflect.TypeFor[AnyValue]()

// settable is a pointer to a Value or a File.
type settable interface {
	AnyValue
	set(text)
	valid() error // says why a constant does not fit the type
}

// declare makes one field of Out an output of the step: inside it stands for the file, outside for the value.
func (s *Step) declare(field reflect.StructField, inside, outside reflect.Value) {
	if field.Type == reflect.TypeFor[*Step]() && field.IsExported() {
		outside.Set(reflect.ValueOf(s))
		return
	}
	name := outputName(field)
	if !field.IsExported() || !reflect.PointerTo(field.Type).Implements(reflect.TypeFor[settable]()) {
		s.Fault("output %s is a %s: outputs must be exported fields of type dsl.Value or dsl.File", field.Name, field.Type)
		return
	}
	value, path := outside.Addr().Interface().(settable), inside.Addr().Interface().(settable)
	if _, isFile := value.(AnyFile); isFile {
		file := outputPrefix + name
		value.set(s.keep(name, file, value.kind()))
		own := *value.recorded().single()
		own.ownPath = file
		path.set(reference(own))
		return
	}
	file := outputPrefix + name
	s.checkFile("output", name, file)
	if slices.ContainsFunc(s.node.Container.Outputs, func(o graph.Output) bool { return o.Name == name }) {
		s.Fault("output %s is declared twice", name)
	}
	s.node.Container.Outputs = append(s.node.Container.Outputs, graph.Output{Name: name, Type: value.kind(), Path: file})
	value.set(s.output(name))
	own := *s.output(name).single()
	own.ownPath = file
	path.set(reference(own))
}

// outputName is the name of an output: that of its field or in its tag, and for metrics the displayed one.
func outputName(field reflect.StructField) string {
	if field.Type == reflect.TypeFor[File[Metrics]]() && field.Tag.Get("dsl") == "" {
		return "mlpipeline-metrics"
	}
	name, _ := tag(field)
	return name
}

func tag(field reflect.StructField) (name string, flags []string) {
	parts := strings.Split(field.Tag.Get("dsl"), ",")
	if name = parts[0]; name == "" {
		name = kebab(field.Name)
	}
	return name, parts[1:]
}

// kebab turns BestModel into best-model and LRFinal into lr-final.
func kebab(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		starts := unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if starts && runes[i-1] != '_' {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
