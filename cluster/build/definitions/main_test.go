package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDescriptionsGoAndPropertiesOfThatNameStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "group_jobs.yaml")
	require.NoError(t, os.WriteFile(in, []byte(`
spec:
  versions:
    - name: v1
      schema:
        description: of the schema
        properties:
          description: {type: string, description: of the property}
          list: {items: [{description: of the item, type: object}]}
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "group_olds.json"), []byte("{}"), 0o600))
	require.NoError(t, convertAll([]string{in}, dir))
	require.NoFileExists(t, filepath.Join(dir, "group_olds.json"), "of an earlier build")
	out, err := os.ReadFile(filepath.Join(dir, "group_jobs.json"))
	require.NoError(t, err)
	require.JSONEq(t, `{"spec": {"versions": [{"name": "v1", "schema": {
		"properties": {"description": {"type": "string"}, "list": {"items": [{"type": "object"}]}}}}]}}`, string(out))

	before, err := os.Stat(filepath.Join(dir, "group_jobs.json"))
	require.NoError(t, err)
	require.NoError(t, convertAll([]string{in}, dir))
	after, err := os.Stat(filepath.Join(dir, "group_jobs.json"))
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime(), "a file that is right is not written again")
}

func TestWhatIsNoYAMLIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "a.yaml")
	require.NoError(t, os.WriteFile(in, []byte("\t{"), 0o600))
	require.Error(t, convertAll([]string{in}, dir))
	require.Error(t, convertAll([]string{filepath.Join(dir, "none.yaml")}, dir))
}
