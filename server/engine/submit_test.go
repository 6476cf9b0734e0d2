package engine_test

import (
	"encoding/json"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

// TestSubmitOfADeletedWorkflow submits a run whose Workflow is deleted between the refused creation and the look at it, as after
// a creation whose answer was lost: the run was created once, and Submit neither refuses it nor creates it again.
func TestSubmitOfADeletedWorkflow(t *testing.T) {
	t.Parallel()
	workflows := schema.GroupResource{Group: "argoproj.io", Resource: "workflows"}
	for _, c := range []struct {
		name    string
		attempt string
		want    string
	}{
		{name: "first attempt"},
		{name: "retry", attempt: "2", want: "the one of the attempt before was deleted just now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := enginetest.New(t)
			wf := b.Workflow(t, b.Start(t))
			if c.attempt != "" {
				wf.Annotations["argosy.dev/attempt"] = c.attempt
			}
			creations := 0
			b.Argo.PrependReactor("create", "workflows", func(clienttesting.Action) (bool, runtime.Object, error) {
				creations++
				return true, nil, apierrors.NewAlreadyExists(workflows, wf.Name)
			})
			b.Argo.PrependReactor("get", "workflows", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, (*wfv1.Workflow)(nil), apierrors.NewNotFound(workflows, wf.Name)
			})
			text, err := json.Marshal(wf)
			require.NoError(t, err)
			err = b.Engine.Submit(t.Context(), text)
			require.Equal(t, 1, creations)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Equal(t, apierr.Unavailable, apierr.KindOf(err), "the outbox tries it again")
		})
	}
}

// A Workflow says how its pods are named before its controller does, which forgets it when the workflow waits for a lock first.
func TestSubmitSaysHowPodsAreNamed(t *testing.T) {
	t.Parallel()
	const format = "workflows.argoproj.io/pod-name-format"
	b := enginetest.New(t)
	r := b.Start(t)
	require.Equal(t, "v1", b.Workflow(t, r).Annotations[format])
	for _, had := range []string{"v1", "v2"} { // of a retry
		wf := b.Workflow(t, r).DeepCopy()
		wf.Name, wf.Annotations[format] = "again-"+had, had
		text, err := json.Marshal(wf)
		require.NoError(t, err)
		require.NoError(t, b.Engine.Submit(t.Context(), text))
		again, err := b.Argo.ArgoprojV1alpha1().Workflows(wf.Namespace).Get(t.Context(), wf.Name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, had, again.Annotations[format])
	}
}
