package kfparena

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// arguments are what a text is formatted with.
type arguments struct {
	list  []value
	named map[string]value
}

func (a arguments) at(i int) (value, error) {
	if i < 0 || i >= len(a.list) {
		return nil, fmt.Errorf("the text takes more than the %d values that it is given", len(a.list))
	}
	return a.list[i], nil
}

func (a arguments) by(name string) (value, error) {
	v, ok := a.named[name]
	if !ok {
		return nil, fmt.Errorf("the text takes a value %s, and it is given none", name)
	}
	return v, nil
}

// braces fills the braces of a text: '{} {0} {name}'.format(...).
func braces(format text, args arguments) (text, error) {
	next := 0
	return fill(format, func(field string) (value, error) {
		if strings.ContainsAny(field, ":!.[") {
			return nil, fmt.Errorf("{%s} asks for a form or a part of a value; only {}, {0} and {name} are read", field)
		}
		if field == "" {
			next++
			return args.at(next - 1)
		}
		if n, err := strconv.Atoi(field); err == nil {
			return args.at(n)
		}
		return args.by(field)
	})
}

// fill replaces {field} in the constant parts of a text, and {{ and }} by single braces.
func fill(format text, field func(string) (value, error)) (text, error) {
	var out []text
	for _, p := range format {
		if !p.isConstant() {
			out = append(out, text{p})
			continue
		}
		rest := p.constant
		for {
			i := strings.IndexAny(rest, "{}")
			if i < 0 {
				out = append(out, constant(rest))
				break
			}
			out = append(out, constant(rest[:i]))
			brace := rest[i]
			rest = rest[i+1:]
			if rest != "" && rest[0] == brace {
				out = append(out, constant(string(brace)))
				rest = rest[1:]
				continue
			}
			end := strings.IndexByte(rest, '}')
			if brace == '}' || end < 0 {
				return nil, fmt.Errorf("the text has a single %c: write %c%c for one that stays", brace, brace, brace)
			}
			v, err := field(rest[:end])
			if err != nil {
				return nil, err
			}
			t, err := written(v)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
			rest = rest[end+1:]
		}
	}
	return join(out...)
}

// percent fills the verbs of a text: 'a %s b %d' % (...).
func percent(format text, v value) (text, error) {
	args := arguments{list: []value{v}}
	if t, ok := v.(tuple); ok {
		args.list = t
	}
	var out []text
	next := 0
	for _, p := range format {
		if !p.isConstant() {
			out = append(out, text{p})
			continue
		}
		before, rest, found := strings.Cut(p.constant, "%")
		for ; found; before, rest, found = strings.Cut(rest, "%") {
			out = append(out, constant(before))
			if rest == "" {
				return nil, errors.New("the text ends with a single %: write %% for one that stays")
			}
			verb := rest[0]
			rest = rest[1:]
			if verb == '%' {
				out = append(out, constant("%"))
				continue
			}
			v, err := args.at(next)
			if err != nil {
				return nil, err
			}
			next++
			t, err := verbed(verb, v)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
		out = append(out, constant(before))
	}
	if next < len(args.list) {
		return nil, fmt.Errorf("the text takes %d of the %d values that it is given", next, len(args.list))
	}
	return join(out...)
}

// verbed is a value as %s or %d writes it.
func verbed(verb byte, v value) (text, error) {
	_, whole := v.(int64)
	if verb != 's' && (verb != 'd' && verb != 'i' || !whole) {
		return nil, fmt.Errorf("%%%c does not take %s; %%s takes any value", verb, described(v))
	}
	return written(v)
}
