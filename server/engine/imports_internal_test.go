package engine

import (
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
)

// The message of a file that could not be fetched says where it was looked for, without secrets.
func TestToldNamesWhatCouldNotBeFetched(t *testing.T) {
	t.Parallel()
	const message = "Error (exit code 64): artifact import-1 failed to load: 404 Not Found"
	for want, location := range map[string]wfv1.ArtifactLocation{
		" (import-1 is https://files.example.com/a.csv)":      {HTTP: &wfv1.HTTPArtifact{URL: "https://me:secret@files.example.com/a.csv?signature=secret#x"}},
		" (import-1 is https://example.com/code.git)":         {Git: &wfv1.GitArtifact{Repo: "https://token@example.com/code.git"}},
		" (import-1 is https://example.com/code.git at main)": {Git: &wfv1.GitArtifact{Repo: "https://example.com/code.git", Revision: "main"}},
		" (import-1 is key models/a)":                         {S3: &wfv1.S3Artifact{Key: "models/a"}},
		" (import-1 is an address that cannot be read)":       {HTTP: &wfv1.HTTPArtifact{URL: "http://[secret"}},
		"": {Raw: &wfv1.RawArtifact{Data: "secret"}},
	} {
		n := &wfv1.NodeStatus{Message: message, Inputs: &wfv1.Inputs{Artifacts: wfv1.Artifacts{
			{Name: "other", ArtifactLocation: wfv1.ArtifactLocation{HTTP: &wfv1.HTTPArtifact{URL: "http://other"}}}, {Name: "import-1", ArtifactLocation: location},
		}}}
		require.Equal(t, message+want, told(n))
	}
	require.Equal(t, message, told(&wfv1.NodeStatus{Message: message}))
	require.Equal(t, "other", told(&wfv1.NodeStatus{Message: "other", Inputs: &wfv1.Inputs{Artifacts: wfv1.Artifacts{{Name: "import-1"}}}}))
}
