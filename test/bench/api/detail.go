package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/app"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// manyNodes is how many nodes the Workflow of a large run has.
const manyNodes = 5000

// asked is how often a run is asked for.
const asked = 30

// measureDetail asks for a run with many nodes, as KFP v1 shows it and as we do.
func measureDetail(ctx context.Context, o options, dir string, r *report) (err error) {
	home := filepath.Join(dir, "detail")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	w := seed.NewWorld(o.seed, few)
	if err := seed.Fill(ctx, app.StoreFile(home), w); err != nil {
		return err
	}
	large, small := w.Run(few-1), w.Run(few-2)
	if err := enlarge(ctx, app.StoreFile(home), large); err != nil {
		return err
	}
	s, err := startServer(ctx, o.bin, home, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, as := range []named[string]{{"GetRun of KFP v1", "/apis/v1beta1/runs/"}, {"RunView", "/apis/argosy/v1/runs/"}} {
		f := figure{Name: fmt.Sprintf("%s, %d nodes, p99 (beside a run of 3)", as.name, manyNodes), Unit: "ms", Aim: 150}
		var body []byte
		if f.Base, _, err = repeated(ctx, s.url+as.value+small.ID, asked); err != nil {
			return err
		}
		before, err := s.cpu()
		if err != nil {
			return err
		}
		if f.Value, body, err = repeated(ctx, s.url+as.value+large.ID, asked); err != nil {
			return err
		}
		after, err := s.cpu()
		if err != nil {
			return err
		}
		worked := after - before
		if n := strings.Count(string(body), large.Workflow+"-4999"); n == 0 {
			return fmt.Errorf("%s has not all nodes", as.name)
		}
		r.add(f)
		r.note("%s of %d nodes is %.1f MB, and takes %.0f ms of processor time.", as.name, manyNodes, float64(len(body))/1e6, worked.Seconds()*1000/(asked+1))
	}
	return nil
}

// repeated gives the p99 of the times, in milliseconds, of asking so often, and the last answer.
func repeated(ctx context.Context, url string, times int) (p99 float64, body []byte, err error) {
	var all []float64
	for range times + 1 {
		begin := time.Now()
		if body, err = get(ctx, url); err != nil {
			return 0, nil, err
		}
		all = append(all, time.Since(begin).Seconds()*1000)
	}
	all = all[1:]
	slices.Sort(all)
	return quantile(all, 0.99), body, nil
}

// enlarge gives a run a Workflow with many nodes.
func enlarge(ctx context.Context, file string, r run.Run) error {
	s, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	state := run.State{Status: r.Status, StartedAt: r.StartedAt}
	status := map[string]any{}
	for i := range manyNodes {
		id := fmt.Sprintf("%s-%d", r.Workflow, i)
		n := run.Node{
			ID: id, Name: r.Workflow + ".work(" + fmt.Sprint(i) + ")", DisplayName: fmt.Sprintf("work(%d)", i), Type: "Pod", Template: "work",
			Phase: run.Succeeded, PodName: id, BoundaryID: r.Workflow + "-0", StartedAt: r.StartedAt, FinishedAt: r.StartedAt.Add(time.Minute),
			Inputs: []run.Parameter{{Name: "part", Value: fmt.Sprint(i)}}, Outputs: []run.Parameter{{Name: "loss", Value: "0.25"}},
			Artifacts: []run.Artifact{{Name: "model", Key: "artifacts/" + id + "/model.tgz"}}, ExitCode: "0",
		}
		state.Nodes = append(state.Nodes, n)
		status[id] = map[string]any{
			"id": id, "name": n.Name, "displayName": n.DisplayName, "type": n.Type, "templateName": n.Template, "phase": n.Phase,
			"boundaryID": n.BoundaryID, "startedAt": n.StartedAt, "finishedAt": n.FinishedAt, "progress": "1/1",
			"inputs": map[string]any{"parameters": n.Inputs}, "outputs": map[string]any{"parameters": n.Outputs, "artifacts": n.Artifacts, "exitCode": "0"},
			"resourcesDuration": map[string]int{"cpu": 60, "memory": 60},
		}
	}
	state.Workflow, err = json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]string{"name": r.Workflow},
		"status": map[string]any{"phase": r.Status, "nodes": status},
	})
	if err == nil {
		_, err = s.Record(ctx, r.ID, state)
	}
	return errors.Join(err, s.Close())
}
