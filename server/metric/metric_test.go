package metric_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/metric"
	"github.com/argosy-ml/argosy/server/run"
)

func TestParse(t *testing.T) {
	t.Parallel()
	raw := func(name string, value float64) run.Metric {
		return run.Metric{Name: name, Value: value, Format: run.Raw}
	}
	for name, c := range map[string]struct {
		text     string
		want     []run.Metric
		warnings []string
	}{
		"names stay as written": {
			`{"metrics":[{"name":"images/sec","numberValue":134.66,"format":"RAW"}]}`, []run.Metric{raw("images/sec", 134.66)}, nil,
		},
		"both spellings": {
			`{"metrics":[{"name":"a","number_value":0},{"name":"b","numberValue":-1e-5,"format":"PERCENTAGE"}]}`,
			[]run.Metric{raw("a", 0), {Name: "b", Value: -1e-5, Format: run.Percentage}},
			nil,
		},
		"numbers in strings, unknown fields, formats by number": {
			`{"version":1,"metrics":[{"name":"a","numberValue":"1.5","unit":"s","format":2}]}`,
			[]run.Metric{{Name: "a", Value: 1.5, Format: run.Percentage}},
			nil,
		},
		"one bad entry costs only itself": {
			`{"metrics":[{"name":"a","numberValue":"fast"},{"numberValue":1},{"name":"  ","numberValue":1},7,{"name":"b"},{"name":"c","numberValue":3}]}`,
			[]run.Metric{raw("c", 3)},
			[]string{
				`metric 1 of the file ("a"): its value "fast" is not a number`, "metric 2 of the file: it has no name", "metric 3 of the file: its name is empty",
				"metric 4 of the file: it is not a metric", `metric 5 of the file ("b"): it has no numberValue`,
			},
		},
		"Python's NaN": {
			`{"metrics": [{"name": "loss", "numberValue": NaN}, {"name": "b", "numberValue": -Infinity}, {"name": "c", "numberValue": 2}]}`,
			[]run.Metric{raw("c", 2)},
			[]string{`("loss"): its value "NaN" is not finite`, `its value "-Infinity" is not finite`},
		},
		"unknown format": {
			`{"metrics":[{"name":"a","numberValue":1,"format":"FANCY"}]}`, []run.Metric{raw("a", 1)}, []string{`format "FANCY" is neither RAW nor PERCENTAGE`},
		},
		"no JSON":     {`images/sec: 5`, nil, []string{"the metrics file is not of the form"}},
		"wrong shape": {`[1]`, nil, []string{"the metrics file is not of the form"}},
		"no metrics":  {`{}`, nil, nil},
		"long name":   {`{"metrics":[{"name":"` + strings.Repeat("é", 200) + `","numberValue":1}]}`, nil, []string{"longer than 128 characters"}},
		"control":     {`{"metrics":[{"name":"a\u0007","numberValue":1}]}`, nil, []string{"cannot be shown"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, warnings := metric.Parse([]byte(c.text))
			require.Equal(t, c.want, got)
			require.Len(t, warnings, len(c.warnings), "%q", warnings)
			for i, w := range c.warnings {
				require.Contains(t, warnings[i], w)
			}
		})
	}
}

func TestParseKeepsALimitedNumber(t *testing.T) {
	t.Parallel()
	got, warnings := metric.Parse([]byte(`{"metrics":[` + strings.Repeat(`{"name":"a","numberValue":1},`, 1500) + `{"name":"z","numberValue":1}]}`))
	require.Len(t, got, 1000)
	require.Len(t, warnings, 1)
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(content)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func tarball(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, content := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "mlpipeline-metrics.json", Mode: 0o644, Size: int64(len(content))}))
		_, err := w.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestRead(t *testing.T) {
	t.Parallel()
	const file = `{"metrics":[{"name":"a","numberValue":1}]}`
	want := []run.Metric{{Name: "a", Value: 1, Format: run.Raw}}
	for name, packed := range map[string][]byte{
		"plain": []byte(file), "gzip": zipped(t, []byte(file)), "tarball": zipped(t, tarball(t, file)),
	} {
		got, warnings := metric.Read(bytes.NewReader(packed))
		require.Equal(t, want, got, name)
		require.Empty(t, warnings, name)
	}
	for name, packed := range map[string][]byte{
		"its archive holds 2 files": zipped(t, tarball(t, file, file)),
		"larger than 4 MiB":         zipped(t, tarball(t, strings.Repeat(" ", 5<<20))),
		"cannot be read":            {0x1f, 0x8b, 1},
	} {
		got, warnings := metric.Read(bytes.NewReader(packed))
		require.Empty(t, got, name)
		require.Len(t, warnings, 1, name)
		require.Contains(t, warnings[0], name)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"metrics":[{"name":"a","numberValue":1}]}`, `{"metrics":[{"name":"a","numberValue":NaN}]}`, "\x1f\x8b", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := metric.Read(bytes.NewReader(data))
		for _, m := range got {
			require.NotEmpty(t, m.Name)
			require.Contains(t, []string{run.Raw, run.Percentage}, m.Format)
			require.False(t, m.Value != m.Value || m.Value-m.Value != 0, "a finite value")
		}
	})
}
