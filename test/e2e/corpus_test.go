//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/server/engine/manifest"
)

// An outcome is how a package of the corpus ends: refused at upload, or with the status of its run.
type outcome struct {
	refused    string // what the upload says
	missing    string // what a run without parameters says
	parameters map[string]string
	status     string
	ran        map[string]int    // how many pods of each template succeeded; that of a template that is not here: none, or failed
	says       map[string]string // what the pods of a template printed, their words in order
}

const noV2 = "compiled for KFP v2, as a pipeline spec or in the v2-compatible mode"

// corpus are packages in the shapes that KFP's SDKs write, by file.
var corpus = map[string]outcome{
	"required-1.8.yaml": {
		missing: "parameter text has no default; give it a value", parameters: map[string]string{"text": "hello"}, status: "Succeeded",
		ran: map[string]int{"say": 1, "farewell": 1}, says: map[string]string{"say": "hello", "farewell": "hello ended: Succeeded"},
	},
	"required-0.1.yaml": {
		missing: "parameter learning-rate has no default; give it a value", parameters: map[string]string{"learning-rate": "0.1"}, status: "Succeeded",
		ran: map[string]int{"train": 1}, says: map[string]string{"train": "--rate 0.1"},
	},
	"volume-1.8.yaml": {
		status: "Succeeded", ran: map[string]int{"make-volume": 1, "write": 1, "read": 1, "delete-volume": 1},
		says: map[string]string{"read": "kept in WORKFLOW-scratch"},
	},
	"resources-1.8.yaml": {
		status: "Succeeded", ran: map[string]int{"make-settings": 1, "change-settings": 1, "run-job": 1, "say": 1},
		says: map[string]string{"say": "rate 0.2 after WORKFLOW-job"},
	},
	"snapshot-1.8.yaml": { // the embedded cluster lacks this kind
		missing: "parameter claim has no default; give it a value", parameters: map[string]string{"claim": "any"}, status: "Failed",
	},
	"recursion-1.8.yaml": {
		parameters: map[string]string{"start": "3"}, status: "Succeeded", ran: map[string]int{"count": 1, "count-2": 2}, says: map[string]string{"count-2": "0 1"},
	},
	"conditions-0.1.yaml": {
		status: "Succeeded", ran: map[string]int{"draw": 1, "high": 1}, says: map[string]string{"high": "high"},
	},
	"loops-1.8.yaml": {
		status: "Succeeded", ran: map[string]int{"pick": 1, "say": 6}, says: map[string]string{"say": "1 1 2 2 3 3 a1 a1 a1 b2 b2 b2"},
	},
	"exit-1.8.yaml": {
		status: "Failed", ran: map[string]int{"tell": 1}, says: map[string]string{"tell": "the run is Failed", "fail": "tried tried"},
	},
	"data-1.8.yaml": {
		parameters: map[string]string{"word": "one"}, status: "Succeeded", ran: map[string]int{"write": 1, "join": 1}, says: map[string]string{"join": "one and a constant"},
	},
	"items-1.8.yaml": {
		status: "Succeeded", ran: map[string]int{"make": 1, "inner": 4, "outer": 2, "greet": 2, "introduce": 2, "choose": 1, "row": 2},
		says: map[string]string{
			"inner": "1-100-Ada 1-200-Ada 10-100-Ada 10-200-Ada", "outer": "2 20 b b", "greet": "Ada Ada is my name not", "introduce": "Ada:made Bob:none",
			"choose": "chosen two", "row": "1 10 row row",
		},
	},
	"dollars-1.8.yaml": {
		status: "Succeeded", ran: map[string]int{"say": 1, "constant": 1},
		says: map[string]string{"say": "Ada pays $5; Ada $(NOT) $(WHO)", "constant": "Ada too; Ada $(NOT) $(WHO)"},
	},
	"until-0.1.yaml": {
		status: "Succeeded", ran: map[string]int{"start": 1, "show": 2, "next": 2, "end": 1}, says: map[string]string{"show": "1 2", "end": "from 2"},
	},
	"groups-1.7.yaml": {
		status: "Succeeded", ran: map[string]int{"draw": 1, "say": 1, "read": 1}, says: map[string]string{"say": "heads", "read": "drawn 7"},
	},
	"sidecars-0.5.yaml": {
		status: "Succeeded", ran: map[string]int{"alone": 1, "mirrored": 1}, says: map[string]string{"alone": "prepared", "mirrored": "seen"},
	},
	"v2-compatible.yaml": {refused: noV2},
	"v2.yaml":            {refused: noV2},
}

// TestCorpus uploads packages in the shapes that KFP's SDKs write, runs them, and compares their outcomes with the stated
// ones. Their decompiled versions must have the same outcomes.
func TestCorpus(t *testing.T) {
	t.Parallel()
	a := up(t, t.TempDir())
	files, err := filepath.Glob("testdata/kfp/corpus/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, len(corpus))
	t.Run("packages", func(t *testing.T) {
		for _, file := range files {
			want, stated := corpus[filepath.Base(file)]
			require.True(t, stated, file)
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				a.comesTo(t, filepath.Base(file), data, want)
				if want.refused == "" {
					a.comesTo(t, "decompiled-"+filepath.Base(file), decompiled(t, data), want)
				}
			})
		}
	})
	t.Run("a run that is terminated runs its exit handler", func(t *testing.T) { a.endsWithItsHandler(t) })
}

// decompiled returns a package that is compiled from the decompiler's graph of it.
func decompiled(t *testing.T, data []byte) []byte {
	t.Helper()
	g, err := decompile.Raise(data)
	require.NoError(t, err)
	again, err := compiler.CompileGraph(g)
	require.NoError(t, err)
	changes, err := manifest.DiffMeaning(data, again)
	require.NoError(t, err)
	require.Empty(t, changes)
	return again
}

func (a *argosy) comesTo(t *testing.T, name string, data []byte, want outcome) {
	t.Helper()
	if want.refused != "" {
		var answer struct {
			Message string `json:"error_message"`
		}
		a.upload(t, name, name, data, http.StatusBadRequest, &answer)
		require.Contains(t, answer.Message, want.refused)
		return
	}
	var pipeline struct{ ID string }
	a.upload(t, name, name, data, http.StatusOK, &pipeline)
	if want.missing != "" {
		var answer struct{ Error string }
		a.post(t, "/apis/v1beta1/runs", map[string]any{"name": name, "pipeline_spec": map[string]any{"pipeline_id": pipeline.ID}}, http.StatusBadRequest, &answer)
		require.Equal(t, want.missing, answer.Error)
	}
	run := a.await(t, a.createRun(t, name, pipeline.ID, want.parameters), 3*time.Minute, runView.final)
	require.Equal(t, want.status, run.Status, "%+v", run)
	ran, printed := map[string]int{}, map[string][]string{}
	for _, n := range run.Nodes {
		if n.Type != "Pod" {
			continue
		}
		if n.Phase == "Succeeded" {
			ran[n.Template]++
		}
		if want.says[n.Template] != "" {
			printed[n.Template] = append(printed[n.Template], strings.TrimSpace(a.log(t, run.ID, n.ID)))
		}
	}
	if want.ran == nil {
		want.ran = map[string]int{}
	}
	require.Equal(t, want.ran, ran, "%+v", run)
	for template, says := range want.says {
		lines := printed[template]
		if len(lines) > 1 { // the pods of a loop end in any order
			lines = strings.Fields(strings.Join(lines, " "))
			slices.Sort(lines)
		}
		require.Equal(t, strings.ReplaceAll(says, "WORKFLOW", run.Workflow.Name), strings.Join(strings.Fields(strings.Join(lines, " ")), " "), template)
	}
}

// stopped sleeps until it is stopped, before steps that must not run; its handler says how it ended.
const stopped = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: stopped-}
spec:
  entrypoint: main
  onExit: tell
  templates:
  - name: main
    dag:
      tasks:
      - {name: sleep, template: sleep}
      - {name: never, template: never, depends: sleep.Succeeded}
      - {name: whatever, template: never, depends: sleep.Failed}
  - name: sleep
    container: {image: alpine, command: [sleep, "600"]}
  - name: never
    container: {image: alpine, command: [echo, never]}
  - name: tell
    container: {image: alpine, command: [echo, "{{workflow.status}}"]}
`

func (a *argosy) endsWithItsHandler(t *testing.T) {
	t.Helper()
	var pipeline struct{ ID string }
	a.upload(t, "stopped", "stopped.yaml", []byte(stopped), 200, &pipeline)
	id := a.createRun(t, "stopped", pipeline.ID, nil)
	a.await(t, id, 3*time.Minute, func(r runView) bool {
		return slices.ContainsFunc(r.Nodes, func(n runNode) bool { return n.Template == "sleep" && n.Phase == "Running" })
	})
	a.post(t, "/apis/v1beta1/runs/"+id+"/terminate", struct{}{}, 200, nil)
	run := a.await(t, id, 3*time.Minute, runView.final)
	require.Equal(t, "Terminated", run.Status, "%+v", run)
	told := slices.IndexFunc(run.Nodes, func(n runNode) bool { return n.Template == "tell" && n.Phase == "Succeeded" })
	require.GreaterOrEqual(t, told, 0, "%+v", run)
	require.Equal(t, "Failed", strings.TrimSpace(a.log(t, id, run.Nodes[told].ID)))
	require.False(t, slices.ContainsFunc(run.Nodes, func(n runNode) bool { return n.Template == "never" && n.Phase == "Succeeded" }), "%+v", run)
}
