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

	"github.com/argosy-ml/argosy/server/store/sqlstore"
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
	fmt.Fprintf(out, "| what | aim | figure | met | with %d runs | ratio |\n| --- | --- | --- | --- | --- | --- |\n", few)
	for _, f := range r.Figures {
		aim, base, ratio := "", "", ""
		if f.Aim > 0 {
			aim = fmt.Sprintf("%.4g", f.Aim)
		}
		if f.Base > 0 {
			base, ratio = fmt.Sprintf("%.3g", f.Base), fmt.Sprintf("%.2g", f.Value/f.Base)
		}
		fmt.Fprintf(out, "| %s | %s | %.4g %s | %s | %s | %s |\n", f.Name, aim, f.Value, f.Unit, f.met(), base, ratio)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(out, "\n%s\n", n)
	}
	r.lists(out)
}

// lists writes a table of every list, the slowest first, with how it is found.
func (r *report) lists(out io.Writer) {
	plans := map[string]string{}
	for _, p := range r.Plans {
		plans[p.Store+p.Shape+p.Page] = brief(p.Plans)
	}
	type store struct {
		runs int
		kind string
	}
	of := map[store][]listed{}
	for _, l := range r.Lists {
		of[store{l.Runs, l.Store}] = append(of[store{l.Runs, l.Store}], l)
	}
	for s, lists := range of {
		if s.runs == few {
			continue
		}
		slices.SortFunc(lists, func(a, b listed) int { return cmp.Compare(b.P50, a.P50) })
		fmt.Fprintf(out, "\nThe %d lists of %d runs on %s (ms), the slowest first, with the way that it takes:\n\n", len(lists), s.runs, s.kind)
		fmt.Fprint(out, "| list | page | matches | p50 | p99 | gRPC p99 | processor time | met | found by |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
		for _, l := range lists {
			met := figure{Aim: aims[l.Runs], Value: l.P99}.met()
			fmt.Fprintf(out, "| %s | %s | %d | %.1f | %.1f | %.1f | %.1f | %s | %s |\n", l.Shape, l.Page, l.Total, l.P50, l.P99, l.GRPC99, l.CPU, met, plans[l.Store+l.Shape+l.Page])
		}
	}
}

// brief names the indexes and columns of a plan in its order.
func brief(plans []sqlstore.Plan) string {
	var ways []string
	for _, p := range plans {
		for _, step := range p.Steps {
			_, index, found := strings.Cut(step, " INDEX ")
			if !found {
				_, index, found = strings.Cut(step, "Index Scan using ")
			}
			switch {
			case p.Statement == "columns":
				ways = append(ways, strings.ToLower(step))
			case found && !strings.Contains(p.Statement, "FROM run_counts"):
				ways = append(ways, strings.Fields(index)[0])
			}
		}
	}
	return strings.Join(ways, "; ")
}

func (r *report) write(file string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
