package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

// drawn is a run of one step that left a file of UI metadata, and its warnings.
func drawn(t *testing.T, file string) (b *enginetest.Bundle, run, node string, warnings []string) {
	t.Helper()
	b = enginetest.New(t)
	start(t, b)
	if file != "" {
		put(t, b, "ui", file)
	}
	r := b.Start(t)
	makePod(t, b, r.Workflow, corev1.PodSucceeded, ran())
	b.Update(t, r, func(wf *wfv1.Workflow) {
		now := metav1.NewTime(time.Now().Truncate(time.Second)) // as fine as the cluster keeps it
		wf.Status.Phase, wf.Status.StartedAt, wf.Status.FinishedAt = wfv1.WorkflowSucceeded, now, now
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {
			ID: wf.Name, Name: wf.Name, DisplayName: "step", Type: wfv1.NodeTypePod, TemplateName: "main", Phase: wfv1.NodeSucceeded, StartedAt: now, FinishedAt: now,
			Outputs: &wfv1.Outputs{Artifacts: wfv1.Artifacts{{Name: "mlpipeline-ui-metadata", ArtifactLocation: wfv1.ArtifactLocation{S3: &wfv1.S3Artifact{Key: "ui"}}}}},
		}}
	})
	got := b.Until(t, r.ID, settled)
	nodes, err := b.Store.Nodes(t.Context(), r.ID)
	require.NoError(t, err)
	return b, r.ID, nodes[0].ID, got.Warnings
}

func TestWhatStepsLeaveToDraw(t *testing.T) {
	t.Parallel()
	const file = `{"outputs": [
		{"type": "confusion_matrix", "format": "csv", "storage": "inline", "schema": [{"name": "target"}, {"name": "predicted"}, {"name": "count"}], "labels": ["a"], "source": "a,a,1\n"},
		{"type": "roc", "format": "csv", "source": "minio://mlpipeline/roc.csv", "schema": [{"name": "fpr"}, {"name": "tpr"}, {"name": "thresholds"}]},
		{"type": "table", "format": "csv", "header": ["a"], "source": "minio://mlpipeline/x.csv"},
		{"type": "markdown", "storage": "inline", "source": "# Hello"}, {"type": "web-app", "source": "gs://b/x.html"}, {"type": "tensorboard", "source": "gs://b/logs"}]}`
	b, id, node, warnings := drawn(t, file)
	require.Empty(t, warnings)
	found, err := b.Store.VisualsOf(t.Context(), id, node)
	require.NoError(t, err)
	var types []string
	for i, v := range found {
		require.Equal(t, i+1, v.Number)
		require.Empty(t, v.Problem)
		require.NotEmpty(t, v.Body)
		types = append(types, v.Type)
	}
	require.Equal(t, []string{"confusion_matrix", "roc", "table", "markdown", "web-app", "tensorboard"}, types)
}

// TestWhatCannotBeDrawn: each kind of bad input fails no run, is a warning on it, and is kept beside what is right.
func TestWhatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	const fine = `{"type":"markdown","source":"x"}`
	for name, c := range map[string]struct{ file, says, kept string }{
		"no JSON":           {`{`, "the UI metadata is not JSON", `{`},
		"no outputs":        {`{}`, `the UI metadata has no "outputs"`, `{}`},
		"no file":           {``, "its UI metadata is lost: the artifact store has no ui", ``},
		"a damaged archive": {"\x1f\x8bx", "the UI metadata cannot be read", ``},
		"too many":          {`{"outputs":[` + strings.Repeat(fine+",", 100) + fine + `]}`, "only the first 100 are shown", ``},
		"an unknown type":   {`{"outputs":[` + fine + `,{"type":"pie","source":"x"}]}`, `output 2 of the UI metadata: type "pie" is unknown`, `{"type":"pie","source":"x"}`},
		"no source":         {`{"outputs":[` + fine + `,{"type":"markdown"}]}`, "output 2 of the UI metadata: the markdown has no source", `{"type":"markdown"}`},
		"a bad matrix":      {`{"outputs":[{"type":"confusion_matrix","format":"csv","source":"x"}]}`, "output 1 of the UI metadata: the schema of a confusion_matrix", `{"type":"confusion_matrix","format":"csv","source":"x"}`},
		"a bad roc":         {`{"outputs":[{"type":"roc","format":"csv","source":"x"}]}`, "columns fpr, tpr and threshold", `{"type":"roc","format":"csv","source":"x"}`},
		"a bad table":       {`{"outputs":[{"type":"table","format":"csv","source":"x"}]}`, "the table has no header", `{"type":"table","format":"csv","source":"x"}`},
		"a bad web-app":     {`{"outputs":[{"type":"web-app","source":7}]}`, "cannot unmarshal number", `{"type":"web-app","source":7}`},
		"a bad tensorboard": {`{"outputs":[{"type":"tensorboard"}]}`, "the tensorboard has no source", `{"type":"tensorboard"}`},
		"zero bytes":        {`{"outputs":[{"type":"\u0000","source":"x"}]}`, `type "\x00" is unknown`, `{"type":"\u0000","source":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, id, node, warnings := drawn(t, c.file)
			require.Len(t, warnings, 1)
			require.Contains(t, warnings[0], "step step: ")
			require.Contains(t, warnings[0], c.says)
			found, err := b.Store.VisualsOf(t.Context(), id, node)
			require.NoError(t, err)
			kept := ""
			for _, v := range found {
				if v.Problem != "" {
					require.Contains(t, warnings[0], v.Problem)
					kept += string(v.Body)
				}
			}
			require.Equal(t, c.kept, kept, fmt.Sprint(found))
		})
	}
}
