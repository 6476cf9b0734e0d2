package uimetadata

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	outputs := Parse([]byte(`{"version": 1, "outputs": [
		{"type": "confusion_matrix", "format": "csv", "storage": "inline", "schema": [{"name": "target", "type": "CATEGORY"}, {"name": "predicted"}, {"name": "count"}],
		 "labels": ["cat", "dog"], "source": "cat,cat,1\ncat,dog,2\ndog,cat,3\ndog,dog,4\n"},
		{"type": "roc", "format": "csv", "storage": "inline", "schema": [{"name": "fpr"}, {"name": "tpr"}, {"name": "thresholds"}], "source": "0, 0, inf\n1,1,0.1"},
		{"type": "table", "format": "csv", "header": ["a"], "source": "minio://mlpipeline/x.csv"},
		{"type": "markdown", "storage": "inline", "source": "# Hello"}, {"type": "web-app", "source": "gs://b/x.html"}, {"type": "tensorboard", "source": "gs://b/logs"}]}`))
	require.Len(t, outputs, 6)
	for i, e := range outputs {
		require.Equal(t, i+1, e.Number)
		require.Empty(t, e.Warning())
		kept, err := Kept(e.Body())
		require.NoError(t, err)
		require.Equal(t, e.Output, kept)
	}
	require.Equal(t, "roc", outputs[1].Output.Type)
}

func TestParseWarns(t *testing.T) {
	t.Parallel()
	for entry, says := range map[string]string{
		`5`:                              "cannot unmarshal number",
		`{}`:                             "no type",
		`{"type":"pie","source":"x"}`:    `type "pie" is unknown`,
		`{"type":"markdown"}`:            "no source",
		`{"type":"table","source":"x"}`:  "format of a table is csv",
		`{"type":"markdown","source":5}`: "source",
		`{"type":"roc","format":"csv","source":"x","schema":[{"name":"fpr"},{"name":"tpr"}]}`:                                                      "threshold is missing",
		`{"type":"roc","format":"csv","storage":"inline","source":"0,x,1","schema":[{"name":"fpr"},{"name":"tpr"},{"name":"threshold"}]}`:          "row 1 of the roc has no number as tpr",
		`{"type":"table","format":"csv","source":"x"}`:                                                                                             "no header",
		`{"type":"table","format":"csv","storage":"inline","header":["a"],"source":"\"x"}`:                                                         "not CSV",
		`{"type":"confusion_matrix","format":"csv","source":"x"}`:                                                                                  "two axes",
		`{"type":"confusion_matrix","format":"csv","source":"x","schema":[{"name":"a"},{"name":"b"}]}`:                                             "no labels",
		`{"type":"confusion_matrix","format":"csv","storage":"inline","source":"a,a,1\n","labels":["a","b"],"schema":[{"name":"a"},{"name":"b"}]}`: "has 4 rows, this one has 1",
		`{"type":"confusion_matrix","format":"csv","storage":"inline","source":"a,x,1\n","labels":["a"],"schema":[{"name":"a"},{"name":"b"}]}`:     "row 1 of the confusion_matrix",
	} {
		outputs := Parse([]byte(`{"outputs":[{"type":"markdown","source":"fine"},` + entry + `]}`))
		require.Len(t, outputs, 2, entry)
		require.Empty(t, outputs[0].Warning(), "what is right stays: %s", entry)
		require.Contains(t, outputs[1].Problem, says)
		require.Equal(t, "output 2 of the UI metadata: "+outputs[1].Problem, outputs[1].Warning())
		require.Equal(t, entry, string(outputs[1].Body()), "what is wrong is kept as it is")
	}
	for text, says := range map[string]string{`{`: "not JSON", `[]`: "not JSON", `{}`: `no "outputs"`, `{"outputs":null}`: `no "outputs"`} {
		outputs := Parse([]byte(text))
		require.Len(t, outputs, 1)
		require.Zero(t, outputs[0].Number)
		require.Contains(t, outputs[0].Warning(), says)
		require.Equal(t, text, string(outputs[0].Body()))
	}
	outputs := Parse([]byte(`{"outputs":[` + strings.Repeat(`{"type":"markdown","source":"x"},`, 100) + `{}]}`))
	require.Len(t, outputs, 101)
	require.Contains(t, outputs[0].Warning(), "only the first 100")
	require.Equal(t, 100, outputs[100].Number)
	require.Empty(t, Read(strings.NewReader(`{"outputs":[]}`)))
	require.Contains(t, Read(strings.NewReader("\x1f\x8bx"))[0].Warning(), "cannot be read")
}

// TestLongOnes: what is very long stays in the artifact alone.
func TestLongOnes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxSource+1)
	e := Parse([]byte(`{"outputs":[{"type":"markdown","storage":"inline","source":"` + long + `"},{"type":"pie","source":"` + long + `"}]}`))
	kept, err := Kept(e[0].Body())
	require.NoError(t, err)
	require.Equal(t, Output{Type: "markdown", Storage: "inline", SourceSize: maxSource + 1}, kept)
	require.Len(t, e[1].Body(), maxRaw)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"outputs":[{"type":"roc","format":"csv","storage":"inline","source":"0,1","schema":[{"name":"fpr"},{"name":"tpr"},{"name":"threshold"}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, e := range Parse(text) {
			if e.Problem == "" && (e.Output.Type == "" || e.Output.Source == "") {
				t.Fatalf("%q gives an output without type or source", text)
			}
			if len(e.Body()) > maxSource+maxFile {
				t.Fatalf("%q is kept as %d bytes", text, len(e.Body()))
			}
		}
	})
}
