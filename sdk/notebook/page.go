package notebook

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/draw"
)

// page is all that is to be seen of a run, as HTML without scripts.
func (w *watcher) page(run *client.Run) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	status := run.Status
	if status == "" {
		status = "Accepted"
	}
	fmt.Fprintf(&b, `<div><p><b>%s</b> · %s`, html.EscapeString(run.Name), html.EscapeString(status))
	if d := run.Duration(); d > 0 {
		fmt.Fprintf(&b, " · %s", took(d))
	}
	fmt.Fprintf(&b, ` · <a href="%s">open</a></p>`, html.EscapeString(w.client.RunURL(run.ID)))
	if run.Error != "" {
		fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(run.Error))
	}
	if steps := steps(run); len(steps) > 0 {
		b.WriteString(picture("graph of run "+run.Name, draw.Diagram{Title: run.Name, Nodes: steps}.SVG()))
	}
	if len(w.curves) > 0 {
		b.WriteString("<br/>" + picture("curves of metrics", draw.Curves("metrics as they are printed", w.curves)))
	}
	if len(run.Metrics) > 0 {
		b.WriteString("<table><tr><th>metric</th><th>step</th><th>value</th></tr>")
		for _, m := range client.CompareRuns(run).Metrics {
			fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>", html.EscapeString(m.Name), html.EscapeString(m.Step), value(m.Format, m.Values[0]))
		}
		b.WriteString("</table>")
	}
	if len(w.tail) > 0 {
		fmt.Fprintf(&b, "<p>log of %s</p><pre>%s</pre>", html.EscapeString(w.tailOf), html.EscapeString(readable(strings.Join(w.tail, "\n"))))
	}
	b.WriteString("</div>")
	return b.String()
}

// steps are the nodes of a run that are steps, each after those from which a path leads to it without passing another.
func steps(run *client.Run) []draw.Node {
	byID := map[string]*client.Node{}
	for i := range run.Nodes {
		byID[run.Nodes[i].ID] = &run.Nodes[i]
	}
	after := map[string][]string{}
	for i := range run.Nodes {
		from := &run.Nodes[i]
		if !isStep(from) {
			continue
		}
		seen := map[string]bool{}
		var walk func(ids []string)
		walk = func(ids []string) {
			for _, id := range ids {
				n := byID[id]
				if n == nil || seen[id] {
					continue
				}
				seen[id] = true
				if isStep(n) {
					after[id] = append(after[id], from.ID)
					continue
				}
				walk(n.Children)
			}
		}
		walk(from.Children)
	}
	var nodes []draw.Node
	first := map[string]int{} // of the nodes of a name: a step's passes in a loop stand side by side
	order := map[string][]int{}
	for i := range run.Nodes {
		n := &run.Nodes[i]
		if !isStep(n) {
			continue
		}
		nodes = append(nodes, draw.Node{ID: n.ID, Label: n.Label(), Kind: kind(n), Status: n.Phase, After: after[n.ID]})
		if _, known := first[n.DisplayName]; !known {
			first[n.DisplayName] = i
		}
		order[n.ID] = append([]int{first[n.DisplayName]}, passes(n)...)
	}
	slices.SortStableFunc(nodes, func(a, b draw.Node) int { return slices.Compare(order[a.ID], order[b.ID]) })
	return nodes
}

// passes are the numbers of the passes that the node belongs to, the outermost loop's first.
func passes(n *client.Node) (numbers []int) {
	for _, m := range pass.FindAllStringSubmatch(strings.TrimPrefix(n.Label(), n.DisplayName), -1) {
		number, _ := strconv.Atoi(m[1]) // digits, and as many as Argo wrote
		numbers = append(numbers, number)
	}
	return numbers
}

var pass = regexp.MustCompile(`\((\d+):`)

// isStep tells the nodes that run something from those that only hold others.
func isStep(n *client.Node) bool {
	return slices.Contains([]string{"Pod", "Container", "Suspend", "HTTP", "Plugin", "Skipped"}, n.Type)
}

func kind(n *client.Node) string {
	if d := n.Duration(); n.Done() && d > 0 {
		return took(d)
	}
	return ""
}

// readable leaves out what a page cannot show: colours of terminals and other control characters.
func readable(s string) string {
	var b strings.Builder
	escape := false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r == '[' || r == ';' || r >= '0' && r <= '9' || r == '?'
		case r >= ' ' || r == '\n' || r == '\t':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// comparison is the page of Compare.
func comparison(c *client.Comparison) string {
	var b strings.Builder
	b.WriteString("<div><table><tr><th></th>")
	for _, r := range c.Runs {
		fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(r.Name))
	}
	b.WriteString("</tr>")
	row := func(name string, cells []string) {
		fmt.Fprintf(&b, "<tr><td>%s</td>", name)
		for _, cell := range cells {
			fmt.Fprintf(&b, "<td>%s</td>", cell)
		}
		b.WriteString("</tr>")
	}
	cells := make([]string, len(c.Runs))
	for i, r := range c.Runs {
		cells[i] = html.EscapeString(r.Status)
	}
	row("status", cells)
	for i, d := range c.Took() {
		cells[i] = took(d)
	}
	row("took", cells)
	for _, m := range c.Metrics {
		for i, v := range m.Values {
			cells[i] = value(m.Format, v)
		}
		row(fmt.Sprintf("<b>%s</b> of %s", html.EscapeString(m.Name), html.EscapeString(m.Step)), cells)
	}
	for _, same := range []bool{false, true} { // what differs comes first, and stands out
		for _, p := range c.Parameters {
			if p.Same != same {
				continue
			}
			name := html.EscapeString(p.Name)
			if !same {
				name = "<b>" + name + "</b>"
			}
			for i, v := range p.Values {
				cells[i] = html.EscapeString(v)
			}
			row(name, cells)
		}
	}
	b.WriteString("</table>")
	for _, m := range c.Metrics {
		bars := make([]draw.Bar, len(c.Runs))
		for i, v := range m.Values {
			bars[i] = draw.Bar{Name: c.Runs[i].Name, Value: math.NaN()}
			if v != nil {
				bars[i].Value = *v
			}
		}
		b.WriteString("<br/>" + picture("chart of "+m.Name, draw.Bars(m.Name+" of "+m.Step, bars)))
	}
	b.WriteString("</div>")
	return b.String()
}

func value(format string, v *float64) string {
	if v == nil {
		return "–"
	}
	return client.Metric{Value: *v, Format: format}.String()
}

func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
