package draw

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCurves(t *testing.T) {
	t.Parallel()
	svg := Curves("loss <&>", []Line{{"a", []float64{3, 2, 1}}, {"b", []float64{1, math.NaN(), 2, math.Inf(1)}}, {"one", []float64{2}}, {"none", nil}})
	wellFormed(t, svg)
	require.Contains(t, svg, `points="64.0,30.0 250.7,103.0 437.3,176.0"`, "from the top to the bottom, over three of four places")
	require.Contains(t, svg, "<circle ", "a single value")
	require.NotContains(t, svg, "NaN")
	require.Contains(t, svg, "loss &lt;&amp;&gt;")
	long := make([]float64, 100_000)
	require.Less(t, len(Curves("long", []Line{{"l", long}})), 30_000)
	for _, lines := range [][]Line{nil, {{"flat", []float64{5, 5}}}, {{"nothing", []float64{math.NaN()}}}, {{"huge", []float64{math.MaxFloat64, -math.MaxFloat64}}}} {
		wellFormed(t, Curves("", lines))
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	svg := Bars("images/sec", []Bar{{"one", 100}, {"two", 200}, {"lost", math.NaN()}})
	wellFormed(t, svg)
	require.Contains(t, svg, ">200</text>")
	require.Contains(t, svg, ">–</text>")
	require.NotContains(t, svg, "NaN")
	var widths []string
	for part := range strings.SplitSeq(svg, `<rect x="`) {
		if _, after, ok := strings.Cut(part, `height="14"`); ok {
			_, width, _ := strings.Cut(part, `width="`)
			width, _, _ = strings.Cut(width, `"`)
			widths = append(widths, width)
			require.NotEmpty(t, after)
		}
	}
	require.Len(t, widths, 2)
	for _, bars := range [][]Bar{nil, {{"zero", 0}}, {{"below", -3}, {"above", 2}}} {
		wellFormed(t, Bars("", bars))
	}
}
