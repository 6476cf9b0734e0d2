package engine

import (
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// What to do with nodes when a workflow goes back to a step; the others stay as they are.
type rewound int

const (
	_         rewound = iota
	opened            // a group that goes on
	forgotten         // it runs again
)

// reassign gives parameters of the workflow other values.
func reassign(wf *wfv1.Workflow, parameters []run.Parameter) error {
	if len(parameters) == 0 {
		return nil
	}
	if err := rulesOf(wf).check(parameters); err != nil {
		return err
	}
	set := func(known []wfv1.Parameter, p run.Parameter) bool {
		for i := range known {
			if known[i].Name == p.Name {
				known[i] = wfv1.Parameter{Name: p.Name, Value: wfv1.AnyStringPtr(p.Value), Enum: known[i].Enum}
				return true
			}
		}
		return false
	}
	for _, p := range parameters {
		if !set(wf.Spec.Arguments.Parameters, p) {
			var names []string
			for _, k := range wf.Spec.Arguments.Parameters {
				names = append(names, k.Name)
			}
			return apierr.New(apierr.Invalid, "Unrecognized input parameter: %s. %s", p.Name, knownParameters(names))
		}
		if wf.Status.StoredWorkflowSpec != nil {
			set(wf.Status.StoredWorkflowSpec.Arguments.Parameters, p)
		}
	}
	return nil
}

// rewind returns what to do with the nodes of an ended workflow that continues from a step; nil without a step. The step and all steps
// after it run again, and the groups around it are reopened.
func rewind(wf *wfv1.Workflow, step string) (map[string]rewound, error) {
	if step == "" {
		return nil, nil
	}
	start, err := findStep(wf, step)
	if err != nil {
		return nil, err
	}
	r := rewinder{wf: wf, what: map[string]rewound{}, parents: map[string][]string{}}
	for id, n := range wf.Status.Nodes {
		for _, child := range n.Children {
			r.parents[child] = append(r.parents[child], id)
		}
	}
	if start = r.whole(start); start.BoundaryID == "" && start.Name == wf.Name {
		for id := range wf.Status.Nodes { // all of it
			r.what[id] = forgotten
		}
		return r.what, nil
	}
	r.forget(start.ID)
	r.open(start)
	for id, n := range wf.Status.Nodes { // exit handlers of what goes on
		if owner, _, hook := strings.Cut(n.Name, ".onExit"); hook && r.what[wf.NodeID(owner)] != 0 {
			r.what[id] = forgotten
		}
	}
	return r.what, nil
}

type rewinder struct {
	wf      *wfv1.Workflow
	what    map[string]rewound
	parents map[string][]string
}

// whole is the node that stands for a step: of one attempt of a step that is retried, the step.
func (r rewinder) whole(n wfv1.NodeStatus) wfv1.NodeStatus {
	for _, id := range r.parents[n.ID] {
		if p := r.wf.Status.Nodes[id]; p.Type == wfv1.NodeTypeRetry {
			return r.whole(p)
		}
	}
	return n
}

// forget takes a node and all that comes after it, and lies in it, to run again.
func (r rewinder) forget(id string) {
	if r.what[id] == forgotten {
		return
	}
	r.what[id] = forgotten
	for _, child := range r.wf.Status.Nodes[id].Children {
		r.forget(child)
	}
	for inner, n := range r.wf.Status.Nodes {
		if n.BoundaryID == id {
			r.forget(inner)
		}
	}
}

// open opens the groups that a node lies in; what comes after them runs again.
func (r rewinder) open(n wfv1.NodeStatus) {
	for _, id := range r.parents[n.ID] {
		p := r.wf.Status.Nodes[id]
		switch p.Type {
		case wfv1.NodeTypeTaskGroup, wfv1.NodeTypeStepGroup:
			if r.what[id] == 0 {
				r.what[id] = opened
				r.after(p)
				r.open(p)
			}
		}
	}
	if n.BoundaryID == "" || r.what[n.BoundaryID] != 0 {
		return
	}
	boundary := r.wf.Status.Nodes[n.BoundaryID]
	r.what[boundary.ID] = opened
	for _, id := range r.parents[boundary.ID] { // an attempt of a group that is retried
		if p := r.wf.Status.Nodes[id]; p.Type == wfv1.NodeTypeRetry {
			r.what[id] = opened
			r.after(p)
			r.open(p)
		}
	}
	r.after(boundary)
	r.open(boundary)
}

// after forgets what comes after a group: the nodes behind its last ones that lie outside of it.
func (r rewinder) after(group wfv1.NodeStatus) {
	for _, id := range group.OutboundNodes {
		last := r.wf.Status.Nodes[id]
		for _, next := range last.Children {
			if last.Type == wfv1.NodeTypeRetry { // its children are its attempts
				r.after(wfv1.NodeStatus{ID: group.ID, OutboundNodes: []string{next}})
			} else if !r.within(next, group.ID) {
				r.forget(next)
			}
		}
	}
}

func (r rewinder) within(id, group string) bool {
	for n := r.wf.Status.Nodes[id]; n.BoundaryID != ""; n = r.wf.Status.Nodes[n.BoundaryID] {
		if n.BoundaryID == group {
			return true
		}
	}
	return false
}

// findStep finds the node that is meant: by its id, its name with or without that of the workflow, or its display name, where
// only one has it.
func findStep(wf *wfv1.Workflow, step string) (wfv1.NodeStatus, error) {
	var found []wfv1.NodeStatus
	for id, n := range wf.Status.Nodes {
		if id == step || n.Name == step || n.Name == wf.Name+"."+step {
			found = []wfv1.NodeStatus{n}
			break
		}
		if n.DisplayName == step && n.Type != wfv1.NodeTypeStepGroup {
			found = append(found, n)
		}
	}
	switch {
	case len(found) == 0:
		return wfv1.NodeStatus{}, apierr.New(apierr.Invalid, "the run has no step %q, or did not get to it; it can only go on from a step that it had begun", step)
	case len(found) > 1:
		return wfv1.NodeStatus{}, apierr.New(apierr.Invalid, "%d steps of the run are called %q; name one by its id", len(found), step)
	case isExit(wf, found[0]):
		return wfv1.NodeStatus{}, apierr.New(apierr.Invalid, "step %q belongs to an exit handler, which every retry runs again; name an earlier step", step)
	case found[0].Type == wfv1.NodeTypeSkipped:
		return wfv1.NodeStatus{}, apierr.New(apierr.Invalid, "step %q was skipped, as its condition did not hold; go on from the step that decides about it", step)
	}
	return found[0], nil
}
