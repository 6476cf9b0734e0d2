package draw

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCurves(t *testing.T) {
	t.Parallel()
	svg := Curves("loss <&>", []Line{
		{Name: "a", Values: []float64{3, 2, 1}},
		{Name: "b", Values: []float64{1, math.NaN(), 2, math.Inf(1)}},
		{Name: "one", Values: []float64{2}},
		{Name: "none"},
		{Name: "late", Steps: []float64{2, 4}, Values: []float64{2, 3}},
	})
	wellFormed(t, svg)
	require.Contains(t, svg, `points="64.0,42.0 204.0,115.0 344.0,188.0"`, "from the top to the bottom, over half of the steps")
	require.Contains(t, svg, `points="344.0,115.0 624.0,42.0"`, "where its steps are")
	require.Contains(t, svg, ">step 0</text>")
	require.Contains(t, svg, ">4</text>")
	for _, name := range []string{"a 1", "b +Inf", "one 2", "none", "late 3"} {
		require.Contains(t, svg, ">"+name+"</text>", "each line has a name")
	}
	require.Contains(t, svg, "<circle ", "a single value")
	require.NotContains(t, svg, "NaN")
	require.Contains(t, svg, "loss &lt;&amp;&gt;")
	long := make([]float64, 100_000)
	require.Less(t, len(Curves("long", []Line{{Name: "l", Values: long}})), 30_000)
	for _, lines := range [][]Line{
		nil,
		{{Name: "flat", Values: []float64{5, 5}}},
		{{Name: "nothing", Values: []float64{math.NaN()}}},
		{{Name: "huge", Values: []float64{math.MaxFloat64, -math.MaxFloat64}}},
		{{Name: strings.Repeat("long ", 100), Steps: []float64{7}, Values: []float64{1}}},
	} {
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
