package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// Finalizer keeps the Workflow of a run in the cluster until the run is recorded whole, even when a user deletes it and whether or
// not the server runs at that moment.
const Finalizer = "argosy.dev/record"

// What a run and its steps say that were cut short by the removal of their Workflow.
const (
	deletedRun  = "workflow %s/%s was deleted from the cluster before it ended"
	deletedStep = "the workflow was deleted"
)

// hold puts the finalizer on a Workflow, before the others: it is then taken off in the write that sets the label.
func hold(wf *wfv1.Workflow) {
	wf.Finalizers = slices.DeleteFunc(wf.Finalizers, isFinalizer)
	wf.Finalizers = slices.Insert(wf.Finalizers, 0, Finalizer)
}

func isFinalizer(name string) bool { return name == Finalizer }

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// labelled sets the label of Workflows that are recorded whole; they have labels already.
var labelled = operation{"add", "/metadata/labels/pipeline~1persistedFinalState", "true"}

// MarkPersisted labels a Workflow as fully recorded (KFP v1) and lets it go; one that is gone needs neither.
func (e *Engine) MarkPersisted(ctx context.Context, namespace, workflow string) error {
	return e.letGo(ctx, namespace, workflow, labelled)
}

// Release lets a Workflow go that no run is kept for; one that is gone is success.
func (e *Engine) Release(ctx context.Context, namespace, workflow string) error {
	return e.letGo(ctx, namespace, workflow)
}

// letGo removes the finalizer and applies the other changes in one write. The finalizer's position in the list is known; it is
// looked up only if another client has moved it.
func (e *Engine) letGo(ctx context.Context, namespace, workflow string, others ...operation) error {
	client := e.argo.ArgoprojV1alpha1().Workflows(namespace)
	patch := func(at int) error {
		operations := slices.Clone(others)
		if at >= 0 {
			path := fmt.Sprintf("/metadata/finalizers/%d", at)
			operations = append(operations, operation{"test", path, Finalizer}, operation{"remove", path, nil})
		}
		if len(operations) == 0 {
			return nil
		}
		text, err := json.Marshal(operations)
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, workflow, types.JSONPatchType, text, metav1.PatchOptions{})
		return err
	}
	err := patch(0)
	for range maxMoves {
		if !apierrors.IsInvalid(err) {
			break
		}
		wf, getErr := client.Get(ctx, workflow, metav1.GetOptions{})
		if getErr != nil {
			err = getErr
			break
		}
		err = patch(slices.Index(wf.Finalizers, Finalizer))
	}
	err = explain(fmt.Sprintf("let workflow %s/%s go", namespace, workflow), err)
	if err != nil && apierr.KindOf(err) == apierr.NotFound {
		return nil
	}
	return err
}

// maxMoves is how often the finalizer is looked for again, when others change the list at the same time.
const maxMoves = 3

// cutShort ends, in a copy, a Workflow that is being deleted before it ended: nothing that its steps do counts any more.
func cutShort(wf *wfv1.Workflow) *wfv1.Workflow {
	wf = wf.DeepCopy()
	at := *wf.DeletionTimestamp
	for id, n := range wf.Status.Nodes {
		if !run.Final(string(n.Phase)) && n.Phase != wfv1.NodeSkipped && n.Phase != wfv1.NodeOmitted {
			n.Phase, n.Message, n.FinishedAt = wfv1.NodeError, deletedStep, at
			wf.Status.Nodes[id] = n
		}
	}
	wf.Status.Phase, wf.Status.FinishedAt = wfv1.WorkflowError, at
	wf.Status.Message = fmt.Sprintf(deletedRun, wf.Namespace, wf.Name)
	return wf
}
