package notebook

import (
	"fmt"
	"html"
	"strings"

	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/document"
)

// Scaling shows a report of how throughput changes with a parameter: what it says in words, charts, and tables.
func Scaling(r *scaling.Report) error {
	return display(scalingPage(r), strings.Join(r.Verdicts, "\n"))
}

func scalingPage(r *scaling.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<div><p><b>%s</b></p>", html.EscapeString(document.Title(r)))
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(v))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "<p>warning: %s</p>", html.EscapeString(w))
	}
	for i, t := range document.Cells(r) {
		for _, svg := range document.Pictures(r, &r.Lines[i]) {
			b.WriteString(picture(t.Title, svg))
		}
		htmlTable(&b, t)
	}
	for _, t := range document.Details(r) {
		if t.Title == document.FailuresTitle || t.Title == document.DifferencesTitle {
			htmlTable(&b, t)
		}
	}
	b.WriteString("</div>")
	return b.String()
}

func htmlTable(b *strings.Builder, t document.Table) {
	fmt.Fprintf(b, "<p><b>%s</b></p><table>", html.EscapeString(t.Title))
	row := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for _, cell := range cells {
			fmt.Fprintf(b, "<%s>%s</%s>", tag, html.EscapeString(cell), tag)
		}
		b.WriteString("</tr>")
	}
	row("th", t.Header)
	for _, cells := range t.Rows {
		row("td", cells)
	}
	b.WriteString("</table>")
}
