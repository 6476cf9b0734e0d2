package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
)

// TestHeaders: what a request brings is metadata of the call under lower-case names, over HTTP as over gRPC, as KFP has it
// for those that stand in front of it (identities, traces).
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := fmt.Sprintf(`{"name":"by HTTP","pipeline_spec":{"workflow_manifest":%q}}`, hello)
	status, _, answer := s.do(t, http.MethodPost, "/apis/v1beta1/runs", "application/json", strings.NewReader(body),
		"Kubeflow-UserID", "ada@example.com", "X-Goog-Authenticated-User-Email", "accounts.google.com:ada@example.com",
		"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Cookie", "session=1", "X_Odd.Name", "odd",
		"Grpc-Metadata-Own", "by its prefix", "Connection", "keep-alive", "Content-Length-Of-Mine", "7")
	require.Equal(t, 200, status, answer)
	headers := s.engine.lastHeaders()
	for name, want := range map[string]string{
		"kubeflow-userid": "ada@example.com", "x-goog-authenticated-user-email": "accounts.google.com:ada@example.com",
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "cookie": "session=1", "x_odd.name": "odd",
		"grpc-metadata-own": "by its prefix", "content-type": "application/json", "content-length-of-mine": "7",
	} {
		require.Equal(t, []string{want}, headers.Get(name), name)
	}
	require.Empty(t, headers.Get("connection"), "which gRPC keeps for itself")

	ctx := metadata.AppendToOutgoingContext(t.Context(), "kubeflow-userid", "ada@example.com")
	_, err := kfpv1.NewRunServiceClient(s.conn).CreateRun(ctx, &kfpv1.CreateRunRequest{Run: &kfpv1.Run{
		Name: "by gRPC", PipelineSpec: &kfpv1.PipelineSpec{WorkflowManifest: hello},
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"ada@example.com"}, s.engine.lastHeaders().Get("kubeflow-userid"))
}

func (e *apiOnlyEngine) lastHeaders() metadata.MD {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.headers
}
