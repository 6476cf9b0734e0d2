package scrape_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// scan runs a log through a scanner and returns the one metric and its points.
func scan(t *testing.T, log, rule string) (scrape.Metric, []scrape.Point) {
	t.Helper()
	r, err := scrape.ParseRule(rule)
	require.NoError(t, err)
	var points []scrape.Point
	s := scrape.New([]scrape.Rule{r}, scrape.OnPoint(func(p scrape.Point) { points = append(points, p) }))
	_, err = s.Write([]byte(log))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return s.Metrics()[0], points
}

func TestRealLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line, rule string
		want       float64
		unit       string
	}{
		{"300\timages/sec: 189.6 +/- 0.8 (jitter = 12.8)\t7.843", "images/sec", 189.6, ""},
		{"300\timages/sec: 189.6 +/- 0.8 (jitter = 12.8)\t7.843", "jitter", 12.8, ""},
		{"total images/sec: 3033.57", "images/sec", 3033.57, ""},
		{"total images/sec: 3033.57", "total images/sec", 3033.57, ""},
		{"Iter #3: 600.7 img/sec per GPU", "Iter #3", 600.7, "img/sec"},
		{"Img/sec per GPU: 599.1 +-4.2", "Img/sec per GPU", 599.1, ""},
		{"Total img/sec on 8 GPU(s): 4792.8 +-33.6", "Total img/sec on 8 GPU(s)", 4792.8, ""},
		{"DLL 2020-09-15 14:29:13.473765 - Epoch: 0 Iteration: 1  train.loss : 7.09304  train.total_ips : 267.44 img/s", "train.loss", 7.09304, ""},
		{"DLL 2020-09-15 14:29:13.473765 - Epoch: 0 Iteration: 1  train.loss : 7.09304  train.total_ips : 267.44 img/s", "train.total_ips", 267.44, "img/s"},
		{"DLL 2020-09-15 14:29:13.473765 - Epoch: 0 Iteration: 1  train.loss : 7.09304", "Epoch", 0, ""},
		{`DLLL {"type":"LOG","step":[0,1],"data":{"train.total_ips":4294.9}}`, "train.total_ips", 4294.9, ""},
		{`0: :::MLLOG {"event_type":"POINT_IN_TIME","key":"tracked_stats","value":{"throughput":14214.65}}`, "throughput", 14214.65, ""},
		{"{'train_runtime': 71.5487, 'train_samples_per_second': 6.709, 'train_loss': 0.76, 'epoch': 4.64}", "train_samples_per_second", 6.709, ""},
		{"{'train_runtime': 71.5487, 'train_samples_per_second': 6.709, 'train_loss': 0.76, 'epoch': 4.64}", "epoch", 4.64, ""},
		{"Epoch 5: 100%|###| 125/125 [01:23<00:00,  1.50it/s, v_num=0, train_loss=0.245]", "train_loss", 0.245, ""},
		{"Epoch 5: 100%|###| 125/125 [01:23<00:00,  1.50it/s, v_num=0, train_loss=0.245]", "v_num", 0, ""},
		{"Performance:      446.590        0.054", "Performance", 446.590, "0"},
		{"Performance: 618695.793 tau/day, 1432.166 timesteps/s, 716.083 katom-step/s", "Performance", 618695.793, "tau/day"},
		{"# Avg bus bandwidth    : 220.921", "Avg bus bandwidth", 220.921, ""},
	} {
		t.Run(tc.rule+" in "+tc.line, func(t *testing.T) {
			t.Parallel()
			m, points := scan(t, tc.line+"\n", tc.rule)
			require.Equal(t, 1, m.Points, "points %v", points)
			require.InDelta(t, tc.want, m.Value, 1e-9)
			if tc.unit != "0" {
				require.Equal(t, tc.unit, points[0].Unit)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"loss=-0.5": -0.5, "loss=+0.5": 0.5, "loss=1e-05": 1e-05, "loss=1.2e3": 1200, "loss=1.2E+3": 1200,
		"loss=1,234.5": 1234.5, "loss=12,345,678": 12345678, "loss=1,234,5": 1, "loss=1234,567": 1234, "loss: 5.": 5, "loss: .25": .25,
		"loss = 0.3": 0.3, "loss:\t0": 0, `"loss": "0.75"`: 0.75, "loss=3 val_loss=9": 3, "loss=3 loss=4": 4,
		"loss=n/a loss=2": 2, "a loss, then loss=2": 2, "loss=7ms": 7, "(loss=7)": 7, "|loss:7|": 7, "loss=0.5, next=1": 0.5,
		"loss=nan": math.NaN(), "loss: -NaN": math.NaN(), "loss=inf": math.Inf(1), "loss=-Infinity": math.Inf(-1), "loss=1e999": math.Inf(1),
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			m, _ := scan(t, text+"\n", "loss")
			require.Equal(t, 1, m.Points)
			if math.IsNaN(want) {
				require.True(t, math.IsNaN(m.Value), "got %v", m.Value)
			} else {
				require.Equal(t, want, m.Value)
			}
			require.Equal(t, !math.IsNaN(want) && !math.IsInf(want, 0), m.Finite())
		})
	}
}

func TestNotAValue(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"val_loss=0.5", "val/loss: 1", "val.loss: 1", "val-loss: 1", "loss_scale=128", "loss 0.5", "loss: none", "loss: ..5", "loss=-",
		"loss: 1.2.3", "loss: 2020-09-15", "loss: 12:30:01", "loss=0x1f", "loss: nancy", "Loss: 3", "loss:", "loss", "ünloss", "éloss=3",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, points := scan(t, line+"\n", "loss")
			require.Empty(t, points)
		})
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	type points = []scrape.Point
	at := func(rank int, v float64) scrape.Point { return scrape.Point{Metric: "x", Rank: rank, Value: v} }
	for _, tc := range []struct {
		name, log string
		want      points
		ranks     int
	}{
		{"openmpi", "[1,0]<stdout>:x=1\n[1,1]<stdout>:x=2\n", points{at(0, 1), at(1, 2)}, 2},
		{"second job of the same mpirun", "[2,3]<stdout>:x=1\n", points{at(3, 1)}, 1},
		{"stderr is apart from stdout", "[1,0]<stdout>:x=[1,0]<stderr>:x=5\n[1,0]<stdout>:7\n", points{at(0, 5), at(0, 7)}, 1},
		{"timestamp glued on", "Fri Nov 20 23:13:20 2026[1,0]<stdout>:x=1\nFri Nov  6 23:13:20 2026[1,1]<stdout>:x=2\n", points{at(0, 1), at(1, 2)}, 2},
		{"timestamp behind open text", "Fri Nov 20 23:13:20 2026[1,0]<stdout>:x=Fri Nov 20 23:13:20 2026[1,1]<stdout>:x=2\nFri Nov 20 23:13:20 2026[1,0]<stdout>:1\n", points{at(1, 2), at(0, 1)}, 2},
		{"prrte detailed", "[prterun-node-17@1,12][node-3:4711]<stdout>:x=1\n", points{at(12, 1)}, 1},
		{"gloo", "[0]<stdout>:x=1\n[1]<stderr>:x=2\n", points{at(0, 1), at(1, 2)}, 2},
		{"hydra", "[4] x=1\n", points{at(4, 1)}, 0},
		{"srun", "11: x=1\n", points{at(11, 1)}, 0},
		{"torch", "[rank1]:x=1\n[default3]: x=2\n", points{at(1, 1), at(3, 2)}, 0},
		{"weak tags are not believed beside strong ones", "[1,0]<stdout>:x=1\n3: x=2\n", points{at(0, 1), at(-1, 2)}, 1},
		{"a weak tag inside a line is text", "value [0] x=1\n", points{at(-1, 1)}, 0},
		{"open text of two ranks", "[1,0]<stdout>:x=0.[1,1]<stdout>:x=2\n[1,0]<stdout>:5\n", points{at(1, 2), at(0, .5)}, 2},
		{"several whole lines in one", "[1,0]<stdout>:x=1[1,1]<stdout>:x=2[1,2]<stdout>:x=3\n", points{at(2, 3), at(0, 1), at(1, 2)}, 3},
		{"progress bar", "[1,0]<stdout>:x=1\rx=2\rx=3\n", points{at(0, 1), at(0, 2), at(0, 3)}, 1},
		{"crlf", "[1,0]<stdout>:x=1\r\n[1,1]<stdout>:x=2\r\n", points{at(0, 1), at(1, 2)}, 2},
		{"colours", "\x1b[1m[1,0]<stdout>:\x1b[32mx\x1b[0m = \x1b[1;31m1\x1b[0m\n", points{at(0, 1)}, 1},
		{"link", "\x1b]8;;http://h/\x07x\x1b]8;;\x07=1\n", points{at(-1, 1)}, 0},
		{"no tag", "x=1\n", points{at(-1, 1)}, 0},
		{"no line end", "[1,0]<stdout>:x=1", points{at(0, 1)}, 1},
		{"empty", "", nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, cut := range []string{"whole", "bytes"} {
				var got points
				s := scrape.New([]scrape.Rule{{Name: "x"}}, scrape.OnPoint(func(p scrape.Point) { got = append(got, p) }))
				write(t, s, tc.log, cut == "bytes")
				require.NoError(t, s.Close())
				require.Empty(t, cmp.Diff(tc.want, got), cut)
				require.Equal(t, tc.ranks, s.Ranks(), cut)
			}
		})
	}
}

func TestReduce(t *testing.T) {
	t.Parallel()
	const log = "[1,0]<stdout>:x=1\n[1,1]<stdout>:x=10\n[1,0]<stdout>:x=5\n[1,1]<stdout>:x=3\n[1,0]<stdout>:x=4\n"
	for rule, want := range map[string]float64{
		"x": 4, "x:RAW:last": 4, "x:RAW:max": 10, "x:RAW:min": 1, "x:raw:mean": 3.5, "x::SUM": 7, "x:RAW:sum-over-ranks": 7,
	} {
		m, _ := scan(t, log, rule)
		require.Equal(t, want, m.Value, rule)
		require.Equal(t, 5, m.Points)
	}
	m, _ := scan(t, "x=nan\nx=2\nx=nan\n", "x:RAW:max")
	require.Equal(t, 2.0, m.Value, "NaN is no maximum")
	m, _ = scan(t, "x=2\nx=nan\n", "x")
	require.False(t, m.Finite(), "a job that ended in NaN did not end in 2")
	m, _ = scan(t, "y=2\n", "x")
	require.False(t, m.Finite())
}

// A total that every rank prints counts once, and is not part of the ranks' mean. The lines are those of tf_cnn_benchmarks on two ranks.
func TestSummariesCountOnce(t *testing.T) {
	t.Parallel()
	const steps = "[1,0]<stdout>:300\timages/sec: 189.6 +/- 0.8 (jitter = 12.8)\t7.843\n[1,1]<stdout>:300\timages/sec: 189.4 +/- 0.8 (jitter = 12.7)\t7.836\n"
	const totals = "[1,0]<stdout>:total images/sec: 379.07\n[1,1]<stdout>:total images/sec: 379.07\n"
	for _, tc := range []struct {
		log, rule string
		want      float64
	}{
		{steps, "images/sec::sum", 379},
		{steps + totals, "images/sec::sum", 379.07},
		{totals + steps, "images/sec::sum", 379.07},
		{steps + totals, "images/sec::mean", 189.5},
		{totals, "images/sec::mean", 379.07},
		{steps + totals, "images/sec", 379.07},
		{steps + totals, "images/sec::max", 379.07},
		{steps + totals, "total images/sec::sum", 379.07},
		{"[1,0]<stdout>:Total img/sec on 8 GPU(s): 4792.8 +-33.6\n[1,1]<stdout>:Total img/sec on 8 GPU(s): 4792.8 +-33.6\n", "Total img/sec on 8 GPU(s)::sum", 4792.8},
		{"[1,0]<stdout>:subtotal x=1\n[1,1]<stdout>:grand_total x=2\n", "x::sum", 3},
		{"[1,0]<stdout>:total=1\n[1,1]<stdout>:total=2\n", "total::sum", 3},
		{"[1,0]<stdout>:Overall x=7\n[1,1]<stdout>:x=2\n", "x::sum", 7},
	} {
		m, _ := scan(t, tc.log, tc.rule)
		require.InDelta(t, tc.want, m.Value, 1e-9, "%s in %q", tc.rule, tc.log)
	}
}

func TestPercentage(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]float64{"x=98.1%\n": .981, "x=0.981\n": .981, "x: 98.1 %\n": .981, "x=98.1\n": 98.1} {
		m, _ := scan(t, log, "x:PERCENTAGE")
		require.InDelta(t, want, m.Value, 1e-12, log)
	}
	m, _ := scan(t, "x=98.1%\n", "x:RAW")
	require.Equal(t, 98.1, m.Value)
}

func TestParseRule(t *testing.T) {
	t.Parallel()
	got, err := scrape.ParseRule(" images/sec ")
	require.NoError(t, err)
	require.Equal(t, scrape.Rule{Name: "images/sec", Format: scrape.Raw, Reduce: scrape.Last}, got)
	for in, want := range map[string]string{
		"": "has no name", ":RAW": "has no name", "x:percent": `unknown format "percent"`, "x:RAW:median": `unknown reduction "median"`, "a:RAW:max:(": "missing closing )",
	} {
		_, err := scrape.ParseRule(in)
		require.ErrorContains(t, err, want, in)
	}
}

// A regular expression finds what stands behind no name: the table of the EKS benchmark, and a group of its own.
func TestPattern(t *testing.T) {
	t.Parallel()
	const table = "  Step Epoch Speed   Loss  FinLoss   LR\n[1,0]<stdout>:   100   0.2  4812.5  6.912  8.301 0.10000\n"
	for rule, want := range map[string]float64{
		`speed:::^ *\d+ +[\d.]+ +([\d.]+)`: 4812.5, `steps:RAW:max:^ *(\d+)`: 100, `lr:::\S+$`: 0.1,
	} {
		m, _ := scan(t, table, rule)
		require.Equal(t, want, m.Value, rule)
	}
	m, _ := scan(t, "a=1 b=2\n", `x:::c=(\d+)|a=\d`)
	require.Zero(t, m.Points, "the group took no part")
}

// The log is what OpenMPI 4.1.4 printed for two ranks.
func TestOpenMPILog(t *testing.T) {
	t.Parallel()
	log, err := os.ReadFile("testdata/openmpi-4.1.4.log")
	require.NoError(t, err)
	for _, cut := range []bool{false, true} {
		var worlds []scrape.World
		var passed strings.Builder
		s := scrape.New([]scrape.Rule{{Name: "images/sec"}, {Name: "loss"}, {Name: "rest", Reduce: scrape.Sum}})
		f := scrape.NewMapFilter(io.MultiWriter(&passed, s), false, func(w scrape.World) { worlds = append(worlds, w) })
		write(t, f, string(log), cut)
		require.NoError(t, f.Close())
		require.NoError(t, s.Close())
		require.Equal(t, []scrape.World{{Ranks: 2, Hosts: []string{"trainer-worker-0.trainer.kubeflow.svc"}, PerHost: []int{2}, At: []string{"trainer-worker-0.trainer.kubeflow.svc", "trainer-worker-0.trainer.kubeflow.svc"}}}, worlds)
		require.NotContains(t, passed.String(), "JOB MAP")
		require.True(t, strings.HasPrefix(passed.String(), "[1,0]<stdout>:partial-0"), passed.String())
		m := s.Metrics()
		require.Equal(t, []float64{3033.57, 0.25, 1}, []float64{m[0].Value, m[1].Value, m[2].Value})
		require.Equal(t, 2, s.Ranks())
	}
}

// Whatever is written, the scanner must not keep it all.
func TestEndlessLineIsBounded(t *testing.T) {
	t.Parallel()
	s := scrape.New([]scrape.Rule{{Name: "x"}})
	chunk := []byte(strings.Repeat("abcdefgh ", 4096))
	for range 2000 { // 72 MB without a line end
		_, _ = s.Write(chunk)
	}
	_, _ = s.Write([]byte(" x=5\n"))
	require.NoError(t, s.Close())
	require.Equal(t, 5.0, s.Metrics()[0].Value)
	require.Less(t, s.Held(), 1<<20)

	s = scrape.New([]scrape.Rule{{Name: "x"}})
	for rank := range 20000 { // 20,000 ranks with 1 kB of open text each
		_, _ = fmt.Fprintf(s, "[1,%d]<stdout>:%s", rank, strings.Repeat("y", 1024))
		require.LessOrEqual(t, s.Held(), 9<<20)
	}
}

func write(t *testing.T, w io.Writer, log string, byByte bool) {
	t.Helper()
	var r io.Reader = strings.NewReader(log)
	if byByte {
		r = iotest.OneByteReader(r)
	}
	// Not io.Copy on the string reader itself: it would hand over everything at once.
	_, err := io.Copy(w, struct{ io.Reader }{r})
	require.NoError(t, err)
}
