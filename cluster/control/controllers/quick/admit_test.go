package quick

import (
	"testing"
	"time"

	"github.com/argoproj/argo-workflows/v3/workflow/controller"
	"github.com/argoproj/argo-workflows/v3/workflow/sync"
	"github.com/stretchr/testify/require"
)

func TestNewWorkflowsAreAdmitted(t *testing.T) {
	t.Parallel()
	now := time.Now()
	late := sync.NewMultiThrottler(0, 0, func(sync.Key) {})
	require.False(t, late.Admit("a/wf"), "what Argo does without")

	free := admitFirst{sync.NewMultiThrottler(0, 0, func(sync.Key) {})}
	require.True(t, free.Admit("a/wf"))
	free.Add("a/wf", 3, now)
	require.True(t, free.Admit("a/wf"))

	// A limit still holds.
	one := admitFirst{sync.NewMultiThrottler(1, 0, func(sync.Key) {})}
	require.True(t, one.Admit("a/first"))
	require.False(t, one.Admit("a/second"))
	one.Add("a/second", 0, now)
	require.False(t, one.Admit("a/second"))
	one.Remove("a/first")
	require.True(t, one.Admit("a/second"))
}

func TestArgoHasTheThrottler(t *testing.T) {
	t.Parallel()
	require.NoError(t, admitNew(&controller.WorkflowController{}))
}
