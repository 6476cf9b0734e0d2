package gateway_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
)

// TestEveryField sorts and filters each list by all that KFP v1 lets clients sort and filter it by.
func TestEveryField(t *testing.T) {
	t.Parallel()
	s := start(t)
	pipelineID := s.pipeline(t, "hello")
	s.run(t)
	s.post(t, "/apis/v1beta1/jobs", fmt.Sprintf(`{"name":"j","max_concurrency":"1","pipeline_spec":{"pipeline_id":%q}}`, pipelineID), 200)
	for path, fields := range map[string]string{
		"experiments?": "id name created_at description namespace storage_state",
		"pipelines?":   "id name created_at description namespace",
		"pipeline_versions?resource_key.type=PIPELINE&resource_key.id=" + pipelineID + "&": "id name created_at status",
		"jobs?": "id name created_at package_id",
		"runs?": "id name created_at description scheduled_at storage_state status metric:loss",
	} {
		for field := range strings.FieldsSeq(fields) {
			all := s.get(t, "/apis/v1beta1/"+path+"sort_by="+url.QueryEscape(field+" desc"), 200)
			require.Contains(t, all, `"total_size":1`, "%s by %s", path, field)
			value := `"string_value":"no such thing"`
			switch {
			case strings.HasSuffix(field, "_at"):
				value = `"timestamp_value":"2001-01-01T00:00:00Z"`
			case strings.HasPrefix(field, "metric:"):
				value = `"string_value":"7"`
			}
			none := s.get(t, "/apis/v1beta1/"+path+"filter="+url.QueryEscape(fmt.Sprintf(`{"predicates":[{"op":"EQUALS","key":%q,%s}]}`, field, value)), 200)
			require.Equal(t, `{}`, none, "%s by %s", path, field)
		}
	}
	ready := url.QueryEscape(`{"predicates":[{"op":"EQUALS","key":"status","string_value":"READY"}]}`)
	require.Contains(t, s.get(t, "/apis/v1beta1/pipeline_versions?resource_key.id="+pipelineID+"&filter="+ready, 200), `"total_size":1`)
}

// TestLargeMessages: a Workflow is one message, however large it is; gRPC's own limit is 4 MiB.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	s := start(t)
	manifest := hello + "# " + strings.Repeat("x", 8<<20)
	created, err := kfpv1.NewRunServiceClient(s.conn).CreateRun(t.Context(), &kfpv1.CreateRunRequest{Run: &kfpv1.Run{
		Name: "large", Description: strings.Repeat("y", 3<<20), PipelineSpec: &kfpv1.PipelineSpec{WorkflowManifest: manifest},
	}})
	require.NoError(t, err)
	require.Len(t, created.GetRun().GetDescription(), 3<<20)
}
