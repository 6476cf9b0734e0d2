package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Columns of the table.
const (
	ours  = "argosy"
	stock = "stock Argo"
)

// report holds what was measured, in the order in which it was first seen.
type report struct {
	Started time.Time `json:"started"`
	Figures []*figure `json:"figures"`
	Notes   []string  `json:"notes,omitempty"`
	columns []string
}

type figure struct {
	Name   string             `json:"name"`
	Unit   string             `json:"unit"`
	Aim    float64            `json:"aim,omitempty"`
	Values map[string]float64 `json:"values"` // by column
}

// add records a figure and says it on standard error, since the whole takes minutes.
func (r *report) add(column, name, unit string, aim, value float64) {
	if !slices.Contains(r.columns, column) {
		r.columns = append(r.columns, column)
	}
	i := slices.IndexFunc(r.Figures, func(f *figure) bool { return f.Name == name })
	if i < 0 {
		i = len(r.Figures)
		r.Figures = append(r.Figures, &figure{Name: name, Unit: unit, Values: map[string]float64{}})
	}
	f := r.Figures[i]
	f.Values[column] = value
	if aim > 0 {
		f.Aim = aim
	}
	fmt.Fprintf(os.Stderr, "%-12s %-45s %8.3g %s\n", column, name, value, unit)
}

func (r *report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	fmt.Fprintln(os.Stderr, r.Notes[len(r.Notes)-1])
}

// print writes the table; after a figure of another column stands how much of it ours takes.
func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "figure\tunit\taim\t%s\n", strings.Join(r.columns, "\t"))
	for _, f := range r.Figures {
		aim := "-"
		if f.Aim > 0 {
			aim = fmt.Sprintf("%.3g", f.Aim)
		}
		fmt.Fprintf(w, "%s\t%s\t%s", f.Name, f.Unit, aim)
		for _, c := range r.columns {
			v, ok := f.Values[c]
			mine, have := f.Values[ours]
			switch {
			case !ok:
				fmt.Fprint(w, "\t-")
			case c == ours || !have || mine == 0:
				fmt.Fprintf(w, "\t%.3g", v)
			default:
				fmt.Fprintf(w, "\t%.3g (%.2gx)", v, v/mine)
			}
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	for _, n := range r.Notes {
		fmt.Fprintln(out, n)
	}
}

func median(v []time.Duration) float64 {
	slices.Sort(v)
	return v[len(v)/2].Seconds()
}
