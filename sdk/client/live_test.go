package client_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// training is a run on a real server whose step is recorded as running.
func training(t *testing.T, b *enginetest.Bundle, c *client.Client) run.Run {
	t.Helper()
	created, err := c.Runs.Create(t.Context(), client.NewRun{Name: "training", Manifest: enginetest.Manifest})
	require.NoError(t, err)
	r := b.Until(t, created.ID, func(r run.Run) bool { return b.Workflow(t, r) != nil })
	b.Update(t, r, func(wf *wfv1.Workflow) {
		wf.Status.Phase = wfv1.WorkflowRunning
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {ID: wf.Name, Name: wf.Name, DisplayName: "train", Type: wfv1.NodeTypePod, TemplateName: "main", Phase: wfv1.NodeRunning}}
	})
	return b.Until(t, created.ID, func(r run.Run) bool { return r.Status == run.Running })
}

// printValues stores values of a metric as the server does that reads them in a log.
func printValues(t *testing.T, b *enginetest.Bundle, r run.Run, first int, values ...float64) {
	t.Helper()
	var points []run.Point
	for i, v := range values {
		points = append(points, run.Point{Name: "loss", Rank: 1, Format: run.Raw, Index: int64(first + i - 1), Step: int64(10 * (first + i)), PrintedAt: time.Unix(1000, 0), Value: v})
	}
	_, err := b.Store.AddPoints(t.Context(), r.ID, r.Workflow, r.Workflow, points)
	require.NoError(t, err)
	b.Feed.Publish(r.ID)
}

// Values arrive while the step runs, each once, and are there as a curve afterwards.
func TestPointsWhileAStepRuns(t *testing.T) {
	t.Parallel()
	b, c := realServer(t)
	r := training(t, b, c)
	printValues(t, b, r, 1, 0.5, math.NaN())

	var seen []string
	for p, err := range c.Series.Watch(t.Context(), r.ID) {
		require.NoError(t, err)
		value := "none"
		if p.Value != nil {
			value = fmt.Sprint(*p.Value)
		}
		seen = append(seen, fmt.Sprintf("%s %d rank %d %s", p.Name, p.Step, p.Rank, value))
		switch len(seen) {
		case 2:
			printValues(t, b, r, 3, 0.25)
		case 3:
			finish(t, b, r, wfv1.WorkflowSucceeded, 7)
		}
	}
	require.Equal(t, []string{"loss 10 rank 1 0.5", "loss 20 rank 1 none", "loss 30 rank 1 0.25"}, seen)
	for p, err := range c.Series.Watch(t.Context(), r.ID, "accuracy") {
		t.Fatalf("it prints no such metric: %v %v", p, err)
	}

	all, err := c.Series.List(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []client.Series{{NodeID: r.Workflow, StepName: "train", Name: "loss", Rank: 1, Format: "RAW", Total: 3}}, all)
	curves, err := c.Series.Get(t.Context(), r.ID, "loss", client.SeriesOptions{Points: 100})
	require.NoError(t, err)
	require.Equal(t, "none", curves[0].Sampling)
	require.Len(t, curves[0].Points, 3)
	require.Equal(t, int64(30), curves[0].Points[2].Step)
	require.InDelta(t, 0.25, *curves[0].Points[2].Value, 0)
	require.Nil(t, curves[0].Points[1].Value)
	last, err := c.Series.Get(t.Context(), r.ID, "loss", client.SeriesOptions{FromStep: new(int64(30))})
	require.NoError(t, err)
	require.Len(t, last[0].Points, 2, "with one point before the part")
	_, err = c.Series.Get(t.Context(), r.ID, "loss", client.SeriesOptions{Points: 1})
	require.True(t, client.IsInvalid(err), "%v", err)
	_, err = c.Series.List(t.Context(), "none")
	require.True(t, client.IsNotFound(err), "%v", err)
	for _, err := range c.Series.Watch(t.Context(), "none") {
		require.True(t, client.IsNotFound(err), "%v", err)
	}
}

func withoutRun(told []string) []string {
	return slices.DeleteFunc(slices.Clone(told), func(s string) bool { return s == "run Succeeded" })
}

// Events tell all of a run, and what came after one of them nothing twice.
func TestEvents(t *testing.T) {
	t.Parallel()
	b, c := realServer(t)
	r := training(t, b, c)
	printValues(t, b, r, 1, 0.5)
	finish(t, b, r, wfv1.WorkflowSucceeded, 7)
	_, err := c.Runs.Wait(t.Context(), r.ID)
	require.NoError(t, err)

	follow := func(o client.EventOptions) (told, ids []string) {
		for e, err := range c.Runs.Events(t.Context(), r.ID, o) {
			require.NoError(t, err)
			switch {
			case e.Run != nil:
				told = append(told, "run "+e.Run.Status)
			case e.Log != nil:
				told = append(told, fmt.Sprintf("log %s from %d: %s, ended %t", e.Log.NodeID, e.Log.First, strings.Join(e.Log.Lines, "|"), e.Log.Ended))
			default:
				told = append(told, fmt.Sprintf("%d points", len(e.Points)))
			}
			ids = append(ids, e.ID)
		}
		return told, ids
	}
	everything := client.EventOptions{Logs: true, Points: true}
	told, ids := follow(everything)
	require.Contains(t, told, "run Succeeded")
	require.ElementsMatch(t, []string{
		"1 points", "log " + r.Workflow + " from 0: fake logs, ended false", "log " + r.Workflow + " from 1: , ended true",
	}, withoutRun(told))
	for i := range told {
		everything.After = ids[i]
		again, _ := follow(everything)
		// The run's state may repeat; every other event comes once.
		require.ElementsMatch(t, withoutRun(told[i+1:]), withoutRun(again), "after %s", told[i])
	}
	only, _ := follow(client.EventOptions{})
	require.Empty(t, withoutRun(only))
	require.NotEmpty(t, only)
	other, _ := follow(client.EventOptions{Logs: true, LogsOf: []string{"other"}})
	require.NotContains(t, strings.Join(other, " "), "fake logs")
	for e, err := range c.Runs.Events(t.Context(), r.ID, client.EventOptions{}) {
		require.NoError(t, err)
		require.Equal(t, client.Succeeded, e.Run.Status)
		break // and no more is asked for
	}
}
