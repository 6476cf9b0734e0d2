package document

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

// Title is that of the report, or one made of what it is about.
func Title(r *scaling.Report) string {
	if r.Title != "" {
		return r.Title
	}
	if r.By == "" {
		return r.Metric
	}
	return r.Metric + " by " + r.By
}

// Markdown writes the report as Markdown.
func Markdown(w io.Writer, r *scaling.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdownText(Title(r)))
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "- **%s**\n", markdownText(v))
	}
	for i, text := range r.Warnings {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "> warning: %s  \n", markdownText(text))
	}
	for i, t := range Cells(r) {
		t.Note = Kind(&r.Lines[i])
		markdownTable(&b, t)
	}
	if r.Command != "" {
		fmt.Fprintf(&b, "\n## Again\n\n```sh\n%s\n```\n", r.Command)
	}
	fmt.Fprintf(&b, "\n## Method\n\n%s\n", markdownText(Method(r)))
	for _, t := range Details(r) {
		markdownTable(&b, t)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, t Table) {
	fmt.Fprintf(b, "\n## %s\n\n", markdownText(t.Title))
	if t.Note != "" {
		fmt.Fprintf(b, "%s\n\n", t.Note)
	}
	line := func(cells []string) {
		for _, cell := range cells {
			fmt.Fprintf(b, "| %s ", markdownText(cell))
		}
		b.WriteString("|\n")
	}
	line(t.Header)
	for i := range t.Header {
		if i < t.Left {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
}

// markdownText keeps text from being read as Markdown or HTML.
func markdownText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`).Replace(s)
}

// CSV writes a row for each run, with the statistics of its cell beside it.
func CSV(w io.Writer, r *scaling.Report) error {
	out := csv.NewWriter(w)
	names := varying(r)
	header := append([]string{"run", "id", "started"}, names...)
	header = append(header, r.Metric, "ranks", "ranks_asked", "bus_gb_per_s", "counts", "why_not",
		"cell_median", "cell_low", "cell_high", "each_rank", "speedup", "efficiency", "ratio_to_base", "ratio_low", "ratio_high", "p_holm", "smallest_effect")
	rows := [][]string{header}
	for _, run := range ordered(r.Runs) {
		started := ""
		if !run.Started.IsZero() {
			started = run.Started.UTC().Format(time.RFC3339Nano)
		}
		row := []string{text(run.Name), run.ID, started}
		for _, name := range names {
			row = append(row, text(run.Parameters[name]))
		}
		counts, why := "yes", ""
		if i := slices.IndexFunc(r.Failures, func(f scaling.Failure) bool { return f.ID == run.ID && f.Run == run.Name }); i >= 0 {
			counts, why = "no", r.Failures[i].Why
		}
		row = append(row, bare(run.Value), whole(run.World), whole(run.Asked), known(run.Bandwidth), counts, text(why))
		rows = append(rows, append(row, statistics(r, run, names)...))
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// text keeps a spreadsheet from reading a value as a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// varying are the parameters that tell cells apart.
func varying(r *scaling.Report) []string {
	if len(r.Lines) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(r.Lines[0].Cells[0].Parameters))
}

// statistics are those of the run's cell, empty when the cell has none.
func statistics(r *scaling.Report, run scaling.Run, names []string) []string {
	for _, l := range r.Lines {
		for _, c := range l.Cells {
			if slices.ContainsFunc(names, func(name string) bool { return c.Parameters[name] != run.Parameters[name] }) {
				continue
			}
			row := []string{bare(&c.Median), bare(c.Low), bare(c.High), known(c.PerRank), known(c.Speedup), known(c.Efficiency)}
			if a := c.Against; a != nil {
				return append(row, bare(&a.Ratio), bare(a.Low), bare(a.High), bare(&a.Adjusted), bare(a.Smallest))
			}
			return append(row, "", "", "", "", "")
		}
	}
	return make([]string, 11)
}

func bare(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func known(v float64) string {
	if v == 0 {
		return ""
	}
	return bare(&v)
}

func whole(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
