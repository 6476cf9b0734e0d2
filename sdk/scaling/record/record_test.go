package record_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/record"
)

var speed = record.Metric{Name: "images/sec"}

// sweep is a run whose loop has a pass for each number of workers, once on each network.
func sweep(workers ...int) record.Run {
	r := record.Run{
		ID: "r", Name: "sweep-1", Succeeded: true, Parameters: map[string]string{"image": "trainer:1", "workers": "9"},
		Steps: []record.Step{
			{ID: "wf", Name: "wf", Succeeded: true},
			{ID: "prepare", Label: "prepare", Name: "prepare", Around: "wf", Pod: true, Succeeded: true, Outputs: []record.Value{{Name: "commit", Value: "abc"}}},
			{ID: "group", Name: "for-loop-1", Around: "wf", Succeeded: true},
		},
	}
	for i, n := range workers {
		network := []string{"Host", "ENI"}[i%2]
		item := fmt.Sprintf("(%d:network:%s,repeat:1,workers:%d)", i, network, n)
		pass, id := fmt.Sprintf("pass-%d", i), fmt.Sprintf("train-%d", i)
		r.Steps = append(r.Steps,
			record.Step{ID: pass, Label: "for-loop-1" + item, Name: "for-loop-1" + item, Around: "wf", Succeeded: true, Inputs: []record.Value{
				{Name: "for-loop-1-item-workers", Value: fmt.Sprint(n)},
				{Name: "for-loop-1-item-network", Value: network},
				{Name: "prepare-path", Value: "s3://of-this-run"},
			}},
			record.Step{
				ID: id, Label: "train" + item, Name: "train", Around: pass, Pod: true, Succeeded: true, Started: time.Unix(int64(100+i), 0),
				Outputs: []record.Value{{Name: "world-size", Value: fmt.Sprint(n)}, {Name: "environment", Value: fmt.Sprintf(`{"gpu":"V%d"}`, i)}},
			})
		r.Numbers = append(r.Numbers, record.Number{StepID: id, Name: "images-sec", Value: float64(100 * n)})
	}
	return r
}

func measured(t *testing.T, r record.Run, m record.Metric) []record.Measurement {
	t.Helper()
	all, err := record.Of(r, m)
	require.NoError(t, err)
	return all
}

func TestALoopGivesAMeasurementForEachPass(t *testing.T) {
	t.Parallel()
	all := measured(t, sweep(1, 2, 4), speed)
	require.Len(t, all, 3)
	last := all[2]
	require.Equal(t, "sweep-1 train(2:network:Host,repeat:1,workers:4)", last.Name)
	require.Equal(t, "r", last.ID)
	require.Equal(t, time.Unix(102, 0), last.Started)
	require.Equal(t, map[string]string{"image": "trainer:1", "workers": "4", "network": "Host"}, last.Parameters, "what the loop gives goes before the run's")
	require.InDelta(t, 400, *last.Value, 0)
	require.Equal(t, 4, last.World)
	require.Equal(t, 4, last.Asked)
	require.Equal(t, map[string]string{"prepare commit": "abc", "train gpu": "V2"}, last.Facts, "of its own pass, and of the steps around the loop")

	last.SetRanks([]record.Curve{{StepID: "train-2", Rank: 1, Values: []float64{3}}, {StepID: "train-2", Values: []float64{4}}, {StepID: "train-1", Values: []float64{5}}}, speed)
	require.Equal(t, []float64{4, 3}, last.Ranks)

	one := measured(t, sweep(1, 2, 4), record.Metric{Name: "images/sec", Step: "train(1:network:ENI,repeat:1,workers:2)"})
	require.Len(t, one, 1, "a pass can be asked for by its label")
	require.Len(t, measured(t, sweep(1, 2, 4), record.Metric{Name: "images/sec", Step: "train"}), 3)
}

func TestAPassThatFailedIsKept(t *testing.T) {
	t.Parallel()
	r := sweep(1, 2)
	r.Succeeded, r.Failure = false, "child failed"
	r.Numbers = r.Numbers[:1]
	failed := &r.Steps[len(r.Steps)-1]
	failed.Succeeded, failed.Message = false, "rank 1 died\nand more"
	all := measured(t, r, speed)
	require.Len(t, all, 2)
	require.InDelta(t, 100, *all[0].Value, 0, "the others count though the run failed")
	require.Nil(t, all[1].Value)
	require.Equal(t, "rank 1 died", all[1].Failure)
	require.Equal(t, "2", all[1].Parameters["workers"])

	report, err := scaling.New([]scaling.Run{all[0].Run, all[1].Run}, scaling.Options{Metric: "images/sec", By: "workers"})
	require.NoError(t, err)
	require.Equal(t, 2, all[1].World, "what a failed pass left is known too")
	require.Equal(t, "V1", all[1].Facts["train gpu"])
	require.Equal(t, []scaling.Failure{{Run: all[1].Name, ID: "r", Cell: "network=ENI workers=2", Why: "rank 1 died"}}, report.Failures)

	r.Numbers = nil
	for i := range r.Steps {
		r.Steps[i].Succeeded, r.Steps[i].Message = r.Steps[i].ID == "prepare", ""
	}
	all = measured(t, r, speed)
	require.Len(t, all, 2, "the distributed step is known by its world size")
	require.Equal(t, "child failed", all[0].Failure)
	for i := range r.Steps {
		r.Steps[i].Outputs = nil
	}
	require.Len(t, measured(t, r, speed), 2, "it is the only step that failed in the loop")
}

func TestASucceededPassWithoutTheMetric(t *testing.T) {
	t.Parallel()
	r := sweep(1, 2)
	r.Numbers[1].Name = "loss"
	all := measured(t, r, speed)
	require.Equal(t, "it reported loss", all[1].Failure)
	all = measured(t, r, record.Metric{Name: "tokens/sec"})
	require.Equal(t, "it reported images-sec", all[0].Failure)
	require.EqualError(t, record.Missing([]scaling.Run{all[0].Run, all[1].Run}, record.Metric{Name: "tokens/sec"}),
		`no run has the metric "tokens/sec"; it reported images-sec; loss`)
}

func TestTriesOfAStepAreOneMeasurement(t *testing.T) {
	t.Parallel()
	r := sweep(1, 2)
	pass, pod := &r.Steps[3], r.Steps[4]
	require.Equal(t, "pass-0", pass.ID)
	again := pod
	r.Steps[4].Name, r.Steps[4].Succeeded, r.Steps[4].Message = "train(0)", false, "lost"
	again.ID, again.Name, again.Label = "again", "train(1)", "train(1)"
	r.Steps = append(r.Steps, again)
	r.Numbers = append(r.Numbers, record.Number{StepID: "again", Name: "images-sec", Value: 111})
	all := measured(t, r, speed)
	require.Len(t, all, 2)
	require.InDelta(t, 111, *all[0].Value, 0, "of the try that succeeded")
}

func TestWhereTheFieldsOfALoopAre(t *testing.T) {
	t.Parallel()
	// pass is a run with one pass of a loop around a container, or around a group with one.
	pass := func(group bool, name string, inputs ...record.Value) record.Run {
		r := record.Run{Name: "r", Succeeded: true, Parameters: map[string]string{"image": "i"}, Numbers: []record.Number{{StepID: "pod", Name: "images/sec", Value: 1}}}
		in := record.Step{ID: "pod", Name: name, Pod: true, Succeeded: true, Inputs: inputs}
		if group {
			r.Steps = append(r.Steps, record.Step{ID: "pass", Name: name, Inputs: inputs})
			in.Name, in.Around = "train", "pass"
		}
		r.Steps = append(r.Steps, in)
		return r
	}
	for name, c := range map[string]struct {
		run  record.Run
		want map[string]string
	}{
		"whole item":     {pass(true, "for-loop-1(0:8)", record.Value{Name: "for-loop-1-item", Value: "8"}), map[string]string{"item": "8"}},
		"of Python":      {pass(true, "for-loop-2(0:8)", record.Value{Name: "batches-loop-item", Value: "8"}), map[string]string{"batches": "8"}},
		"constant there": {pass(true, "for-loop-2(0:8)", record.Value{Name: "loop-item-param-1", Value: "8"}), map[string]string{"item": "8"}},
		"its fields":     {pass(true, "for-loop-2(0:8)", record.Value{Name: "loop-item-param-1-subvar-workers", Value: "8"}), map[string]string{"workers": "8"}},
		"by hand":        {pass(false, "train(0:8)", record.Value{Name: "workers", Value: "8"}, record.Value{Name: "image", Value: "i"}), map[string]string{"workers": "8"}},
		"of other steps": {pass(true, "for-loop-1(0:8)", record.Value{Name: "prepare-path", Value: "/"}), map[string]string{}},
	} {
		all := measured(t, c.run, speed)
		require.Len(t, all, 1, name)
		c.want["image"] = "i"
		require.Equal(t, c.want, all[0].Parameters, name)
	}
	nested := pass(true, "for-loop-1(0:8)", record.Value{Name: "for-loop-1-item", Value: "8"})
	nested.Steps[1].Around = "inner"
	nested.Steps = append(nested.Steps, record.Step{ID: "inner", Around: "pass", Name: "for-loop-2(1:a)", Inputs: []record.Value{{Name: "for-loop-1-item", Value: "8"}, {Name: "for-loop-2-item", Value: "a"}}})
	require.Equal(t, map[string]string{"image": "i", "item": "8", "for-loop-2-item": "a"}, measured(t, nested, speed)[0].Parameters)
}

func TestStepsOutsideOfLoopsAreMeasuredAsTheirRun(t *testing.T) {
	t.Parallel()
	r := sweep(1, 2)
	r.Steps = append(r.Steps, record.Step{ID: "last", Label: "train-2", Name: "train-2", Around: "wf", Pod: true, Succeeded: true})
	r.Numbers = append(r.Numbers, record.Number{StepID: "last", Name: "images/sec", Value: 7})
	_, err := record.Of(r, speed)
	require.ErrorContains(t, err, "report images/sec; choose one with --step")
	all := measured(t, r, record.Metric{Name: "images/sec", Step: "train-2"})
	require.Len(t, all, 1)
	require.Equal(t, "sweep-1", all[0].Name)
	require.Equal(t, "9", all[0].Parameters["workers"])
	require.Len(t, measured(t, r, record.Metric{Name: "images/sec", Step: "train"}), 2)
}

// What the launcher's probe found belongs to the measurement and not to the facts.
func TestBandwidth(t *testing.T) {
	t.Parallel()
	r := sweep(1, 2)
	r.Steps[4].Outputs[1].Value = `{"gpu":"V0","bandwidth probe":"none: one rank has no other to exchange data with"}`
	r.Steps[6].Outputs[1].Value = `{"gpu":"V1","bus bandwidth":"3.13 GB/s","bandwidth probe":"all-reduce of 1 GiB, nccl-tests"}`
	all := measured(t, r, speed)
	require.Len(t, all, 2)
	require.Zero(t, all[0].Bandwidth)
	require.Equal(t, "one rank has no other to exchange data with", all[0].Probe)
	require.InDelta(t, 3.13, all[1].Bandwidth, 0)
	require.Equal(t, "all-reduce of 1 GiB, nccl-tests", all[1].Probe)
	for i := range all {
		require.NotContains(t, all[i].Facts, "train bus bandwidth")
		require.NotContains(t, all[i].Facts, "train bandwidth probe")
		require.Equal(t, fmt.Sprintf("V%d", i), all[i].Facts["train gpu"])
	}
}
