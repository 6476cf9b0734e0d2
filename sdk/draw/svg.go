package draw

import (
	"fmt"
	"html"
	"io"
	"strings"
)

const margin = 16

// colours are those of a box's border and fill.
type colours struct{ line, fill string }

// looks are the colours of each status; dark enough to be read on white and on black.
var looks = map[string]colours{
	"":            {"#5c6f91", "#eef2f9"},
	"Pending":     {"#8a8f98", "#f3f4f6"},
	"Running":     {"#1c7ed6", "#dcecfb"},
	"Succeeded":   {"#2b8a3e", "#dff3e3"},
	"Failed":      {"#c92a2a", "#fbe1e1"},
	"Error":       {"#c92a2a", "#fbe1e1"},
	"Terminating": {"#e67700", "#fdefd8"},
	"Terminated":  {"#e67700", "#fdefd8"},
	"Skipped":     {"#adb5bd", "#f8f9fa"},
	"Omitted":     {"#adb5bd", "#f8f9fa"},
}

// SVG draws the diagram. All styles are attributes of the elements, so the drawing looks the same alone, inside any page, and where scripts
// are forbidden.
func (d Diagram) SVG() string {
	p := arrange(d.Nodes)
	w, h := max(p.w+2*margin, textWidth(d.Title)+2*margin), p.h+2*margin+groupTitle
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="system-ui, sans-serif" font-size="13" role="img">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<title>%s</title>\n", clean(d.Title))
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="8" fill="#ffffff"/>`+"\n", w, h)
	fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="600" fill="#1f2937">%s</text>`+"\n", margin, margin+6, clean(d.Title))
	p.draw(&b, (w-p.w)/2, margin+groupTitle)
	b.WriteString("</svg>\n")
	return b.String()
}

// draw writes the plane with its corner at x, y: edges first, so that boxes lie above them.
func (p *plane) draw(w io.Writer, x, y float64) {
	for _, edge := range p.edges {
		drawEdge(w, edge, x, y)
	}
	for _, layer := range p.layers {
		for _, b := range layer {
			if b.node != nil {
				b.draw(w, x+b.x, y+b.y)
			}
		}
	}
}

func (b *box) draw(w io.Writer, x, y float64) {
	n := b.node
	look, known := looks[n.Status]
	if !known {
		look = looks[""]
	}
	about := n.ID
	if n.Status != "" {
		about += ": " + n.Status
	}
	fmt.Fprintf(w, "<g><title>%s</title>\n", clean(strings.TrimSpace(about)))
	if n.Group {
		fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8" fill="%s" fill-opacity="0.35" stroke="%s" stroke-dasharray="5 3"/>`+"\n", x, y, b.w, b.h, look.fill, look.line)
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" font-size="12" fill="#374151">%s</text>`+"\n", x+groupPad, y+17, clean(n.Label))
		b.inner.draw(w, x+(b.w-b.inner.w)/2, y+groupTitle)
	} else {
		fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="7" fill="%s" stroke="%s" stroke-width="1.5"/>`+"\n", x, y, b.w, b.h, look.fill, look.line)
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#111827">%s</text>`+"\n", x+b.w/2, y+19, clean(n.Label))
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="11" fill="%s">%s</text>`+"\n", x+b.w/2, y+35, "#4b5563", clean(below(n)))
	}
	fmt.Fprintln(w, "</g>")
}

// below is the second line of a box.
func below(n *Node) string {
	if n.Status != "" && n.Kind != "" {
		return n.Kind + " · " + n.Status
	}
	return n.Kind + n.Status
}

// drawEdge draws an edge: straight past the layers that it leaves and passes, and curved between them.
func drawEdge(w io.Writer, edge []*box, x, y float64) {
	var path strings.Builder
	fmt.Fprintf(&path, "M%.1f %.1f", x+edge[0].middle(), y+edge[0].y+edge[0].h)
	for i, to := range edge[1:] {
		from := edge[i]
		x1, y1, x2, y2 := x+from.middle(), y+from.bottom, x+to.middle(), y+to.y
		bend := (y2 - y1) / 2
		fmt.Fprintf(&path, " V%.1f C%.1f %.1f %.1f %.1f %.1f %.1f", y1, x1, y1+bend, x2, y2-bend, x2, y2)
	}
	fmt.Fprintf(w, `<path d="%s" fill="none" stroke="#9aa4b2" stroke-width="1.5"/>`+"\n", path.String())
	end := edge[len(edge)-1]
	fmt.Fprintf(w, `<path d="M%.1f %.1f l-4 -7 h8 z" fill="#9aa4b2"/>`+"\n", x+end.middle(), y+end.y)
}

// clean makes text of XML: escaped, and without the characters that XML does not have.
func clean(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0xFFFE || r == 0xFFFF || r == 0xFFFD {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}
