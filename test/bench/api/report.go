package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// report holds what was measured.
type report struct {
	Started time.Time `json:"started"`
	Figures []figure  `json:"figures"`
	Lists   []listed  `json:"lists"`
	Plans   []planned `json:"plans"`
	Notes   []string  `json:"notes"`
}

// A figure is a line of the table.
type figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Aim   float64 `json:"aim,omitempty"`  // 0: none
	More  bool    `json:"more,omitempty"` // the aim is the least; otherwise the most
	Value float64 `json:"value"`
	Base  float64 `json:"base,omitempty"` // the same of a store of few runs; 0: none
}

func (f figure) met() string {
	switch {
	case f.Aim == 0:
		return ""
	case f.More == (f.Value >= f.Aim):
		return "yes"
	}
	return "no"
}

// add records a figure and says it on standard error, since the whole takes minutes.
func (r *report) add(f figure) {
	r.Figures = append(r.Figures, f)
	fmt.Fprintf(os.Stderr, "%-70s %10.4g %s\n", f.Name, f.Value, f.Unit)
}

func (r *report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	fmt.Fprintln(os.Stderr, r.Notes[len(r.Notes)-1])
}

// print writes the tables in Markdown.
func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "| figure | value | aim | met | of %d runs | ratio |\n| --- | --- | --- | --- | --- | --- |\n", few)
	for _, f := range r.Figures {
		aim, base, ratio := "", "", ""
		if f.Aim > 0 {
			aim = fmt.Sprintf("%.4g", f.Aim)
		}
		if f.Base > 0 {
			base, ratio = fmt.Sprintf("%.3g", f.Base), fmt.Sprintf("%.2g", f.Value/f.Base)
		}
		fmt.Fprintf(out, "| %s | %.4g %s | %s | %s | %s | %s |\n", f.Name, f.Value, f.Unit, aim, f.met(), base, ratio)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "\n%s\n", n)
	}
	r.slowest(out)
	r.plans(out)
}

// slowest names the lists that took longest, of each number of runs.
func (r *report) slowest(out io.Writer) {
	bySize := map[int][]listed{}
	for _, l := range r.Lists {
		bySize[l.Runs] = append(bySize[l.Runs], l)
	}
	for size, lists := range bySize {
		if size == few {
			continue
		}
		slices.SortFunc(lists, func(a, b listed) int { return cmp.Compare(b.P99, a.P99) })
		fmt.Fprintf(out, "\nThe slowest of %d lists at %d runs (ms):\n\n| list | page | matches | p50 | p99 | processor time |\n| --- | --- | --- | --- | --- | --- |\n", len(lists), size)
		for _, l := range lists[:min(25, len(lists))] {
			fmt.Fprintf(out, "| %s | %s | %d | %.1f | %.1f | %.1f |\n", l.Shape, l.Page, l.Total, l.P50, l.P99, l.CPU)
		}
	}
}

// plans writes each plan once, with the first list that it is of.
func (r *report) plans(out io.Writer) {
	if len(r.Plans) == 0 {
		return
	}
	seen := map[string]bool{}
	fmt.Fprintf(out, "\nThe plans of SQLite, each with the first list that has it:\n\n```\n")
	for _, p := range r.Plans {
		var text strings.Builder
		for _, plan := range p.Plans {
			text.WriteString("  " + strings.Join(plan.Steps, "\n  ") + "\n")
		}
		if !seen[text.String()] {
			seen[text.String()] = true
			fmt.Fprintf(out, "%s, %s page\n%s", p.Shape, p.Page, text.String())
		}
	}
	fmt.Fprintln(out, "```")
}

func (r *report) write(file string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
