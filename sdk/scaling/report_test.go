package scaling_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

// runs are some of a cell, with these values.
func runs(parameters map[string]string, ranks int, values ...float64) (all []scaling.Run) {
	for i, v := range values {
		all = append(all, scaling.Run{
			ID: fmt.Sprint(parameters, i), Name: fmt.Sprint(parameters, i), Parameters: parameters, Value: &v, World: ranks, Asked: ranks,
		})
	}
	return all
}

func join(all ...[]scaling.Run) (joined []scaling.Run) {
	for _, list := range all {
		joined = append(joined, list...)
	}
	return joined
}

func report(t *testing.T, all []scaling.Run, o scaling.Options) *scaling.Report {
	t.Helper()
	if o.Metric == "" {
		o.Metric = "images/sec"
	}
	r, err := scaling.New(all, o)
	require.NoError(t, err)
	return r
}

// TestNetworks has the figures of the article on elastic network interfaces: 16 ranks, one run of each network.
func TestNetworks(t *testing.T) {
	t.Parallel()
	r := report(t, join(
		runs(map[string]string{"network": "eni"}, 16, 3033.57),
		runs(map[string]string{"network": "host"}, 16, 3001.91),
	), scaling.Options{By: "network", Base: "host"})
	require.False(t, r.Scaling)
	require.Len(t, r.Lines, 1)
	eni := r.Lines[0].Cells[0]
	require.Equal(t, "eni", eni.At)
	require.InDelta(t, 1.0105, eni.Against.Ratio, 0.00005)
	require.Nil(t, eni.Against.Low, "one run has no spread")
	require.Nil(t, eni.Against.Smallest)
	require.Equal(t, []string{"eni 1.1 % faster than host; 1 and 1 runs are too few to tell, each cell needs 4"}, r.Verdicts)
}

// TestScalingOnGPUs has the figures of the article on EKS: 98,000 images/s on 160 GPUs, 90 to 100 % efficient.
func TestScalingOnGPUs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ one, efficiency float64 }{{612.5, 1}, {680.56, 0.9}} {
		r := report(t, join(
			runs(map[string]string{"workers": "1", "batch_size": "256"}, 1, c.one),
			runs(map[string]string{"workers": "160", "batch_size": "256"}, 160, 98000),
		), scaling.Options{})
		require.True(t, r.Scaling)
		line := r.Lines[0]
		require.Equal(t, scaling.Weak, line.Kind)
		require.Equal(t, "1", line.Base)
		require.InDelta(t, 612.5, line.Cells[1].PerRank, 1e-9)
		require.InDelta(t, c.efficiency, line.Cells[1].Efficiency, 0.0001)
		require.InDelta(t, 98000/c.one, line.Cells[1].Speedup, 1e-9)
		require.Equal(t, line.Cells[1].Efficiency, line.Cells[1].Against.Ratio)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	r := report(t, runs(map[string]string{"workers": "160"}, 160, 98000), scaling.Options{Price: 3.06, PriceSource: "USD for a V100, on demand, 2019"})
	require.InDelta(t, 489.6, r.Lines[0].Cells[0].CostPerHour, 1e-9)
	require.InDelta(t, 1.38776, r.Lines[0].Cells[0].CostPerMillion, 1e-5, "1,000,000 images take 10.2 s")
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	base := []float64{100, 100.4, 99.7, 100.2, 99.9, 100.1}
	times := func(f float64) (values []float64) {
		for i, v := range base {
			values = append(values, v*f+float64(i%3)/100)
		}
		return values
	}
	network := func(name string, values []float64) []scaling.Run {
		return runs(map[string]string{"network": name}, 2, values...)
	}
	r := report(t, join(network("host", base), network("eni", times(1.05))), scaling.Options{Base: "host"})
	require.Regexp(t, `^eni 5\.0 % faster than host \(95 %: 4\.\d–5\.\d %\)$`, r.Verdicts[0])
	r = report(t, join(network("host", base), network("eni", times(0.9))), scaling.Options{Base: "host"})
	require.Regexp(t, `^eni 10\.0 % slower than host \(95 %: 9\.\d–10\.\d %\)$`, r.Verdicts[0])
	r = report(t, join(network("host", base), network("eni", times(1.0005))), scaling.Options{Base: "host"})
	require.Regexp(t, `^eni: no difference above (0\.\d|1) % from host$`, r.Verdicts[0])
	require.NotNil(t, r.Lines[0].Cells[0].Against.Smallest)
	r = report(t, join(network("host", base), network("eni", times(1.05))), scaling.Options{Base: "host", Metric: "loss"})
	require.Contains(t, r.Verdicts[0], "5.0 % higher than host")

	workers := func(n int, values []float64) []scaling.Run {
		return runs(map[string]string{"workers": strconv.Itoa(n)}, n, values...)
	}
	r = report(t, join(workers(1, base), workers(2, times(1.8))), scaling.Options{})
	require.Regexp(t, `^2 ranks: 90\.0 % efficient \(95 %: 89\.\d–90\.\d %\), 1\.80 times the throughput of 1; ranks lose speed$`, r.Verdicts[0])
	r = report(t, join(workers(1, base), workers(2, times(2))), scaling.Options{})
	require.Regexp(t, `^2 ranks: 100\.0 % efficient \(95 %: .*\), 2\.00 times the throughput of 1; no loss shown, it is at most 0\.\d %$`, r.Verdicts[0])
	r = report(t, join(workers(1, base[:3]), workers(2, times(1.8)[:3])), scaling.Options{})
	require.NotContains(t, r.Verdicts[0], "95 %", "three runs bound nothing")
	require.Contains(t, r.Verdicts[0], "; 3 and 3 runs are too few to tell, each cell needs 4")
	require.Contains(t, r.Warnings[len(r.Warnings)-1], "fewer than 4 runs")
}

// TestNoFalseAlarms: sweeps whose cells do not differ at most rarely seem to, whatever the number of cells and runs.
func TestNoFalseAlarms(t *testing.T) {
	t.Parallel()
	const sweeps = 1000
	random := rand.New(rand.NewPCG(7, 7))
	alarms, misses := 0, 0
	for sweep := range sweeps {
		cells, repeats := 2+sweep%4, 4+sweep%5
		var all []scaling.Run
		for cell := range cells {
			values := make([]float64, repeats)
			for i := range values {
				values[i] = 190 * math.Exp(0.02*random.NormFloat64())
			}
			all = append(all, runs(map[string]string{"fusion": strconv.Itoa(cell)}, 8, values...)...)
		}
		r := report(t, all, scaling.Options{Seed: uint64(sweep)})
		alarm, miss := false, false
		for _, c := range r.Lines[0].Cells[1:] {
			alarm = alarm || c.Against.Different
			miss = miss || *c.Against.Low > 1 || *c.Against.High < 1
		}
		if alarm {
			alarms++
		}
		if miss && cells == 2 {
			misses++
		}
	}
	t.Logf("%d of %d sweeps of equal cells give a false alarm; %d of %d intervals miss the truth", alarms, sweeps, misses, sweeps/4)
	require.LessOrEqual(t, alarms, sweeps*5/100)
	require.LessOrEqual(t, misses, sweeps/4*8/100)
}

// TestSmallestEffect: an effect of the size that a report calls the smallest is found about four times in five.
func TestSmallestEffect(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	draw := func(middle float64) (values []float64) {
		for range 8 {
			values = append(values, middle*math.Exp(0.02*random.NormFloat64()))
		}
		return values
	}
	first := report(t, join(runs(map[string]string{"b": "1"}, 2, draw(100)...), runs(map[string]string{"b": "2"}, 2, draw(100)...)), scaling.Options{})
	smallest := *first.Lines[0].Cells[1].Against.Smallest
	require.InDelta(t, 0.038, smallest, 0.019, "about 1.9 standard deviations at 8 runs")
	found, tries := 0, 300
	const truth = 0.0382 // for the true spread of 2 %
	for range tries {
		r := report(t, join(runs(map[string]string{"b": "1"}, 2, draw(100)...), runs(map[string]string{"b": "2"}, 2, draw(100*(1+truth))...)), scaling.Options{})
		if r.Lines[0].Cells[1].Against.Different {
			found++
		}
	}
	t.Logf("found %d of %d", found, tries)
	require.InDelta(t, 0.8, float64(found)/float64(tries), 0.08)
}

// TestStrongAndWeakApart: cells of the two kinds never share a line.
func TestStrongAndWeakApart(t *testing.T) {
	t.Parallel()
	cell := func(workers, batch int, value float64) []scaling.Run {
		return runs(map[string]string{"workers": strconv.Itoa(workers), "batch_size": strconv.Itoa(batch)}, workers, value)
	}
	strong := report(t, join(cell(1, 128, 100), cell(2, 64, 180), cell(4, 32, 300)), scaling.Options{})
	require.Len(t, strong.Lines, 1)
	require.Equal(t, scaling.Strong, strong.Lines[0].Kind)
	require.Empty(t, strong.Lines[0].Held)

	both := report(t, join(cell(1, 128, 100), cell(2, 128, 190), cell(1, 64, 90), cell(2, 64, 170)), scaling.Options{})
	require.Len(t, both.Lines, 2)
	for _, l := range both.Lines {
		require.Equal(t, scaling.Weak, l.Kind)
		require.Len(t, l.Cells, 2)
		require.NotEmpty(t, l.Held["batch_size"])
	}
	require.Contains(t, both.Verdicts[0], "batch_size=")

	neither := report(t, join(cell(1, 128, 100), cell(2, 96, 180)), scaling.Options{})
	require.Len(t, neither.Lines, 2, "the batch is neither that of a rank nor that of all")
	require.Nil(t, neither.Lines[0].Cells[0].Against)

	whole := func(workers, batch int, value float64) []scaling.Run {
		return runs(map[string]string{"workers": strconv.Itoa(workers), "global_batch": strconv.Itoa(batch)}, workers, value)
	}
	require.Equal(t, scaling.Strong, report(t, join(whole(1, 128, 100), whole(2, 128, 180)), scaling.Options{}).Lines[0].Kind)
	require.Equal(t, scaling.Weak, report(t, join(whole(1, 128, 100), whole(2, 256, 180)), scaling.Options{}).Lines[0].Kind)

	unknown := report(t, join(runs(map[string]string{"workers": "1"}, 1, 100), runs(map[string]string{"workers": "2"}, 2, 190)), scaling.Options{})
	require.Empty(t, unknown.Lines[0].Kind)
	require.Contains(t, unknown.Warnings[0], "strong or weak scaling is not known")
}

func TestFailuresAndDifferencesAreKept(t *testing.T) {
	t.Parallel()
	all := join(runs(map[string]string{"workers": "1"}, 1, 100, 101), runs(map[string]string{"workers": "2"}, 2, 190, 191, 192))
	all[0].Facts = map[string]string{"driver": "410.104", "node": "a"}
	for i := range all[1:] {
		all[i+1].Facts = map[string]string{"driver": "418.87", "node": "a"}
	}
	all[4].World = 1
	all = append(all, scaling.Run{Name: "broken", Parameters: map[string]string{"workers": "4"}, Failure: "worker 3 was lost", Asked: 4},
		scaling.Run{Name: "silent", Parameters: map[string]string{"workers": "2"}, World: 2, Asked: 2})
	r := report(t, all, scaling.Options{})
	require.Len(t, r.Lines[0].Cells, 2)
	require.Equal(t, 2, r.Lines[0].Cells[1].Failed)
	require.Equal(t, []float64{190, 191}, r.Lines[0].Cells[1].Values, "a run of another world size does not count")
	var why []string
	for _, f := range r.Failures {
		why = append(why, f.Cell+": "+f.Why)
	}
	require.ElementsMatch(t, []string{
		"workers=2: 1 ranks took part; the other runs of this cell had 2", "workers=2: it has no images/sec", "workers=4: worker 3 was lost",
	}, why)
	require.Len(t, r.Runs, 7)
	names := []string{}
	for _, d := range r.Differences {
		names = append(names, d.Name)
	}
	require.Equal(t, []string{"driver", "node"}, names, "the runs without facts differ, too")
	require.Equal(t, []string{"410.104", "418.87"}, r.Differences[0].Values["workers=1"])
}

// TestRanksThatDidNotStart: all processes on one host look like no scaling at all, and the report says so.
func TestRanksThatDidNotStart(t *testing.T) {
	t.Parallel()
	two := runs(map[string]string{"workers": "2"}, 1, 100)
	two[0].Asked = 2
	r := report(t, join(runs(map[string]string{"workers": "1"}, 1, 100), two), scaling.Options{})
	require.False(t, r.Scaling)
	require.Contains(t, r.Warnings, "workers=2: 1 of 2 ranks took part; check how the ranks are started")
}

// A cell has the median of the bandwidths that its runs measured; several ranks without any are warned of.
func TestBandwidth(t *testing.T) {
	t.Parallel()
	const why = "the image has neither nccl-tests with a GPU, mpi4py nor mpicc"
	one, two, four := runs(map[string]string{"workers": "1"}, 1, 100), runs(map[string]string{"workers": "2"}, 2, 190, 191, 192), runs(map[string]string{"workers": "4"}, 4, 350)
	one[0].Probe, four[0].Probe = "one rank has no other to exchange data with", why
	two[0].Bandwidth, two[1].Bandwidth = 3, 4
	r := report(t, join(one, two, four), scaling.Options{})
	require.Equal(t, []float64{0, 3.5, 0}, []float64{r.Lines[0].Cells[0].Bandwidth, r.Lines[0].Cells[1].Bandwidth, r.Lines[0].Cells[2].Bandwidth})
	require.Contains(t, r.Warnings, "workers=4: the bandwidth is not known: "+why)
	for _, w := range r.Warnings {
		require.NotContains(t, w, "one rank has no other")
	}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.Contains(t, string(text), `"bandwidth":3.5`)
}

// A sweep that went on with more repeats is repeated with as many.
func TestCommandOfASweepThatWentOn(t *testing.T) {
	t.Parallel()
	all := join(runs(map[string]string{"workers": "1"}, 1, 100, 101, 102), runs(map[string]string{"workers": "2"}, 2, 190, 191, 192))
	for i := range all {
		all[i].Name = fmt.Sprintf("mine.v1.workers=%s.%d", all[i].Parameters["workers"], i%3+1)
	}
	all[5].Name += "-2" // made again after a failure
	for given, want := range map[string]string{
		"argosy sweep p --matrix workers=1,2 --repeats 2 --seed 1": "argosy sweep p --matrix workers=1,2 --repeats 3 --seed 1",
		"argosy sweep p --matrix workers=1,2 --repeats 5 --seed 1": "argosy sweep p --matrix workers=1,2 --repeats 5 --seed 1",
		"argosy report --experiment mine":                          "argosy report --experiment mine",
	} {
		require.Equal(t, want, report(t, all, scaling.Options{Command: given}).Command)
	}
}

func TestStragglers(t *testing.T) {
	t.Parallel()
	two := runs(map[string]string{"workers": "2"}, 2, 190, 191, 192)
	two[0].Ranks, two[1].Ranks, two[2].Ranks = []float64{100, 90}, []float64{100, 80}, []float64{50}
	r := report(t, join(runs(map[string]string{"workers": "1"}, 1, 100), two), scaling.Options{})
	require.Nil(t, r.Lines[0].Cells[0].Stragglers)
	require.InDeltaSlice(t, []float64{1, 0.85}, r.Lines[0].Cells[1].Stragglers, 1e-9)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	one := runs(map[string]string{"workers": "1"}, 1, 100)
	for _, c := range []struct {
		runs []scaling.Run
		o    scaling.Options
		want string
	}{
		{nil, scaling.Options{}, "there are no runs to report on"},
		{runs(nil, 1, -0.5), scaling.Options{Metric: "loss"}, "values must be above 0"},
		{one, scaling.Options{Price: 3}, "needs its source"},
		{one, scaling.Options{By: "workers"}, "workers is the same in all runs; no parameter varies"},
		{join(one, runs(map[string]string{"workers": "2"}, 2, 1)), scaling.Options{Base: "8"}, "no run has workers=8, which is to be the base; it is one of 1, 2"},
	} {
		_, err := scaling.New(c.runs, c.o)
		require.ErrorContains(t, err, c.want)
	}
	r := report(t, one, scaling.Options{})
	require.Contains(t, r.Verdicts[0], "nothing to compare")
}

// TestSameRunsSameReport: the bootstrap is seeded, and a report survives JSON.
func TestSameRunsSameReport(t *testing.T) {
	t.Parallel()
	all := join(runs(map[string]string{"workers": "1"}, 1, 100, 101, 99, 100.5), runs(map[string]string{"workers": "2"}, 2, 190, 191, 188, 192))
	one, err := json.Marshal(report(t, all, scaling.Options{Seed: 5}))
	require.NoError(t, err)
	two, err := json.Marshal(report(t, all, scaling.Options{Seed: 5}))
	require.NoError(t, err)
	require.JSONEq(t, string(one), string(two))
	var back scaling.Report
	require.NoError(t, json.Unmarshal(one, &back))
	three, err := json.Marshal(back)
	require.NoError(t, err)
	require.JSONEq(t, string(one), string(three))
}

func TestGate(t *testing.T) {
	t.Parallel()
	workers := func(n int, values ...float64) []scaling.Run {
		return runs(map[string]string{"workers": strconv.Itoa(n), "image": "new"}, n, values...)
	}
	before := join(workers(1, 100, 101), workers(2, 190, 191), workers(4, 370))
	for i := range before {
		before[i].Parameters = map[string]string{"workers": before[i].Parameters["workers"], "image": "old"}
	}
	old := report(t, before, scaling.Options{})
	gate, err := report(t, join(workers(1, 100, 100), workers(2, 189, 188)), scaling.Options{}).Gate(old, 0.97)
	require.NoError(t, err)
	require.Empty(t, gate.Failed)
	require.Equal(t, []string{`image is "new", and "old" in the baseline`}, gate.Warnings)
	require.Len(t, gate.Cells, 2, "a cell that was not measured again is not judged")

	broken := append(join(workers(1, 90, 91), workers(2, 189)), scaling.Run{Name: "x", Parameters: map[string]string{"workers": "4", "image": "new"}, Failure: "lost"})
	gate, err = report(t, broken, scaling.Options{}).Gate(old, 0.97)
	require.NoError(t, err)
	require.Len(t, gate.Failed, 2)
	require.Contains(t, gate.Failed[0], "workers=1: images/sec is 90.5, 0.900 of the baseline's 100.5, and below 0.970")
	require.Equal(t, "workers=4: no run gave images/sec; the baseline has 370", gate.Failed[1])

	_, err = report(t, workers(8, 1, 2), scaling.Options{}).Gate(old, 0.97)
	require.ErrorContains(t, err, "no cell of this report")
	_, err = report(t, workers(1, 1), scaling.Options{Metric: "loss"}).Gate(old, 0.97)
	require.ErrorContains(t, err, "both must measure the same")
}
