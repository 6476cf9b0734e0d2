package draw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Line is a curve of a chart: its values in order. Steps say where each lies; without them they are counted from 0.
type Line struct {
	Name          string
	Steps, Values []float64
}

func (l Line) step(i int) float64 {
	if i < len(l.Steps) {
		return l.Steps[i]
	}
	return float64(i)
}

// Sizes of charts in pixels.
const (
	chartWidth = 640
	chartLeft  = 64
	chartTop   = 42
	plotHeight = 146
	axisHeight = 24
	legendRow  = 17
	barTop     = 30
	barHeight  = 22
	maxDots    = 600 // more values than that are thinned out: there are not more pixels
)

// palette tells lines apart, also for those who see colours differently (Okabe and Ito, 2008).
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b"}

// span is what an axis covers.
type span struct{ low, high float64 }

func noSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) take(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

// part is how far v is on the way from the low end to the high one, from 0 to 1.
func (s span) part(v float64) float64 {
	if s.high == s.low {
		return 0
	}
	return v/(s.high-s.low) - s.low/(s.high-s.low)
}

// Curves draws lines over their steps.
func Curves(title string, lines []Line) string {
	values, steps := noSpan(), noSpan()
	for _, l := range lines {
		for i, v := range l.Values {
			if finite(v) && finite(l.step(i)) {
				values.take(v)
				steps.take(l.step(i))
			}
		}
	}
	if values.low > values.high {
		values, steps = span{0, 1}, span{0, 1}
	}
	if v := values.low; v == values.high {
		values = span{v - math.Abs(v)/10 - 0.5, v + math.Abs(v)/10 + 0.5}
	}
	const w, bottom = float64(chartWidth - chartLeft - margin), chartTop + plotHeight
	x := func(step float64) float64 { return chartLeft + w*steps.part(step) }
	y := func(v float64) float64 { return bottom - plotHeight*values.part(v) }

	rows, legend := legend(lines, bottom+axisHeight)
	var b strings.Builder
	head(&b, title, chartWidth, bottom+axisHeight+rows*legendRow+margin/2)
	for _, v := range []float64{values.high, values.low/2 + values.high/2, values.low} {
		fmt.Fprintf(&b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#e5e7eb"/>`+"\n", chartLeft, y(v), chartWidth-margin, y(v))
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end" font-size="11" fill="#4b5563">%s</text>`+"\n", chartLeft-6, y(v)+4, number(v))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="11" fill="#4b5563">step %s</text>`+"\n", chartLeft, bottom+15, number(steps.low))
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end" font-size="11" fill="#4b5563">%s</text>`+"\n", chartWidth-margin, bottom+15, number(steps.high))
	for i, l := range lines {
		l.draw(&b, palette[i%len(palette)], x, y)
	}
	b.WriteString(legend + "</svg>\n")
	return b.String()
}

// draw writes the line; one value alone is a dot.
func (l Line) draw(b *strings.Builder, colour string, x, y func(float64) float64) {
	var points []string
	each := max(1, len(l.Values)/maxDots)
	for i := 0; i < len(l.Values); i += each {
		if finite(l.Values[i]) && finite(l.step(i)) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(l.step(i)), y(l.Values[i])))
		}
	}
	if len(points) == 1 {
		at := strings.Split(points[0], ",")
		fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", at[0], at[1], colour)
		return
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(points, " "), colour)
}

// legend names the lines with their last values, in as many rows as it takes, from y on.
func legend(lines []Line, y int) (rows int, svg string) {
	var b strings.Builder
	at := float64(chartLeft)
	for i, l := range lines {
		const most = 72
		text := l.Name
		if r := []rune(text); len(r) > most {
			text = string(r[:most-1]) + "…"
		}
		if n := len(l.Values); n > 0 {
			text += " " + number(l.Values[n-1])
		}
		width := textWidth(text)*11/13 + 38 // in a smaller type
		if rows == 0 || at+width > chartWidth && at > chartLeft {
			rows++
			at = chartLeft
		}
		middle := y + rows*legendRow - legendRow/2
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="10" height="3" fill="%s"/>`+"\n", at, middle-1, palette[i%len(palette)])
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" font-size="11" fill="#374151">%s</text>`+"\n", at+14, middle+4, clean(text))
		at += width
	}
	return rows, b.String()
}

// Bar is one bar of a chart. A NaN value is missing.
type Bar struct {
	Name  string
	Value float64
}

// Bars draws values side by side, from zero.
func Bars(title string, bars []Bar) string {
	low, high, label := 0.0, 0.0, 0.0
	for _, bar := range bars {
		label = max(label, textWidth(short(bar.Name)))
		if finite(bar.Value) {
			low, high = min(low, bar.Value), max(high, bar.Value)
		}
	}
	if low == high {
		high = 1
	}
	left := margin + label + 8
	w := chartWidth - left - margin - 70
	zero := left + w*(0-low)/(high-low)
	var b strings.Builder
	head(&b, title, chartWidth, barTop+len(bars)*barHeight+margin)
	for i, bar := range bars {
		y := float64(barTop + i*barHeight)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="end" font-size="12" fill="#374151">%s</text>`+"\n", left-8, y+15, clean(short(bar.Name)))
		if !finite(bar.Value) {
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="12" fill="#6b7280">–</text>`+"\n", zero+4, y+15)
			continue
		}
		end := left + w*(bar.Value-low)/(high-low)
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", min(zero, end), y+4, max(1, math.Abs(end-zero)), barHeight-8, palette[i%len(palette)])
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="12" fill="#111827">%s</text>`+"\n", max(zero, end)+6, y+15, number(bar.Value))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func head(b *strings.Builder, title string, w, h int) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13" role="img">`+"\n", w, h, w, h)
	fmt.Fprintf(b, "<title>%s</title>\n<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#ffffff\"/>\n", clean(title), w, h)
	fmt.Fprintf(b, `<text x="%d" y="20" font-weight="600" fill="#1f2937">%s</text>`+"\n", margin, clean(title))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number writes a value in few digits.
func number(v float64) string {
	if a := math.Abs(v); a >= 100 && a < 1e6 {
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
