// Package output prints what commands answer: a table for people, JSON and YAML for programs.
package output

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
)

// Format is how an answer is written; it is a flag value.
type Format string

// The formats.
const (
	Table Format = "table"
	JSON  Format = "json"
	YAML  Format = "yaml"
)

// Formats lists them for completion.
var Formats = []string{string(Table), string(JSON), string(YAML)}

// Set is part of pflag.Value.
func (f *Format) Set(s string) error {
	switch Format(s) {
	case Table, JSON, YAML:
		*f = Format(s)
		return nil
	}
	return exit.Usagef("want one of %s", strings.Join(Formats, ", "))
}

func (f *Format) String() string { return string(*f) }

// Type is part of pflag.Value.
func (*Format) Type() string { return "format" }

// Printer writes answers to Out.
type Printer struct {
	Out    io.Writer
	Format Format
	Color  bool // Out is a terminal that shows colours
}

// Print writes value as JSON or YAML, or calls table when a table is wanted.
func (p Printer) Print(value any, table func()) error {
	switch p.Format {
	case JSON:
		e := json.NewEncoder(p.Out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(value)
	case YAML:
		data, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("write YAML: %w", err)
		}
		_, err = p.Out.Write(data)
		return err
	}
	table()
	return nil
}

// Rows writes a table with aligned columns and no lines, with a header if one is given; an empty one says that there is nothing.
func (p Printer) Rows(nothing string, header []string, rows [][]string) {
	if len(rows) == 0 {
		fmt.Fprintln(p.Out, nothing)
		return
	}
	w := p.writer()
	if header != nil {
		w.AppendHeader(row(header))
	}
	for _, r := range rows {
		w.AppendRow(row(r))
	}
	p.render(w)
}

// Fields writes names and values below each other, leaving out those without a value.
func (p Printer) Fields(pairs ...string) {
	w := p.writer()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			w.AppendRow(table.Row{pairs[i] + ":", pairs[i+1]})
		}
	}
	p.render(w)
}

// Heading writes a line above a part of the answer.
func (p Printer) Heading(title string) { fmt.Fprintf(p.Out, "\n%s\n", p.color(text.Bold, title)) }

// render writes the table without the blanks that fill up its last column.
func (p Printer) render(w table.Writer) {
	for line := range strings.Lines(w.Render()) {
		fmt.Fprintln(p.Out, strings.TrimRight(line, " \n"))
	}
}

func (p Printer) writer() table.Writer {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "   "
	style.Format.Header = text.FormatUpper
	w.SetStyle(style)
	return w
}

// Status colours the phase of a run or a step, or the state of a component.
func (p Printer) Status(s string) string {
	switch s {
	case "":
		return "Accepted"
	case "Succeeded", "ready":
		return p.color(text.FgGreen, s)
	case "Failed", "Error", "down":
		return p.color(text.FgRed, s)
	case "Terminating", "Terminated", "Waiting":
		return p.color(text.FgYellow, s)
	case "Running", "starting":
		return p.color(text.FgCyan, s)
	}
	return s
}

// Mark is the mark of a finding's level: ok, warn or block.
func (p Printer) Mark(level string) string {
	switch level {
	case "ok":
		return p.color(text.FgGreen, "✓")
	case "warn":
		return p.color(text.FgYellow, "!")
	}
	return p.color(text.FgRed, "✗")
}

// Sign colours what was added (+), removed (-) or changed (~).
func (p Printer) Sign(s string) string {
	switch s {
	case "+":
		return p.color(text.FgGreen, s)
	case "-":
		return p.color(text.FgRed, s)
	}
	return p.color(text.FgYellow, s)
}

func (p Printer) color(c text.Color, s string) string {
	if !p.Color {
		return s
	}
	return c.EscapeSeq() + s + text.Reset.EscapeSeq()
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, c := range cells {
		r[i] = c
	}
	return r
}

// Duration is d as people read it: "<1ms", "850ms", "4.2s", "2m10s"; 0 is empty.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Amount writes an amount of a resource; bytes in GiB.
func Amount(resource string, value float64) string {
	if resource == "memory" || strings.HasSuffix(resource, "storage") || strings.HasPrefix(resource, "hugepages-") {
		return strconv.FormatFloat(value/(1<<30), 'f', 1, 64) + "Gi"
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(value, 'f', 3, 64), "0"), ".")
}

// Time is t in the local zone; the zero time is empty.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}
