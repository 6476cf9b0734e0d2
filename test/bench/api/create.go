package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	creators   = 64               // clients that create runs at once
	createFor  = 15 * time.Second // how long they do
	stampEvery = 200 * time.Millisecond
)

// workflow is a manifest of one step with a command.
func workflow(command ...string) string {
	b, err := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]string{"generateName": "bench-"},
		"spec": map[string]any{
			"entrypoint": "main",
			"templates":  []any{map[string]any{"name": "main", "container": map[string]any{"image": "host", "command": command}}},
		},
	})
	if err != nil {
		panic(err) // maps of texts
	}
	return string(b)
}

// createRun starts a run and gives its id.
func createRun(ctx context.Context, client *http.Client, url, name, manifest string) (string, error) {
	body, err := json.Marshal(map[string]any{"name": name, "pipeline_spec": map[string]string{"workflow_manifest": manifest}})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/apis/v1beta1/runs", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var created struct {
		Run struct {
			ID string `json:"id"`
		} `json:"run"`
	}
	if err := json.Unmarshal(text, &created); err != nil || created.Run.ID == "" {
		return "", fmt.Errorf("%s: %.300s", response.Status, text)
	}
	return created.Run.ID, nil
}

// measureCreate has clients create runs of one step, one run after the other each, while the cluster carries out what it can.
func measureCreate(ctx context.Context, s *server, r *report) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: creators}}
	defer client.CloseIdleConnections()
	manifest := workflow("true")
	begin := time.Now()
	var mu sync.Mutex
	var times []float64
	var failed error
	var wg sync.WaitGroup
	for c := range creators {
		wg.Go(func() {
			for i := 0; time.Since(begin) < createFor; i++ {
				start := time.Now()
				_, err := createRun(ctx, client, s.url, fmt.Sprintf("bench %d-%d", c, i), manifest)
				took := time.Since(start).Seconds() * 1000
				mu.Lock()
				if err != nil {
					failed = err
				} else {
					times = append(times, took)
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	if failed != nil {
		return failed
	}
	slices.Sort(times)
	r.add(figure{Name: fmt.Sprintf("runs created a second, %d clients for %v", creators, createFor), Unit: "/s", Aim: 200, More: true, Value: float64(len(times)) / took.Seconds()})
	r.add(figure{Name: "create a run, p99", Unit: "ms", Value: quantile(times, 0.99)})
	return nil
}
