package graph

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Accepts says why the parameter cannot have a value; nil when it can.
func (p Param) Accepts(value string) error {
	if p.fits(value) && p.inRange(value) {
		return nil
	}
	return fmt.Errorf("parameter %s is %.100q; it must be %s", p.Name, value, p.Rule())
}

// Rule says in words which values the parameter may have.
func (p Param) Rule() string {
	if len(p.Choices) > 0 {
		return "one of " + strings.Join(p.Choices, ", ")
	}
	rule := map[Type]string{
		Integer: "a whole number", Float: "a number", Bool: "true or false",
		List: `a JSON list, such as ["a","b"]`, Object: `a JSON object, such as {"a":1}`,
	}[p.Type]
	switch {
	case rule == "":
		return "a text"
	case p.Min != "" && p.Max != "":
		return rule + " from " + p.Min + " to " + p.Max
	case p.Min != "":
		return rule + ", at least " + p.Min
	case p.Max != "":
		return rule + ", at most " + p.Max
	}
	return rule
}

func (p Param) fits(value string) bool {
	if len(p.Choices) > 0 {
		return slices.Contains(p.Choices, value)
	}
	switch p.Type {
	case Integer:
		_, ok := new(big.Int).SetString(value, 10)
		return ok
	case Float:
		_, ok := number(value)
		return ok
	case Bool: // Python writes True
		return strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	case List:
		return json.Unmarshal([]byte(value), &[]any{}) == nil
	case Object:
		return json.Unmarshal([]byte(value), &map[string]any{}) == nil
	}
	return true
}

func (p Param) inRange(value string) bool {
	n, ok := number(value)
	if !ok {
		return true // its type allows no range
	}
	least, bounded := number(p.Min)
	if bounded && n < least {
		return false
	}
	most, bounded := number(p.Max)
	return !bounded || n <= most
}

func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}
