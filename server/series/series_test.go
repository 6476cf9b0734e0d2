package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func scan(t *testing.T, log io.Reader, rules ...string) (found []run.Point) {
	t.Helper()
	s := newScanner(rules, state{})
	for _, l := range lines(t, log) {
		found = append(found, s.line(l)...)
	}
	return found
}

func lines(t *testing.T, log io.Reader) (all []logs.Line) {
	t.Helper()
	d := logs.PlainLines(io.NopCloser(log), 1)
	for {
		some, err := d.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, some...)
	}
}

func shown(points []run.Point) (text []string) {
	for _, p := range points {
		text = append(text, fmt.Sprintf("%s[%d]#%d@%d=%g", p.Name, p.Rank, p.Index, p.Step, p.Value))
	}
	return text
}

func TestScan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"steps are those that are printed, and a summary is none": {
			"Done warm up\nStep\tImg/sec\n10\timages/sec: 1\n20\timages/sec: 2\ntotal images/sec: 9\n",
			[]string{"images/sec[-1]#0@10=1", "images/sec[-1]#1@20=2"},
		},
		"what the launcher says is none": {
			"[1,0]<stdout>:loss=4\nargosy: metric loss = 4 (last of 1)\n", []string{"loss[0]#0@1=4"},
		},
		"without steps values are counted":       {"loss=4\nloss=3\n", []string{"loss[-1]#0@1=4", "loss[-1]#1@2=3"}},
		"a step that goes back is counted on":    {"batch 1 loss=4\nbatch 2 loss=3\nbatch 1 loss=2\n", []string{"loss[-1]#0@1=4", "loss[-1]#1@2=3", "loss[-1]#2@3=2"}},
		"ranks have curves of their own":         {"[1,0]<stdout>:loss=4\n[1,1]<stdout>:loss=5\n[1,0]<stdout>:loss=3\n", []string{"loss[0]#0@1=4", "loss[1]#0@1=5", "loss[0]#1@2=3"}},
		"what is no number is a point all alike": {"loss=nan\n", []string{"loss[-1]#0@1=NaN"}},
		"nothing":                                {"nothing to see\n", nil},
	} {
		require.Equal(t, c.want, shown(scan(t, strings.NewReader(c.log), "images/sec", "loss:RAW:min", "(:::(")), name)
	}
	log, err := os.Open("../../launcher/scrape/testdata/openmpi-4.1.4.log")
	require.NoError(t, err)
	defer log.Close()
	require.NotEmpty(t, scan(t, log, "images/sec"))
}

func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	s := newScanner([]string{"x"}, state{})
	for rank := range maxCurves + 1 {
		s.line(logs.Line{Number: int64(rank + 1), Text: fmt.Appendf(nil, "[1,%d]<stdout>:x=1", rank)})
	}
	require.True(t, s.full)
	require.Len(t, s.curves, maxCurves)
}

// TestScanGoesOn: wherever a scan is broken off, and taken up by another one, the points are those of a single scan.
func TestScanGoesOn(t *testing.T) {
	t.Parallel()
	const log = "[1,0]<stdout>:step 1 loss=5\n3: loss=9\n[1,0]<stdout>:step 2 loss=0.[1,1]<stdout>:loss=8\n" +
		"[1,0]<stdout>:5\n[1,0]<stdout>:final loss=1\n[1,1]<stdout>:loss=7\nstep 9 loss=4\nargosy: metric loss = 4\nloss=nan\n"
	all, rules := lines(t, strings.NewReader(log)), []string{"loss"}
	want := shown(scan(t, strings.NewReader(log), rules...))
	require.Contains(t, want, "loss[0]#1@2=0.5", "of a line that another one broke into")
	for every := 1; every <= len(all); every++ {
		var points []run.Point
		s, kept := newScanner(rules, state{}), []byte("{}")
		for i, l := range all {
			points = append(points, s.line(l)...)
			if now, between := s.state(); between {
				text, err := json.Marshal(now)
				require.NoError(t, err)
				kept = text
			}
			if (i+1)%every != 0 {
				continue
			}
			var from state
			require.NoError(t, json.Unmarshal(kept, &from))
			s = newScanner(rules, from)
			for _, again := range all[from.Read : i+1] { // what the state does not know of is read once more
				for _, p := range s.line(again) {
					require.Less(t, p.Index, int64(len(points)))
				}
			}
		}
		require.Equal(t, want, shown(points), "broken off after every %d lines", every)
	}
}

func TestSampler(t *testing.T) {
	t.Parallel()
	curve := func(n int, value func(i int) float64, most int) Sampled {
		s := NewSampler(int64(n), most)
		for i := range n {
			s.Add(run.Point{Index: int64(i), Value: value(i)})
		}
		return s.Done()
	}
	for n := range 40 {
		for most := 4; most < 40; most++ {
			got := curve(n, func(i int) float64 { return float64(i * 7 % 11) }, most)
			require.LessOrEqual(t, len(got.Points), most)
			require.Equal(t, n > most, got.Method == MinMax)
			for i := 1; i < len(got.Points); i++ {
				require.Less(t, got.Points[i-1].Index, got.Points[i].Index)
			}
			if n > 0 {
				require.Zero(t, got.Points[0].Index, "%d of %d", most, n)
				require.EqualValues(t, n-1, got.Points[len(got.Points)-1].Index, "%d of %d", most, n)
			}
		}
	}
	// One peak among a hundred thousand values stays, whatever is asked for.
	for most := 4; most < 1000; most *= 3 {
		got := curve(100_000, func(i int) float64 {
			if i == 77_777 {
				return 100
			}
			return math.Sin(float64(i))
		}, most)
		require.Contains(t, got.Points, run.Point{Index: 77_777, Value: 100})
	}
	require.Len(t, curve(1000, func(int) float64 { return math.NaN() }, 10).Points, 5, "a curve of nothing but NaN is one")
}
