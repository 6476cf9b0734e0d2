package visual

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	outputs, warnings := Parse([]byte(`{"version": 1, "outputs": [
		{"type": "confusion_matrix", "format": "csv", "storage": "inline", "schema": [{"name": "target", "type": "CATEGORY"}, {"name": "predicted"}, {"name": "count"}],
		 "labels": ["cat", "dog"], "source": "cat,cat,1\ncat,dog,2\ndog,cat,3\ndog,dog,4\n"},
		{"type": "roc", "format": "csv", "storage": "inline", "schema": [{"name": "fpr"}, {"name": "tpr"}, {"name": "thresholds"}], "source": "0, 0, inf\n1,1,0.1"},
		{"type": "table", "format": "csv", "header": ["a"], "source": "minio://mlpipeline/x.csv"},
		{"type": "markdown", "storage": "inline", "source": "# Hello"}, {"type": "web-app", "source": "gs://b/x.html"}, {"type": "tensorboard", "source": "gs://b/logs"}]}`))
	require.Empty(t, warnings)
	require.Len(t, outputs, 6)
	require.Equal(t, "roc", outputs[1].Type)
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
		`{"type":"table","format":"csv","storage":"inline","header":["a"],"source":"\"x"}`:                                                         "no CSV",
		`{"type":"confusion_matrix","format":"csv","source":"x"}`:                                                                                  "two axes",
		`{"type":"confusion_matrix","format":"csv","source":"x","schema":[{"name":"a"},{"name":"b"}]}`:                                             "no labels",
		`{"type":"confusion_matrix","format":"csv","storage":"inline","source":"a,a,1\n","labels":["a","b"],"schema":[{"name":"a"},{"name":"b"}]}`: "has 4 rows, this one has 1",
		`{"type":"confusion_matrix","format":"csv","storage":"inline","source":"a,x,1\n","labels":["a"],"schema":[{"name":"a"},{"name":"b"}]}`:     "row 1 of the confusion_matrix",
	} {
		outputs, warnings := Parse([]byte(`{"outputs":[{"type":"markdown","source":"fine"},` + entry + `]}`))
		require.Len(t, outputs, 1, "what is right stays: %s", entry)
		require.Len(t, warnings, 1, entry)
		require.Contains(t, warnings[0], says)
		require.True(t, strings.HasPrefix(warnings[0], "output 2 "), warnings[0])
	}
	for text, says := range map[string]string{`{`: "no JSON", `[]`: "no JSON", `{}`: `no "outputs"`, `{"outputs":null}`: `no "outputs"`} {
		_, warnings := Parse([]byte(text))
		require.Len(t, warnings, 1)
		require.Contains(t, warnings[0], says)
	}
	outputs, warnings := Parse([]byte(`{"outputs":[` + strings.Repeat(`{"type":"markdown","source":"x"},`, 100) + `{}]}`))
	require.Len(t, outputs, 100)
	require.Contains(t, warnings[0], "only the first 100")
	outputs, warnings = Read(strings.NewReader(`{"outputs":[]}`))
	require.Empty(t, outputs)
	require.Empty(t, warnings)
	_, warnings = Read(strings.NewReader("\x1f\x8bx"))
	require.Contains(t, warnings[0], "cannot be read")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"outputs":[{"type":"roc","format":"csv","storage":"inline","source":"0,1","schema":[{"name":"fpr"},{"name":"tpr"},{"name":"threshold"}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		outputs, _ := Parse(text)
		for _, o := range outputs {
			if o.Type == "" || o.Source == "" {
				t.Fatalf("%q gives an output without type or source", text)
			}
		}
	})
}
