package run_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// TestSlowCluster: a caller does not wait for a cluster that takes its time, and the run goes on without it.
func TestSlowCluster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusal error
		status  string
	}{
		"takes it at last":   {nil, ""},
		"refuses it at last": {apierrors.NewBadRequest("no such thing"), run.Error},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := enginetest.New(t, func(c *run.Config) { c.PromptWait = time.Millisecond })
			proceed, asked := make(chan struct{}), make(chan struct{})
			var once sync.Once
			b.Argo.PrependReactor("create", "workflows", func(k8stesting.Action) (bool, runtime.Object, error) {
				once.Do(func() { close(asked) })
				<-proceed
				return c.refusal != nil, nil, c.refusal
			})
			r := b.Start(t)
			<-asked
			accepted, err := b.Store.Unsubmitted(t.Context())
			require.NoError(t, err)
			require.Len(t, accepted, 1, "it was answered before the cluster was")
			changes := b.Feed.Subscribe(r.ID)
			defer changes.Close()
			close(proceed)
			<-changes.C()
			r, err = b.Store.Run(t.Context(), r.ID)
			require.NoError(t, err)
			require.Equal(t, c.status, r.Status)
			accepted, err = b.Store.Unsubmitted(t.Context())
			require.NoError(t, err)
			require.Empty(t, accepted)
			require.Equal(t, c.refusal == nil, b.Workflow(t, r) != nil)
		})
	}
}
