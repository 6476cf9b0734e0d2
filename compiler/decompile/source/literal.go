package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// literal is a text in Go, in backquotes where that is easier to read.
func literal(s string) string {
	hard := strings.ContainsAny(s, "\"\\") && !strings.Contains(s, "\n") || strings.Count(s, "\n") > 1
	if hard && strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) && !strings.Contains(s, "\r") {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// duration is a time as it is written in Go.
func duration(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil || d == 0 {
		return "0"
	}
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"}, {time.Millisecond, "time.Millisecond"}} {
		switch {
		case d == unit.size:
			return unit.name
		case d%unit.size == 0:
			return fmt.Sprintf("%d*%s", d/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("time.Duration(%d)", d)
}

// scalarType is the type of Go for a type of values; that of lists depends on what is in them.
func scalarType(t graph.Type) string {
	switch t {
	case graph.Integer:
		return "int"
	case graph.Float:
		return "float64"
	case graph.Bool:
		return "bool"
	case graph.List:
		return "json.RawMessage"
	case graph.Object:
		return "map[string]any"
	}
	return "string"
}

// listTypes are those that are tried for a list, one after the other.
var listTypes = []string{"[]string", "[]int", "[]float64", "[]bool", "[]map[string]any", "[]any"}

var goTypes = map[string]reflect.Type{
	"[]string": reflect.TypeFor[[]string](), "[]int": reflect.TypeFor[[]int](), "[]float64": reflect.TypeFor[[]float64](), "[]bool": reflect.TypeFor[[]bool](),
	"[]map[string]any": reflect.TypeFor[[]map[string]any](), "[]any": reflect.TypeFor[[]any](), "map[string]any": reflect.TypeFor[map[string]any](),
	"[]json.RawMessage": reflect.TypeFor[[]json.RawMessage](),
}

// typeOfConstant finds a Go type with a value that formats to exactly this text.
func typeOfConstant(t graph.Type, text, wanted string) string {
	switch t {
	case graph.List:
		for _, candidate := range append([]string{wanted}, listTypes...) {
			if _, ok := composite(candidate, text); ok {
				return candidate
			}
		}
		return "json.RawMessage"
	case graph.Object:
		if _, ok := composite("map[string]any", text); ok {
			return "map[string]any"
		}
		return "object"
	}
	return scalarType(t)
}

// constant writes the value of a Go type that formats to the text.
func constant(goType, text string) string {
	switch goType {
	case "int", "bool":
		return text
	case "float64":
		if !strings.ContainsAny(text, ".e") {
			return "float64(" + text + ")"
		}
		return text
	case "time.Duration":
		return duration(text)
	case "json.RawMessage":
		return "json.RawMessage(" + literal(text) + ")"
	case "object":
		return "object{json.RawMessage(" + literal(text) + ")}"
	}
	if code, ok := composite(goType, text); ok {
		return code
	}
	return literal(text)
}

// composite writes JSON as a value of a type of Go, if that value becomes the same JSON.
func composite(goType, text string) (string, bool) {
	t, known := goTypes[goType]
	if !known {
		return "", false
	}
	v := reflect.New(t)
	if json.Unmarshal([]byte(text), v.Interface()) != nil || encode(v.Interface()) != text {
		return "", false
	}
	return goType + elements(v.Elem()), true
}

func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func decode(text string, out any) error { return json.Unmarshal([]byte(text), out) }

// elements are those of a list or a map between braces.
func elements(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Map:
		m, _ := v.Interface().(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, literal(key)+": "+untyped(m[key]))
		}
	default:
		for i := range v.Len() {
			parts = append(parts, element(v.Index(i)))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func element(v reflect.Value) string {
	switch one := v.Interface().(type) {
	case json.RawMessage:
		return "json.RawMessage(" + literal(string(one)) + ")"
	case map[string]any:
		return elements(v)
	}
	return untyped(v.Interface())
}

// untyped is a value of JSON in Go, as an any.
func untyped(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return literal(v)
	case []any:
		return "[]any" + elements(reflect.ValueOf(v))
	case map[string]any:
		return "map[string]any" + elements(reflect.ValueOf(v))
	}
	text := encode(v)
	if _, number := v.(float64); number && len(text) > 15 && !strings.ContainsAny(text, ".e") {
		return "float64(" + text + ")" // it may be too large for an int
	}
	return text
}
