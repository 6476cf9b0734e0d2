package runview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/sdk/client"
)

// StepTable prints what ran.
func StepTable(p output.Printer, r *client.Run) {
	var rows [][]string
	for _, n := range Steps(r) {
		rows = append(rows, []string{n.Label(), p.Status(n.Phase), took(n), n.ExitCode, values(n.Outputs), cmp.Or(n.Waiting, whyNotRun(n))})
	}
	p.Rows("no steps yet", []string{"step", "status", "took", "exit code", "outputs", ""}, rows)
}

// whyNotRun says of a step that ended well without running anything why it did not.
func whyNotRun(n client.Node) string {
	if n.Type == "Skipped" || n.Phase == client.Succeeded && n.PodName == "" {
		return oneLine(n.Message)
	}
	return ""
}

// MetricTable prints what was measured.
func MetricTable(p output.Printer, r *client.Run) {
	names := map[string]string{}
	for _, n := range r.Nodes {
		names[n.ID] = n.Label()
	}
	var rows [][]string
	for _, m := range r.Metrics {
		rows = append(rows, []string{m.Name, MetricValue(m), names[m.NodeID]})
	}
	p.Rows("no metrics", []string{"metric", "value", "step"}, rows)
}

// CurveTable prints how metrics went while the run printed them.
func CurveTable(p output.Printer, curves []client.RunCurve) {
	var rows [][]string
	for _, c := range curves {
		row := []string{c.Name}
		for _, value := range []*float64{c.Last, c.Min, c.Max} {
			text := "NaN"
			if value != nil {
				text = MetricValue(client.Metric{Value: *value, Format: c.Format})
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	p.Rows("no curves", []string{"metric", "last", "min", "max"}, rows)
}

// MetricValue is a metric's number as KFP shows it: with three decimals, percentages as such.
func MetricValue(m client.Metric) string {
	if m.Format == "PERCENTAGE" {
		return strconv.FormatFloat(m.Value*100, 'f', 3, 64) + "%"
	}
	return strconv.FormatFloat(m.Value, 'f', 3, 64)
}

// took is how long a step has taken. Argo counts whole seconds.
func took(n client.Node) string {
	if n.Done() && !n.StartedAt.IsZero() && n.Duration() == 0 && whyNotRun(n) == "" {
		return "<1s"
	}
	return output.Duration(n.Duration())
}

// values prints small outputs; what is long or has several lines is for -o json.
func values(list []client.Parameter) string {
	const longest = 40
	var parts []string
	for _, o := range list {
		if o.Value != "" && len(o.Value) <= longest && !strings.Contains(o.Value, "\n") {
			parts = append(parts, o.Name+"="+o.Value)
		}
	}
	return strings.Join(parts, " ")
}

// StepLine tells on a screen that the phase of a step changed, or what it waits for.
func StepLine(s *terminal.Screen, n client.Node) {
	mark := terminal.Pending
	switch n.Phase {
	case client.Succeeded:
		mark = terminal.Good
	case client.Failed, client.Errored:
		mark = terminal.Bad
	}
	more := ""
	if n.Done() {
		if why := whyNotRun(n); why != "" {
			more = " (" + why + ")"
		} else if d := took(n); d != "" {
			more = " " + d
		}
	} else if n.Waiting != "" {
		more = ": " + n.Waiting
	}
	s.Printf("  %s %s %s%s", s.Mark(mark), n.Label(), n.Phase, more)
}

// Explain prints why a run failed: the cause of each failed step and the last lines that it printed.
func Explain(ctx context.Context, w io.Writer, c *client.Client, r *client.Run) {
	if r.Error != "" {
		fmt.Fprintln(w, r.Error)
	}
	for _, n := range Steps(r) {
		if n.Phase != client.Failed && n.Phase != client.Errored {
			continue
		}
		code := ""
		if n.ExitCode != "" {
			code = " with exit code " + n.ExitCode
		}
		fmt.Fprintf(w, "step %s %s%s\n", n.Label(), strings.ToLower(n.Phase), code)
		if n.Message != "" && n.Message != r.Error {
			fmt.Fprintln(w, indent(n.Message))
		}
		// What follows the first line of a message are the last lines of the log already.
		if !n.HasLog || strings.Contains(strings.TrimSpace(n.Message), "\n") {
			continue
		}
		if last, err := lastLines(ctx, c, r.ID, n.ID, 20); err != nil {
			fmt.Fprintf(w, "its log cannot be read: %v\n", err)
		} else if last != "" {
			fmt.Fprintf(w, "its last lines:\n%s\n", indent(last))
		}
	}
}

func lastLines(ctx context.Context, c *client.Client, run, node string, most int) (string, error) {
	// Followed to its end: the server may still be reading what the step printed last.
	log, err := c.Logs.Open(ctx, run, node, client.LogOptions{Follow: true})
	if err != nil {
		return "", err
	}
	defer log.Close()
	// Only the end is kept, however long the log is.
	const window = 64 << 10
	var last []byte
	buffer := make([]byte, window)
	for {
		n, err := log.Read(buffer)
		last = append(last, buffer[:n]...)
		if len(last) > 2*window {
			last = append(last[:0], last[len(last)-window:]...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	lines := strings.Split(strings.TrimRight(string(last), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n"), nil
}

func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
