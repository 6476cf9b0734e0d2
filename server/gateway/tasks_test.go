package gateway_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
)

// TestTasks does what a driver of KFP's v2-compatible mode does: it looks for a task by its fingerprint, and notes its own.
func TestTasks(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/apis/v1alpha1/tasks"
	id := s.run(t)
	require.Equal(t, `{}`, s.get(t, path, 200))
	task := fmt.Sprintf(`{"pipelineName":"pipeline/hello","runId":%q,"mlmdExecutionID":"7","created_at":"2026-11-20T12:00:00Z","fingerprint":"abc"}`, id)
	created := s.post(t, path, task, 200)
	golden := `{"id":"ID1","pipelineName":"pipeline/hello","runId":"ID2","mlmdExecutionID":"7","created_at":"2026-11-20T12:00:00Z",` +
		`"finished_at":"1970-01-01T00:00:00Z","fingerprint":"abc"}`
	require.Equal(t, golden, numbered(created))
	s.post(t, path, strings.NewReplacer("pipeline/hello", "namespace/n/pipeline/hello", `"abc"`, `"def"`, `"7"`, `"8","finishedAt":"2026-11-20T13:00:00.5Z","namespace":"n"`).Replace(task), 200)

	find := func(query string) string { return s.get(t, path+"?"+query, 200) }
	byFingerprint := url.QueryEscape(`{"predicates":[{"op":"EQUALS","key":"fingerprint","string_value":"abc"},{"op":"EQUALS","key":"pipelineName","string_value":"pipeline/hello"},{"op":"NOT_EQUALS","key":"mlmdExecutionID","string_value":"1"}]}`)
	require.Equal(t, `{"tasks":[`+golden+`],"total_size":1}`, numbered(find("page_size=1&sort_by=created_at%20desc&filter="+byFingerprint)))
	require.Contains(t, find("resource_reference_key.type=PIPELINE&resource_reference_key.id=namespace/n/pipeline/hello"), `"finished_at":"2026-11-20T13:00:00Z"`)
	require.Contains(t, find("resource_reference_key.type=NAMESPACE&resource_reference_key.id=n"), `"total_size":1`)
	first := find("sort_by=mlmdExecutionID%20desc&page_size=1")
	require.Contains(t, first, `"mlmdExecutionID":"8"`)
	require.Contains(t, find("page_token="+url.QueryEscape(field(t, first, "next_page_token"))), `"mlmdExecutionID":"7"`)

	older, err := kfpv1.NewTaskServiceClient(s.conn).CreateTask(t.Context(), &kfpv1.CreateTaskRequest{Task: &kfpv1.Task{
		PipelineName: "pipeline/x", RunId: id, MlmdExecutionID: "9", Fingerprint: "x", CreatedAt: timestamppb.Now(),
	}})
	require.NoError(t, err)
	require.NotEmpty(t, older.GetId())
	s.delete(t, "/apis/v1beta1/runs/"+id, 200)
	require.Equal(t, `{}`, s.get(t, path, 200), "tasks go with their run")
}
