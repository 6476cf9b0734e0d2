package compiler

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// emit writes structs, lists, maps and JSON values as YAML: fields in their order, maps by key. Packages that write
// all of YAML take most of a compilation's time; a workflow needs little of it.
func emit(v any) []byte {
	e := &emitter{out: make([]byte, 0, 1<<16)}
	e.value(reflect.ValueOf(v), 0, atTop)
	return e.out
}

type emitter struct{ out []byte }

// where a value stands decides what comes before it.
type where int

const (
	atTop    where = iota
	afterKey       // behind "key:"
	afterBar       // behind "-"
)

var jsonNumber = reflect.TypeFor[json.Number]()

func (e *emitter) value(v reflect.Value, indent int, at where) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			e.scalar("null")
			return
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		e.fields(v, indent, at)
	case reflect.Map:
		e.mapping(v, indent, at)
	case reflect.Slice:
		e.list(v, indent, at)
	case reflect.String:
		if v.Type() == jsonNumber {
			e.scalar(v.String())
			return
		}
		e.text(v.String(), indent)
	case reflect.Bool:
		e.scalar(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int32, reflect.Int64:
		e.scalar(strconv.FormatInt(v.Int(), 10))
	case reflect.Invalid:
		e.scalar("null")
	default:
		panic(fmt.Sprintf("a workflow holds a %s", v.Type()))
	}
}

func (e *emitter) scalar(s string) { e.out = append(append(append(e.out, ' '), s...), '\n') }

// begin starts one entry of a mapping or list: the first behind a dash stays on its line.
func (e *emitter) begin(first bool, indent int, at where) {
	switch {
	case first && at == afterBar:
		e.out = append(e.out, ' ')
		return
	case first && at == afterKey:
		e.out = append(e.out, '\n')
	}
	const spaces = "                                                                "
	for ; indent > len(spaces); indent -= len(spaces) {
		e.out = append(e.out, spaces...)
	}
	e.out = append(e.out, spaces[:indent]...)
}

func (e *emitter) fields(v reflect.Value, indent int, at where) {
	first := true
	for _, f := range fieldsOf(v.Type()) {
		value := v.FieldByIndex(f.index)
		if f.omit && empty(value) {
			continue
		}
		e.begin(first, indent, at)
		e.out = append(append(e.out, f.name...), ':')
		e.value(value, indent+2, afterKey)
		first = false
	}
	if first {
		e.scalar("{}")
	}
}

func (e *emitter) mapping(v reflect.Value, indent int, at where) {
	keys := v.MapKeys()
	if len(keys) == 0 {
		e.scalar("{}")
		return
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for i, key := range keys {
		e.begin(i == 0, indent, at)
		e.out = append(appendLine(e.out, key.String()), ':')
		e.value(v.MapIndex(key), indent+2, afterKey)
	}
}

func (e *emitter) list(v reflect.Value, indent int, at where) {
	if v.Len() == 0 {
		e.scalar("[]")
		return
	}
	for i := range v.Len() {
		e.begin(i == 0, indent, at)
		e.out = append(e.out, '-')
		e.value(v.Index(i), indent+2, afterBar)
	}
}

// text writes a string of the user's, of whatever characters, as one line or as a block.
func (e *emitter) text(s string, indent int) {
	if !block(s) {
		e.out = append(appendLine(append(e.out, ' '), s), '\n')
		return
	}
	e.out = append(e.out, " |"...)
	body := strings.TrimRight(s, "\n")
	switch len(s) - len(body) {
	case 0:
		e.out = append(e.out, '-')
	case 1:
	default:
		e.out = append(e.out, '+')
		body = s[:len(s)-1]
	}
	for line := range strings.SplitSeq(body, "\n") {
		e.out = append(e.out, '\n')
		if line != "" {
			e.begin(false, indent, atTop)
			e.out = append(e.out, line...)
		}
	}
	e.out = append(e.out, '\n')
}

// field is one of a struct, as its yaml tag says.
type field struct {
	index []int
	name  string
	omit  bool
}

var fieldsByType sync.Map // of reflect.Type to []field

func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if flags == "inline" {
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
			continue
		}
		fields = append(fields, field{index: []int{i}, name: name, omit: flags == "omitempty"})
	}
	fieldsByType.Store(t, fields)
	return fields
}

// empty says whether a value is left out: nothing, or a struct in which there is nothing.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		for i := range v.NumField() {
			if !empty(v.Field(i)) {
				return false
			}
		}
		return true
	}
	return v.IsZero()
}
