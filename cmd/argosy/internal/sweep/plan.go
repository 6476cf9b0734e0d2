// Package sweep is the command that measures a matrix of parameters: runs in a random and interleaved order, one after the
// other, and a report at the end.
package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/scaling/plan"
)

// axis is a parameter with the values that it is measured with.
type axis struct {
	name   string
	values []string
}

// cell is one combination of values.
type cell map[string]string

// name is the cell in the name of a run.
func (c cell) name() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, name+"="+c[name])
	}
	return strings.Join(parts, ",")
}

// slot is a run to be made: the repetition of a cell, from 1.
type slot struct {
	cell   cell
	repeat int
}

// parseMatrix reads axes as they are given: workers=1,2,4.
func parseMatrix(given []string) (axes []axis, err error) {
	for _, text := range given {
		name, list, found := strings.Cut(text, "=")
		a := axis{name: name, values: strings.Split(list, ",")}
		if !found || name == "" || slices.Contains(a.values, "") {
			return nil, exit.Usagef("--matrix %s: want name=value,value,...", text)
		}
		for i, v := range a.values {
			if slices.Contains(a.values[:i], v) {
				return nil, exit.Usagef("--matrix %s: %s is given twice", text, v)
			}
		}
		if slices.ContainsFunc(axes, func(b axis) bool { return b.name == name }) {
			return nil, exit.Usagef("--matrix %s: %s is given twice", text, name)
		}
		axes = append(axes, a)
	}
	return axes, nil
}

// cells are all combinations.
func cells(axes []axis) []cell {
	all := []cell{{}}
	for _, a := range axes {
		var more []cell
		for _, c := range all {
			for _, v := range a.values {
				next := maps.Clone(c)
				next[a.name] = v
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// order gives the runs in the order in which they are made.
func order(all []cell, repeats int, seed uint64) (slots []slot) {
	for _, t := range plan.Order(all, repeats, seed) {
		slots = append(slots, slot{t.Cell, t.Repeat})
	}
	return slots
}

// strong is a batch of all ranks together, which each cell divides among its ranks.
type strong struct {
	name  string
	batch int
}

func parseStrong(text string) (*strong, error) {
	if text == "" {
		return nil, nil
	}
	name, value, _ := strings.Cut(text, "=")
	batch, err := strconv.Atoi(value)
	if err != nil || name == "" || batch < 1 {
		return nil, exit.Usagef("--strong %s: want name=number, the parameter with the batch of a rank and the batch of all ranks", text)
	}
	return &strong{name, batch}, nil
}

// of is the batch of each rank in a cell; parameters are all that its runs are given.
func (s *strong) of(c cell, parameters map[string]string) (string, error) {
	number := func(name string) int {
		n, err := strconv.Atoi(parameters[name])
		if err != nil {
			return 0
		}
		return n
	}
	ranks := max(1, number("workers")) * max(1, number("slots"), number("gpus"))
	if s.batch%ranks != 0 {
		return "", exit.Usagef("--strong %s=%d: %s has %d ranks, which do not divide it; choose a multiple", s.name, s.batch, c.name(), ranks)
	}
	return strconv.Itoa(s.batch / ranks), nil
}

// preset is a matrix that has a name.
type preset struct {
	what string
	axes func(value string) ([]axis, error)
}

var presets = map[string]preset{
	"eni": {"an elastic network interface against the network of the host: network=eni,host", func(string) ([]axis, error) {
		return []axis{{"network", []string{"host", "eni"}}}, nil
	}},
	"gpus": {"one rank to N, by twos: workers=1,2,4,...,N; gpus=16", upTo},
	"storage": {"claims ebs, efs and fsx at /data: data=ebs:/data,...; storage=a,b takes others", func(value string) ([]axis, error) {
		claims := []string{"ebs", "efs", "fsx"}
		if value != "" {
			claims = strings.Split(value, ",")
		}
		for i, name := range claims {
			claims[i] = name + ":/data"
		}
		return []axis{{"data", claims}}, nil
	}},
}

func upTo(value string) ([]axis, error) {
	most, err := strconv.Atoi(value)
	if err != nil || most < 2 {
		return nil, exit.Usagef("--preset gpus=%s: say how many workers at most, as in gpus=16", value)
	}
	a := axis{name: "workers"}
	for n := 1; n < most; n *= 2 {
		a.values = append(a.values, strconv.Itoa(n))
	}
	a.values = append(a.values, strconv.Itoa(most))
	return []axis{a}, nil
}

// PresetNames lists the presets.
func PresetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// withPreset puts the axes of a preset before those that are given; an axis that is given takes the place of the preset's.
func withPreset(text string, given []axis) ([]axis, error) {
	if text == "" {
		return given, nil
	}
	name, value, _ := strings.Cut(text, "=")
	p, known := presets[name]
	if !known {
		return nil, exit.Usagef("--preset %s: there are %s", text, strings.Join(PresetNames(), ", "))
	}
	axes, err := p.axes(value)
	if err != nil {
		return nil, err
	}
	axes = slices.DeleteFunc(axes, func(a axis) bool {
		return slices.ContainsFunc(given, func(b axis) bool { return a.name == b.name })
	})
	return append(axes, given...), nil
}

func presetHelp() string {
	var lines []string
	for _, name := range PresetNames() {
		lines = append(lines, fmt.Sprintf("  %-8s %s", name, presets[name].what))
	}
	return strings.Join(lines, "\n")
}
