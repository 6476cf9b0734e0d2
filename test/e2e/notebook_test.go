//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cell is a code cell of an executed notebook.
type cell struct {
	Type    string `json:"cell_type"`
	Outputs []struct {
		Type  string   `json:"output_type"`
		Text  lines    `json:"text"`
		Data  outputs  `json:"data"`
		Trace []string `json:"traceback"`
	}
}

type outputs struct {
	HTML  lines `json:"text/html"`
	Plain lines `json:"text/plain"`
}

// lines is a text as notebooks keep it: in one piece or line by line.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var parts []string
	if err := json.Unmarshal(data, &parts); err == nil {
		*l = lines(strings.Join(parts, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(l))
}

// html is all that the cell shows, with the pictures in it written out.
func (c cell) html(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, o := range c.Outputs {
		require.NotEqual(t, "error", o.Type, "%v", o.Trace)
		b.WriteString(string(o.Data.HTML))
	}
	picture := regexp.MustCompile(`data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)`)
	return picture.ReplaceAllStringFunc(b.String(), func(s string) string {
		svg, err := base64.StdEncoding.DecodeString(picture.FindStringSubmatch(s)[1])
		require.NoError(t, err)
		return string(svg)
	})
}

func (c cell) printed() string {
	var b strings.Builder
	for _, o := range c.Outputs {
		b.WriteString(string(o.Text))
	}
	return b.String()
}

// TestNotebook runs the sample notebook from top to bottom, as Jupyter does, and reads what stays in it.
func TestNotebook(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)
	repo := benchmarks(t, home)
	dir := t.TempDir()

	env := append(os.Environ(), "PATH="+filepath.Join(repository, "bin")+":"+os.Getenv("PATH"),
		"JUPYTER_DATA_DIR="+filepath.Join(dir, "jupyter"), "JUPYTER_RUNTIME_DIR="+filepath.Join(dir, "runtime"), "IPYTHONDIR="+filepath.Join(dir, "ipython"),
		"ARGOSY_URL="+a.url, "SYNC_SOURCE="+repo)
	install := exec.CommandContext(t.Context(), binary("gonb"), "--install", "--force_deps", "--raw_error")
	install.Env = env
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)

	execute := exec.CommandContext(t.Context(), "/usr/bin/python3", "-m", "nbconvert", "--to", "notebook", "--execute", "--ExecutePreprocessor.timeout=300",
		filepath.Join(repository, "samples/notebook/mpi_run.ipynb"), "--output-dir", dir, "--output", "out.ipynb")
	execute.Env = env
	out, err = execute.CombinedOutput()
	require.NoError(t, err, "%s", out)

	data, err := os.ReadFile(filepath.Join(dir, "out.ipynb"))
	require.NoError(t, err)
	var book struct{ Cells []cell }
	require.NoError(t, json.Unmarshal(data, &book))
	var cells []cell
	for _, c := range book.Cells {
		if c.Type == "code" {
			cells = append(cells, c)
		}
	}
	require.Len(t, cells, 5)

	show := cells[1].html(t)
	require.Contains(t, show, "<svg ")
	require.Contains(t, show, ">all-reduce</text>")
	require.Contains(t, show, ">MPIJob</text>")

	speed := regexp.MustCompile(`<td>images/sec</td><td>all-reduce</td><td>([0-9.]+)</td>`)
	var speeds []string
	for i, workers := range []string{"1", "2"} {
		require.Contains(t, cells[2+i].printed(), "workers: "+workers+" Succeeded")
		page := cells[2+i].html(t)
		require.Contains(t, page, "<title>workers: "+workers+"</title>", "the graph")
		require.Regexp(t, `: Succeeded</title>`, page, "the step as it ended")
		require.Contains(t, page, "metrics as they are printed")
		require.Regexp(t, `<polyline points="[0-9., ]+"`, page, "the curve")
		require.Equal(t, i+1, strings.Count(page, "images/sec of all-reduce rank "), "each rank has a curve, and its name")
		require.Contains(t, page, ">step 1</text>")
		require.Contains(t, page, "total images/sec: ", "the end of the log")
		require.NotContains(t, page, "<script")
		m := speed.FindStringSubmatch(page)
		require.NotNil(t, m, page)
		speeds = append(speeds, m[1])
	}

	table := cells[4].html(t)
	require.Contains(t, table, "<th>workers: 1</th><th>workers: 2</th>")
	require.Contains(t, table, "<td><b>workers</b></td><td>1</td><td>2</td>", "what differs stands out")
	require.Contains(t, table, "<td><b>images/sec</b> of all-reduce</td><td>"+speeds[0]+"</td><td>"+speeds[1]+"</td>")
	require.Contains(t, table, "<title>images/sec of all-reduce</title>", "the chart")
}
