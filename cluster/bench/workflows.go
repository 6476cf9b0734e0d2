package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Names of the figures.
const (
	figAPI      = "empty folder to API ready"
	figFirst    = "empty folder to first workflow done"
	figMemory   = "idle: resident memory (PSS)"
	figCPU      = "idle: CPU, percent of a core"
	figStep     = "one-step workflow, submit to Succeeded, median"
	figArtifact = "two steps that pass an artifact, median"
	figChain    = "chain of 10"
	figFan      = "fan-out of 100"
	figFanAfter = "fan-out of 100, while the pods of another are removed"
)

func figWide(n int) string { return fmt.Sprintf("fan-out of %d", n) }

var (
	workflows = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}
	pods      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

const namespace = "kubeflow"

type object = map[string]any

// container runs `true`, as all comparisons do.
func container() object {
	return object{"image": "host", "command": []any{"true"}}
}

func steps(groups ...[]any) object {
	var all []any
	for _, g := range groups {
		all = append(all, g)
	}
	return object{"name": "main", "steps": all}
}

func oneStep() []any { return []any{object{"name": "main", "container": container()}} }

func chain(n int) []any {
	var groups [][]any
	for i := range n {
		groups = append(groups, []any{object{"name": fmt.Sprint("s", i), "template": "step"}})
	}
	return []any{steps(groups...), object{"name": "step", "container": container()}}
}

func fan(n int) []any {
	return []any{
		steps([]any{object{"name": "s", "template": "step", "withSequence": object{"count": fmt.Sprint(n)}}}),
		object{"name": "step", "container": container()},
	}
}

func artifact() []any {
	const from = "{{steps.make.outputs.artifacts.f}}"
	return []any{
		steps([]any{object{"name": "make", "template": "make"}},
			[]any{object{"name": "use", "template": "use", "arguments": object{"artifacts": []any{object{"name": "f", "from": from}}}}}),
		object{
			"name": "make", "container": object{"image": "host", "command": []any{"sh", "-c", "echo x > /tmp/f"}},
			"outputs": object{"artifacts": []any{object{"name": "f", "path": "/tmp/f"}}},
		},
		object{
			"name": "use", "container": object{"image": "host", "command": []any{"test", "-f", "/tmp/f"}},
			"inputs": object{"artifacts": []any{object{"name": "f", "path": "/tmp/f"}}},
		},
	}
}

// runner submits workflows and waits for them.
type runner struct {
	*cluster
	executor string // of the pods; empty for what the kubelet takes
	hurried  bool   // a workflow is begun while the pods of the one before are removed
}

// run returns how long a workflow takes from its creation until its success is seen. It is deleted afterwards, with its pods.
func (r runner) run(ctx context.Context, templates []any) (time.Duration, error) {
	spec := object{"entrypoint": "main", "templates": templates}
	if r.executor != "" {
		spec["podMetadata"] = object{"annotations": object{"argosy.dev/executor": r.executor}}
	}
	wf := &unstructured.Unstructured{Object: object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": object{"generateName": "bench-"}, "spec": spec,
	}}
	client := r.any.Resource(workflows).Namespace(namespace)
	start := time.Now()
	wf, err := client.Create(ctx, wf, metav1.CreateOptions{})
	if err != nil {
		return 0, err
	}
	if err := r.succeeds(ctx, wf.GetName()); err != nil {
		return 0, err
	}
	took := time.Since(start)
	background := metav1.DeletePropagationBackground
	err = client.Delete(ctx, wf.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	if err == nil && !r.hurried {
		err = r.gone(ctx, wf.GetName())
	}
	return took, err
}

// gone returns when a workflow has no pods any more.
func (r runner) gone(ctx context.Context, workflow string) error {
	of := metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=" + workflow, Limit: 1}
	for {
		left, err := r.any.Resource(pods).Namespace(namespace).List(ctx, of)
		if err != nil || len(left.Items) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (r runner) succeeds(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		w, err := r.any.Resource(workflows).Namespace(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			return err
		}
		for e := range w.ResultChan() {
			o, ok := e.Object.(*unstructured.Unstructured)
			if !ok || e.Type == watch.Error {
				break
			}
			switch phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase {
			case "Succeeded":
				w.Stop()
				return nil
			case "Failed", "Error":
				w.Stop()
				message, _, _ := unstructured.NestedString(o.Object, "status", "message")
				return fmt.Errorf("workflow %s: %s: %s", name, phase, message)
			}
		}
		w.Stop()
	}
	return fmt.Errorf("workflow %s does not end: %w", name, ctx.Err())
}

// times runs a workflow n times and returns the median.
func (r runner) times(ctx context.Context, n int, templates []any) (float64, error) {
	var all []time.Duration
	for range n {
		took, err := r.run(ctx, templates)
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	return median(all), nil
}

// shapes measures the workflows that all comparisons share.
func (r runner) shapes(ctx context.Context, o options, column string, runs int, rep *report) error {
	for _, s := range []struct {
		name      string
		aim       float64
		runs      int
		templates []any
	}{
		{figStep, 0.05, runs, oneStep()},
		{figChain, 0.4, max(1, runs/2), chain(10)},
		{figFan, 1.0, max(1, runs/2), fan(100)},
		{figWide(o.wide), 10, max(1, runs/2), fan(o.wide)},
		{figArtifact, 1.0, runs, artifact()},
	} {
		if column == stock && s.name == figWide(o.wide) && o.wide > 100 {
			continue // a machine of few cores is busy with it for minutes
		}
		took, err := r.times(ctx, s.runs, s.templates)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", column, s.name, err)
		}
		rep.add(column, s.name, "s", s.aim, took)
	}
	return nil
}

func measureCluster(ctx context.Context, o options, home string, rep *report) (err error) {
	start := time.Now()
	c, err := startCluster(ctx, o.bin, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	r := runner{cluster: c}
	if _, err := (runner{cluster: c, hurried: true}).run(ctx, oneStep()); err != nil { // its pod's removal is not part of the start
		return err
	}
	rep.add(ours, figAPI, "s", 2, c.ready["apiserver"].Seconds())
	rep.add(ours, figFirst, "s", 4, time.Since(start).Seconds())
	if err := c.idle(ctx, o.idle, rep); err != nil {
		return err
	}
	if err := r.shapes(ctx, o, ours, o.runs, rep); err != nil {
		return err
	}
	r.hurried = true
	took, err := r.times(ctx, max(1, o.runs/2), fan(100))
	if err != nil {
		return err
	}
	rep.add(ours, figFanAfter, "s", 0, took)
	return r.inARow(ctx, o.row, rep)
}

// measureStock is the same control plane with Argo's own executor and requeue time.
func measureStock(ctx context.Context, o options, home string, rep *report) (err error) {
	c, err := startCluster(ctx, o.bin, home, "--requeue", o.requeue.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	return runner{cluster: c, executor: "argo"}.shapes(ctx, o, stock, 1, rep)
}

// idle looks at a cluster that has nothing to do.
func (c *cluster) idle(ctx context.Context, period time.Duration, rep *report) error {
	// What the start left to do is done first; a process gives memory back when it has been quiet for ten seconds.
	for i, wait := range []time.Duration{20 * time.Second, period} {
		before, err := c.usage()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		after, err := c.usage()
		if err != nil {
			return err
		}
		if i == 1 {
			rep.add(ours, figMemory, "MB", 450, after.memory)
			rep.add(ours, figCPU, "%", 2, 100*(after.cpu-before.cpu).Seconds()/period.Seconds())
		}
	}
	return nil
}

// inARow runs workflows one after the other and tells what grew meanwhile, from after the first tenth to the end.
func (r runner) inARow(ctx context.Context, n int, rep *report) error {
	if n < 10 {
		return nil
	}
	var before usage
	var disk float64
	start := time.Now()
	for i := range n {
		if i == n/10 {
			var err error
			if before, err = r.usage(); err != nil {
				return err
			}
			if disk, err = diskOf(filepath.Join(r.home, "cluster", "etcd")); err != nil {
				return err
			}
		}
		if _, err := r.run(ctx, oneStep()); err != nil {
			return err
		}
	}
	took := time.Since(start)
	after, err := r.usage()
	if err != nil {
		return err
	}
	diskAfter, err := diskOf(filepath.Join(r.home, "cluster", "etcd"))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d one-step workflows in a row", n)
	rep.add(ours, name+", each", "s", 0, took.Seconds()/float64(n))
	rep.add(ours, name+": memory at a tenth", "MB", 0, before.memory)
	rep.add(ours, name+": memory at the end", "MB", 0, after.memory)
	rep.add(ours, name+": etcd's folder at a tenth", "MB", 0, disk)
	rep.add(ours, name+": etcd's folder at the end", "MB", 0, diskAfter)
	return nil
}
