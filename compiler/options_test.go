package compiler

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

func typed() *dsl.Pipeline {
	p := dsl.New("typed")
	dsl.Run(p, "step", dsl.Container{Image: dsl.Lit("alpine:3.22"), Args: dsl.Args(
		dsl.Param(p, "text", "a"), dsl.Param(p, "whole", 1), dsl.Param(p, "rate", 0.5), dsl.Param(p, "flag", false),
		dsl.Param(p, "list", []int{1}), dsl.Param(p, "object", map[string]int{"a": 1}))})
	return p
}

// call runs the program of the pipelines.
func call(t *testing.T, args string, pipelines ...func() *dsl.Pipeline) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), append([]string{"prog"}, strings.Fields(args)...), &out, &errs, pipelines)
	return code, out.String(), errs.String()
}

func TestParamsBecomeDefaults(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := call(t, `-o - --param text=x=y --param whole=-7 --param rate=1e-3 --param flag=True --param list=["a",2] --param object={"b":2}`, typed)
	require.Zero(t, code, stderr)
	for _, value := range []string{"x=y", `"-7"`, `"1e-3"`, `"True"`, `'["a",2]'`, `'{"b":2}'`} {
		require.Contains(t, stdout, "value: "+value+"\n")
	}
	for args, want := range map[string]string{
		"whole=1.5":             "whole number",
		"rate=fast":             "it must be a number",
		"flag=maybe":            "true or false",
		`list={"a":1}`:          "JSON list",
		"object=[1]":            "JSON object",
		"text={{item}}":         "Argo would take for a variable",
		"none=1":                `pipeline "typed" has no such parameter; it has text, whole, rate, flag, list, object`,
		"none":                  "want name=value",
		"text=1 --param text=2": "text is given twice",
	} {
		code, stdout, stderr := call(t, "-o - --param "+args, typed)
		require.NotZero(t, code, args)
		require.Contains(t, stderr, want)
		require.Empty(t, stdout)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, stdout, stderr := call(t, "--dry-run -o "+dir+"/all/", pipeline("a"), pipeline("b"))
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "would write "+filepath.Join(dir, "all", "a.tar.gz")+": pipeline a, 1 step, ")
	require.Contains(t, stdout, filepath.Join(dir, "all", "b.tar.gz"))
	code, stdout, _ = call(t, "--dry-run --graph svg -o "+dir+"/a.svg", pipeline("a"))
	require.Zero(t, code)
	require.Contains(t, stdout, "a picture of pipeline a")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestValidateFindsWhatChanges(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := call(t, "--validate", pipeline("a"), pipeline("b"))
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "pipeline a is valid: 1 step")
	require.Contains(t, stdout, "pipeline b is valid: 1 step")

	calls := 0
	unsteady := func() *dsl.Pipeline {
		calls++
		p := dsl.New("unsteady")
		dsl.Run(p, "step", dsl.Container{Image: dsl.Lit("alpine:" + strconv.Itoa(calls))})
		return p
	}
	dir := t.TempDir()
	code, _, stderr = call(t, "--validate -o "+dir+"/p.yaml", unsteady)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `pipeline "unsteady" is another workflow each time its function is called (line `)
	require.NoFileExists(t, dir+"/p.yaml")

	code, _, stderr = call(t, "--validate", wrong, pipeline("a"))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "step one: Image is not set")
}

func TestGraph(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{"svg": "<svg ", "dot": `digraph "a" {`, "mermaid": "flowchart TD\n"} {
		code, stdout, stderr := call(t, "--graph "+form, pipeline("a"))
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, want)
	}
	file := filepath.Join(t.TempDir(), "a.svg")
	code, stdout, _ := call(t, "--graph svg -o "+file, pipeline("a"))
	require.Zero(t, code)
	require.Empty(t, stdout)
	require.FileExists(t, file)
	for args, want := range map[string]string{
		"--graph png":              "want one of svg, dot, mermaid",
		"--graph svg --submit":     "choose one",
		"--server http://x -o -":   "--server and --experiment are for --submit",
		"--experiment x -o p.yaml": "--server and --experiment are for --submit",
	} {
		code, _, stderr := call(t, args, pipeline("a"))
		require.Equal(t, 2, code, args)
		require.Contains(t, stderr, want)
	}
}

func TestSubmit(t *testing.T) {
	t.Parallel()
	sent := make(chan map[string]any, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/v1beta1/experiments", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"experiments":[{"id":"e1","name":"exp"}]}`)
	})
	mux.HandleFunc("POST /apis/v1beta1/runs", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if json.NewDecoder(r.Body).Decode(&body) == nil {
			sent <- body
		}
		_, _ = io.WriteString(w, `{"run":{"id":"r1","name":"typed-1"}}`)
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	code, stdout, stderr := call(t, "--submit --experiment exp --param whole=3 --server "+server.URL, typed)
	require.Zero(t, code, stderr)
	require.Equal(t, "run typed-1 r1\n"+server.URL+"/runs/r1\n", stdout)
	body := <-sent
	spec := body["pipeline_spec"].(map[string]any)
	require.Equal(t, []any{map[string]any{"name": "whole", "value": "3"}}, spec["parameters"])
	require.Contains(t, spec["workflow_manifest"], "kind: Workflow\n")

	code, stdout, _ = call(t, "--submit --dry-run --experiment exp --param whole=3 --server "+server.URL, typed)
	require.Zero(t, code)
	require.Contains(t, stdout, "would start a run of pipeline typed on "+server.URL+" in experiment exp\n  text = a\n  whole = 3\n")
	require.Empty(t, sent)

	code, _, stderr = call(t, "--submit --server http://127.0.0.1:1", typed)
	require.Equal(t, 4, code)
	require.Contains(t, stderr, "no Argosy server answers")
}
