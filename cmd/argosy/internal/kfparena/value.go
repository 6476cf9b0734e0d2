package kfparena

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// value is what an expression of Python's stands for: text, int64, float64, bool, none, *list, tuple, *operation, outputs, *module,
// *method, *function or *unknown.
type value any

type (
	none  struct{}
	list  struct{ items []value }
	tuple []value
	// outputs are those of an operation, op.outputs.
	outputs struct{ op *operation }
	// module is what an import made known, or a part of it, by its whole name.
	module struct{ name string }
	// method is a method that is called next.
	method struct {
		of   value
		name string
	}
	// function is one of the file's own.
	function struct{ name string }
	// unknown is a value that cannot be followed. It is refused where it is used.
	unknown struct{ why string }
)

// text is text, in which values can stand that are known only when the pipeline runs.
type text []piece

// piece is constant text, a parameter or an output of an operation.
type piece struct {
	constant string
	param    *param
	op       *operation
	output   string
}

func (p piece) isConstant() bool { return p.param == nil && p.op == nil }

// param is a parameter of a pipeline.
type param struct {
	name     string
	kind     graph.Type
	def      string
	required bool
	line     int
}

// maxText is the length of the longest text; Linux hands no longer one to a program.
const maxText = 128 << 10

func constant(s string) text {
	if s == "" {
		return nil
	}
	return text{{constant: s}}
}

// join puts texts together.
func join(texts ...text) (text, error) {
	var all text
	size := 0
	for _, t := range texts {
		for _, p := range t {
			size += len(p.constant) + 1
			if last := len(all) - 1; last >= 0 && p.isConstant() && all[last].isConstant() {
				all[last].constant += p.constant
			} else {
				all = append(all, p)
			}
			if size > maxText {
				return nil, errors.New("the text is too long")
			}
		}
	}
	return all, nil
}

// known is the text if all of it is constant.
func (t text) known() (string, bool) {
	switch {
	case len(t) == 0:
		return "", true
	case len(t) == 1 && t[0].isConstant():
		return t[0].constant, true
	}
	return "", false
}

// cut splits a text at a separator in the constant text that it begins with.
func (t text) cut(sep string) (before string, after text, found bool) {
	if len(t) == 0 || !t[0].isConstant() {
		return "", nil, false
	}
	before, rest, found := strings.Cut(t[0].constant, sep)
	if !found {
		return "", nil, false
	}
	return before, append(constant(rest), t[1:]...), true
}

// written is a value as Python's str writes it.
func written(v value) (text, error) {
	switch v := v.(type) {
	case text:
		return v, nil
	case int64:
		return constant(strconv.FormatInt(v, 10)), nil
	case float64:
		return constant(writtenFloat(v)), nil
	case bool:
		if v {
			return constant("True"), nil
		}
		return constant("False"), nil
	case none:
		return constant("None"), nil
	}
	return nil, fmt.Errorf("%s cannot become text here", described(v))
}

func writtenFloat(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.ContainsAny(s, ".nI") {
		s += ".0"
	}
	return s
}

// truth is what Python takes a value for in a condition.
func truth(v value) (bool, bool) {
	switch v := v.(type) {
	case text:
		return len(v) > 0, true
	case int64:
		return v != 0, true
	case float64:
		return v != 0, true
	case bool:
		return v, true
	case none:
		return false, true
	case *list:
		return len(v.items) > 0, true
	case tuple:
		return len(v) > 0, true
	}
	return false, false
}

// described says what a value is, for messages.
func described(v value) string {
	switch v := v.(type) {
	case text:
		if _, known := v.known(); !known {
			return "a value that is known only when the pipeline runs"
		}
		return "a text"
	case int64, float64:
		return "a number"
	case bool:
		return "True or False"
	case none:
		return "None"
	case *list:
		return "a list"
	case tuple:
		return "a tuple"
	case *operation:
		return "a step"
	case outputs:
		return "the outputs of a step"
	case *module:
		return v.name
	case *function:
		return "the function " + v.name
	case *method:
		return "the method " + v.name
	}
	return "this"
}
