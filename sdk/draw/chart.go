package draw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Line is a curve of a chart: its values in order.
type Line struct {
	Name   string
	Values []float64
}

// Sizes of charts in pixels.
const (
	chartWidth  = 640
	chartHeight = 200
	chartLeft   = 64
	chartTop    = 30
	chartBottom = 24
	barHeight   = 22
	maxDots     = 600 // more values than that are thinned out: there are not more pixels
)

// palette tells lines apart, also for those who see colours differently (Okabe and Ito, 2008).
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b"}

// Curves draws lines over the numbers of their values.
func Curves(title string, lines []Line) string {
	low, high, longest := math.Inf(1), math.Inf(-1), 0
	for _, l := range lines {
		longest = max(longest, len(l.Values))
		for _, v := range l.Values {
			if finite(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		low, high = 0, 1
	}
	if low == high {
		low, high = low-math.Abs(low)/10-0.5, high+math.Abs(high)/10+0.5
	}
	const w, h = float64(chartWidth - chartLeft - margin), float64(chartHeight - chartTop - chartBottom)
	x := func(i int) float64 { return chartLeft + w*float64(i)/float64(max(1, longest-1)) }
	y := func(v float64) float64 { return chartTop + h*(high-v)/(high-low) }

	var b strings.Builder
	head(&b, title, chartWidth, chartHeight)
	for _, v := range []float64{high, (low + high) / 2, low} {
		fmt.Fprintf(&b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#e5e7eb"/>`+"\n", chartLeft, y(v), chartWidth-margin, y(v))
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end" font-size="11" fill="#4b5563">%s</text>`+"\n", chartLeft-6, y(v)+4, number(v))
	}
	for i, l := range lines {
		colour := palette[i%len(palette)]
		var points []string
		step := max(1, len(l.Values)/maxDots)
		for j := 0; j < len(l.Values); j += step {
			if finite(l.Values[j]) {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(j), y(l.Values[j])))
			}
		}
		if len(points) == 1 {
			at := strings.Split(points[0], ",")
			fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", at[0], at[1], colour)
			continue
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(points, " "), colour)
	}
	legend(&b, lines)
	b.WriteString("</svg>\n")
	return b.String()
}

// legend names the lines below the chart, as far as there is room.
func legend(b *strings.Builder, lines []Line) {
	at := float64(chartLeft)
	for i, l := range lines {
		text := short(l.Name)
		if n := len(l.Values); n > 0 {
			text += " " + number(l.Values[n-1])
		}
		if at+textWidth(text) > chartWidth {
			return
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="10" height="3" fill="%s"/>`+"\n", at, chartHeight-12, palette[i%len(palette)])
		fmt.Fprintf(b, `<text x="%.1f" y="%d" font-size="11" fill="#374151">%s</text>`+"\n", at+14, chartHeight-8, clean(text))
		at += textWidth(text) + 24
	}
}

// Bar is one bar of a chart. NaN is a value that is not there.
type Bar struct {
	Name  string
	Value float64
}

// Bars draws values beside each other, from zero.
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
	head(&b, title, chartWidth, chartTop+len(bars)*barHeight+margin)
	for i, bar := range bars {
		y := float64(chartTop + i*barHeight)
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
