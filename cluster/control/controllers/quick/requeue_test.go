package quick

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/argoproj/argo-workflows/v3/workflow/common"
)

func TestPaceFollowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	var p pace
	now := time.Unix(0, 0)
	require.Equal(t, paceLeast+time.Millisecond, p.wait(now, 4<<10), "a small workflow")
	require.Equal(t, paceLeast+2*time.Millisecond, p.wait(now.Add(50*time.Millisecond), 4<<10))
	require.Equal(t, paceLeast+26*time.Millisecond, p.wait(now.Add(120*time.Millisecond), 100<<10), "what is long past counts no more")
	require.Equal(t, paceMost, p.wait(now.Add(130*time.Millisecond), 1<<20), "a large one")
	require.Equal(t, paceLeast+time.Millisecond, p.wait(now.Add(time.Second), 4<<10))
	require.Equal(t, paceLeast, p.wait(now.Add(2*time.Second), -1), "a length that is not known")
}

// Not in parallel: the wait is a variable of the process.
func TestPaceIsLongUntilAWorkflowIsWritten(t *testing.T) {
	t.Setenv(common.EnvVarDefaultRequeueTime, "")
	cfg := &rest.Config{}
	require.NoError(t, keepPace(cfg))
	require.Equal(t, paceFirst.String(), os.Getenv(common.EnvVarDefaultRequeueTime))
	send := cfg.WrapTransport(roundTripper(func(*http.Request) (*http.Response, error) { return &http.Response{}, nil }))
	for _, c := range []struct {
		method string
		wait   time.Duration
	}{{http.MethodGet, paceFirst}, {http.MethodPut, paceLeast}} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "https://cluster/apis/argoproj.io/v1alpha1/namespaces/n/workflows/w", http.NoBody)
		require.NoError(t, err)
		answer, err := send.RoundTrip(req)
		require.NoError(t, err)
		require.Nil(t, answer.Body)
		require.Equal(t, c.wait.String(), os.Getenv(common.EnvVarDefaultRequeueTime), c.method)
	}
}
