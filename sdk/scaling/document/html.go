package document

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Parse(page))

// section is a line of the report as the page shows it.
type section struct {
	Table
	Charts []template.HTML
	Strips []strip
}

// strip shows the ranks of a cell beside each other: the slower, the darker.
type strip struct {
	Cell, Spoken string
	Ranks        []rank
}

type rank struct {
	Text  string
	Shade int // in per cent
}

// strips are those of the cells whose ranks are known.
func strips(l *scaling.Line) (all []strip) {
	for _, c := range l.Cells {
		if len(c.Stragglers) == 0 {
			continue
		}
		s := strip{Cell: c.At}
		slowest := 0
		for i, share := range c.Stragglers {
			const darkest = 0.2 // this much slower than the fastest, or more
			s.Ranks = append(s.Ranks, rank{fmt.Sprintf("rank %d: %s of the fastest", i, percent(share)), int(100 * min(1, (1-share)/darkest))})
			if share < c.Stragglers[slowest] {
				slowest = i
			}
		}
		s.Spoken = "slowest is " + s.Ranks[slowest].Text
		all = append(all, s)
	}
	return all
}

// HTML writes the report as one page that needs nothing else: no network, no scripts.
func HTML(w io.Writer, r *scaling.Report) error {
	var sections []section
	for i, t := range Cells(r) {
		t.Note = Kind(&r.Lines[i])
		sections = append(sections, section{t, charts(r, &r.Lines[i]), strips(&r.Lines[i])})
	}
	details := Details(r)
	return pageTemplate.Execute(w, map[string]any{
		"Title": Title(r), "Report": r, "Sections": sections, "Details": details, "Method": Method(r),
	})
}
