// Package metrictest prints what rules for metrics found in a log.
package metrictest

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/launcher/scrape/trial"
)

// Print writes a report for people.
func Print(p output.Printer, r *trial.Report) {
	p.Heading("Rule " + r.Rule)
	if r.Points == 0 {
		fmt.Fprintln(p.Out, "no line matches")
	} else {
		var rows [][]string
		for _, reduce := range trial.Reduces {
			chosen := ""
			if reduce == r.Reduce {
				chosen = "as the rule says"
			}
			rows = append(rows, []string{string(reduce), r.Results[string(reduce)].String(), chosen})
		}
		fmt.Fprintf(p.Out, "%d numbers", r.Points)
		if r.Ranks > 0 {
			fmt.Fprintf(p.Out, " of %d ranks", r.Ranks)
		}
		fmt.Fprintln(p.Out)
		p.Rows("", []string{"reduce", "result", ""}, rows)
		p.Heading("Matching lines")
		p.Rows("", []string{"line", "rank", "value", "unit", "text"}, rowsOf(r.Matches, func(l trial.Line) []string {
			unit := l.Unit
			if l.Summary {
				unit = strings.TrimSpace(unit + " (of all ranks)")
			}
			return []string{l.Value.String(), unit}
		}))
		tellMore(p.Out, r.MoreMatches)
	}
	if len(r.Misses) > 0 {
		p.Heading("Near misses")
		p.Rows("", []string{"line", "rank", "why", "text"}, rowsOf(r.Misses, func(l trial.Line) []string { return []string{l.Miss} }))
		tellMore(p.Out, r.MoreMisses)
	}
}

func rowsOf(lines []trial.Line, columns func(trial.Line) []string) (rows [][]string) {
	for _, l := range lines {
		rank := ""
		if l.Rank != nil {
			rank = strconv.Itoa(*l.Rank)
		}
		row := append([]string{strconv.Itoa(l.Line), rank}, columns(l)...)
		rows = append(rows, append(row, strings.TrimSpace(strings.ReplaceAll(l.Text, "\t", " "))))
	}
	return rows
}

func tellMore(out io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(out, "and %d more; --show lists them\n", n)
	}
}
