package manifest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/server/engine/manifest"
)

// TestDiffOfMeaningOnCompiledPipelines writes every compiled pipeline in another form: templates and tasks in reverse order, and
// templates under other names. That changes no meaning. Another image in any one of its steps does.
func TestDiffOfMeaningOnCompiledPipelines(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../compiler/testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			changes, err := manifest.DiffMeaning(before, reformed(t, before))
			require.NoError(t, err)
			require.Empty(t, changes)
			for i := range containers(parsed(t, before)) {
				other := parsed(t, before)
				containers(other)[i]["image"] = "registry.example.com/other:1"
				changes, err := manifest.DiffMeaning(before, written(t, other))
				require.NoError(t, err)
				require.NotEmpty(t, changes, "container %d", i)
			}
		})
	}
}

// reformed reverses the order of templates and tasks, and renames the templates.
func reformed(t *testing.T, text []byte) []byte {
	t.Helper()
	wf := parsed(t, text)
	spec := wf["spec"].(map[string]any)
	rename := func(at map[string]any, key string) {
		if name, ok := at[key].(string); ok {
			at[key] = "renamed-" + name
		}
	}
	rename(spec, "entrypoint")
	rename(spec, "onExit")
	templates := spec["templates"].([]any)
	slices.Reverse(templates)
	for _, each := range templates {
		template := each.(map[string]any)
		rename(template, "name")
		if dag, ok := template["dag"].(map[string]any); ok {
			tasks := dag["tasks"].([]any)
			slices.Reverse(tasks)
			for _, task := range tasks {
				rename(task.(map[string]any), "template")
			}
		}
	}
	return written(t, wf)
}

// containers are those of the templates that run one.
func containers(wf map[string]any) (all []map[string]any) {
	for _, each := range wf["spec"].(map[string]any)["templates"].([]any) {
		template := each.(map[string]any)
		for _, kind := range []string{"container", "script"} {
			if c, ok := template[kind].(map[string]any); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

func parsed(t *testing.T, text []byte) (wf map[string]any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal(text, &wf))
	return wf
}

func written(t *testing.T, wf map[string]any) []byte {
	t.Helper()
	text, err := yaml.Marshal(wf)
	require.NoError(t, err)
	return text
}
