package kfparena

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
	"github.com/argosy-ml/argosy/sdk/train"
)

// writer records a pipeline with the DSL.
type writer struct {
	*reader
	from   *pipeline
	p      *dsl.Pipeline
	params map[*param]dsl.Value[string]
	steps  map[*operation]*train.Outputs // nil for one that is being written
	names  map[string]bool               // of steps
	noted  map[string]bool
}

// record makes the graph of a pipeline.
func (r *reader) record(from *pipeline) (*graph.Pipeline, error) {
	var opts []dsl.Option
	if from.description != "" {
		opts = append(opts, dsl.Description(from.description))
	}
	w := &writer{
		reader: r, from: from, p: dsl.New(from.name, opts...), params: map[*param]dsl.Value[string]{}, steps: map[*operation]*train.Outputs{}, noted: map[string]bool{},
		names: map[string]bool{},
	}
	for _, p := range from.params {
		w.params[p] = w.declare(p)
	}
	for _, op := range from.operations {
		if err := w.nameStep(op); err != nil {
			return nil, err
		}
	}
	for _, op := range from.operations {
		if err := w.step(op); err != nil {
			return nil, err
		}
	}
	g, err := w.p.Graph()
	if faults := (dsl.Faults{}); errors.As(err, &faults) {
		return nil, w.inFile(faults)
	}
	return g, err
}

// inFile gives the faults of the DSL the lines of the Python file.
func (w *writer) inFile(faults dsl.Faults) error {
	all := make(Faults, len(faults))
	for i, f := range faults {
		at := w.from.line
		for _, op := range w.from.operations {
			if op.step == f.Step || strings.HasPrefix(f.Message, "step "+strconv.Quote(op.step)) {
				at = line(op.at)
			}
		}
		all[i] = &Fault{w.file, at, f.Message}
	}
	return all
}

// declare adds a parameter. KFP passes all values as text, so a parameter whose default is not a number is a string.
func (w *writer) declare(p *param) dsl.Value[string] {
	switch p.kind {
	case graph.Integer:
		return declared(w.p, p, func(s string) (int, error) { return strconv.Atoi(s) })
	case graph.Float:
		return declared(w.p, p, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case graph.Bool:
		return declared(w.p, p, func(s string) (bool, error) { return strconv.ParseBool(strings.ToLower(s)) })
	}
	return declared(w.p, p, func(s string) (string, error) { return s, nil })
}

func declared[T any](to *dsl.Pipeline, p *param, parse func(string) (T, error)) dsl.Value[string] {
	if p.required {
		return dsl.Value[string](dsl.Required[T](to, p.name))
	}
	v, err := parse(p.def)
	if err != nil {
		return dsl.Param(to, p.name, p.def)
	}
	return dsl.Value[string](dsl.Param(to, p.name, v))
}

// nameStep gives a step its name, as KFP's compiler does: in lower case, with dashes, and with a number where the name is taken.
func (w *writer) nameStep(op *operation) error {
	t, _ := op.given["name"].value.(text)
	name, ok := t.known()
	if !ok {
		return w.fault(op.given["name"].at, "the name of a step must be constant")
	}
	name = strings.Trim(otherThanName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	op.step = name
	for n := 2; w.names[op.step]; n++ {
		op.step = name + "-" + strconv.Itoa(n)
	}
	w.names[op.step] = true
	return nil
}

var otherThanName = regexp.MustCompile(`[^0-9a-z]+`)

// step adds a step behind those that it waits for.
func (w *writer) step(op *operation) error {
	if out, seen := w.steps[op]; seen {
		if out == nil {
			return w.fault(op.at, "the step waits for itself")
		}
		return nil
	}
	w.steps[op] = nil
	var wait []dsl.Handle
	need := func(other *operation) error {
		err := w.step(other)
		if err == nil {
			wait = append(wait, w.steps[other])
		}
		return err
	}
	for _, other := range op.after {
		if err := need(other); err != nil {
			return err
		}
	}
	for _, arg := range op.signature.args {
		for _, p := range pieces(op.given[arg].value) {
			if p.op == nil {
				continue
			}
			if err := need(p.op); err != nil {
				return err
			}
			w.aboutOutput(op, arg, p.output)
		}
	}
	out, err := w.job(op, wait)
	w.steps[op] = out
	return err
}

// aboutOutput says what stands in the place of an output that steps do not have here.
func (w *writer) aboutOutput(op *operation, arg, output string) {
	words := map[string]string{
		"step":  "outputs['step'], the pod of arena's launcher, becomes the name of the job: steps cannot read the names of others' pods",
		"train": "outputs['train'], which is always empty, is left out",
	}
	if text := words[output]; text != "" && !w.noted[output] {
		w.noted[output] = true
		w.note(op.given[arg].at, "%s", text)
	}
}

// pieces are all pieces of texts in a value.
func pieces(v value) (all []piece) {
	switch v := v.(type) {
	case text:
		return v
	case *list:
		for _, item := range v.items {
			all = append(all, pieces(item)...)
		}
	}
	return all
}

// value is a text as a value of the DSL.
func (w *writer) value(t text) dsl.Value[string] {
	if known, ok := t.known(); ok {
		return dsl.Lit(known)
	}
	var format strings.Builder
	var args []any
	for _, p := range t {
		switch {
		case p.isConstant():
			format.WriteString(strings.ReplaceAll(p.constant, "%", "%%"))
			continue
		case p.output == "train":
			continue
		}
		format.WriteString("%v")
		args = append(args, w.piece(p))
	}
	if v, ok := single(args); ok && format.String() == "%v" {
		return v
	}
	return dsl.Sprintf(format.String(), args...)
}

func single(args []any) (dsl.Value[string], bool) {
	if len(args) != 1 {
		return dsl.Value[string]{}, false
	}
	v, ok := args[0].(dsl.Value[string])
	return v, ok
}

func (w *writer) piece(p piece) dsl.Value[string] {
	switch {
	case p.param != nil:
		return w.params[p.param]
	case p.output == "workflow":
		return dsl.Argo("workflow.name")
	}
	return w.steps[p.op].JobName
}

// field sets a field of type T, where constants are read by parse.
func field[T any](w *writer, to *dsl.Value[T], op *operation, arg string, parse func(string) (T, error)) error {
	g := op.given[arg]
	if g.at == nil {
		return nil
	}
	if _, isNone := g.value.(none); isNone {
		return nil
	}
	t, err := written(g.value)
	if err != nil {
		return w.fault(g.at, "%s is %s", arg, described(g.value))
	}
	known, constant := t.known()
	if !constant {
		*to = dsl.Value[T](w.value(t))
		return nil
	}
	v, err := parse(known)
	if err != nil {
		return w.fault(g.at, "%s is %q: %v", arg, known, err)
	}
	*to = dsl.Lit(v)
	return nil
}

func asText(s string) (string, error) { return s, nil }

func asWhole(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0, errors.New("want a whole number")
	}
	return n, nil
}

func asTruth(s string) (bool, error) {
	on, err := strconv.ParseBool(strings.ToLower(s))
	if err != nil {
		return false, errors.New("want True or False")
	}
	return on, nil
}

func asHours(s string) (time.Duration, error) {
	hours, err := strconv.ParseFloat(s, 64)
	if err != nil || !(hours > 0 && hours < 1e6) {
		return 0, errors.New("want a number of hours above 0")
	}
	return time.Duration(hours * float64(time.Hour)), nil
}

// texts are the texts of an argument that is a list.
func (w *writer) texts(op *operation, arg string) ([]text, error) {
	g := op.given[arg]
	var items []value
	switch v := g.value.(type) {
	case nil, none:
		return nil, nil
	case *list:
		items = v.items
	case tuple:
		items = v
	default:
		return nil, w.fault(g.at, "%s is %s: it must be a list", arg, described(v))
	}
	all := make([]text, len(items))
	for i, item := range items {
		t, err := written(item)
		if err != nil {
			return nil, w.fault(g.at, "%s: item %d is %s", arg, i+1, described(item))
		}
		all[i] = t
	}
	return all, nil
}

// pairs are the items NAME=VALUE of a list.
func (w *writer) pairs(op *operation, arg string) (map[string]dsl.Value[string], error) {
	all, err := w.texts(op, arg)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	m := map[string]dsl.Value[string]{}
	for i, t := range all {
		name, v, found := t.cut("=")
		switch known, constant := t.known(); {
		case constant && known == "":
		case !found || name == "":
			return nil, w.fault(op.given[arg].at, "%s: item %d must begin with a name and =, as in 'NAME={0}'.format(value)", arg, i+1)
		default:
			m[name] = w.value(v)
		}
	}
	return m, nil
}
