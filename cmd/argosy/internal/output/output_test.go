package output_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	value := []map[string]string{{"name": "a <b>", "id": "1"}}
	for format, want := range map[output.Format]string{
		output.JSON:  "[\n  {\n    \"id\": \"1\",\n    \"name\": \"a <b>\"\n  }\n]\n",
		output.YAML:  "- id: \"1\"\n  name: a <b>\n",
		output.Table: "NAME    ID\na <b>   1\n",
	} {
		var out bytes.Buffer
		p := output.Printer{Out: &out, Format: format}
		require.NoError(t, p.Print(value, func() { p.Rows("nothing", []string{"name", "id"}, [][]string{{"a <b>", "1"}}) }))
		require.Equal(t, want, out.String(), format)
	}
	f := output.Table
	require.NoError(t, f.Set("yaml"))
	require.Equal(t, output.YAML, f)
	require.Equal(t, exit.Usage, exit.Code(f.Set("xml")))
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := output.Printer{Out: &out, Format: output.Table}
	p.Rows("nothing here", []string{"a"}, nil)
	p.Fields("Name", "x", "Empty", "", "Longer", "y")
	p.Heading("Part")
	require.Equal(t, "nothing here\nName:     x\nLonger:   y\n\nPart\n", out.String())
	require.Equal(t, "Accepted", p.Status(""))
	require.Equal(t, "Failed", p.Status("Failed"))
	p.Color = true
	require.Equal(t, "\x1b[31mFailed\x1b[0m", p.Status("Failed"))
	require.Equal(t, "Omitted", p.Status("Omitted"))
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "", -time.Second: "", time.Microsecond: "<1ms", 850 * time.Millisecond: "850ms",
		4240 * time.Millisecond: "4.2s", 130 * time.Second: "2m10s", 3 * time.Hour: "3h0m0s",
	} {
		require.Equal(t, want, output.Duration(d))
	}
	require.Empty(t, output.Time(time.Time{}))
	require.Equal(t, "2026-11-20 10:00:00", output.Time(time.Date(2026, 11, 20, 10, 0, 0, 0, time.Local)))
}
