package engine

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

const executorLine = `time="2026-11-21T02:45:06.546Z" level=info msg="sub-process exited" argo=true error="<nil>"` + "\n"

func TestQuietLeavesOutOnlyTheExecutor(t *testing.T) {
	t.Parallel()
	long := `time="` + strings.Repeat("x", maxExecutorLine) + " argo=true\n"
	for given, want := range map[string]string{
		"":                                  "",
		"a\n\nb":                            "a\n\nb",
		"a\n" + executorLine + "b\n":        "a\nb\n",
		executorLine + executorLine:         "",
		strings.TrimSpace(executorLine):     "",
		`time="now" level=info mine` + "\n": `time="now" level=info mine` + "\n",
		"ti":                                "ti",
		"unfinished " + executorLine:        "unfinished " + executorLine,
		"progress 1\rprogress 2":            "progress 1\rprogress 2",
		long:                                long,
	} {
		for name, reader := range map[string]io.Reader{
			"whole": strings.NewReader(given), "bytes": iotest.OneByteReader(strings.NewReader(given)), "end with data": iotest.DataErrReader(strings.NewReader(given)),
		} {
			got, err := io.ReadAll(&quiet{ReadCloser: io.NopCloser(reader)})
			require.NoError(t, err)
			require.Equal(t, want, string(got), "%s: %.80q", name, given)
		}
	}
}

// TestQuietPassesUnfinishedLinesOn: a progress bar must show before its line ends.
func TestQuietPassesUnfinishedLinesOn(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	q := &quiet{ReadCloser: r}
	go w.Write([]byte("50%")) //nolint:errcheck // the reader tells
	p := make([]byte, 10)
	n, err := q.Read(p)
	require.NoError(t, err)
	require.Equal(t, "50%", string(p[:n]))
	require.NoError(t, q.Close())
}

func FuzzQuiet(f *testing.F) {
	f.Add("a\n"+executorLine+"b", 3)
	f.Add("time", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		want, err := io.ReadAll(&quiet{ReadCloser: io.NopCloser(strings.NewReader(text))})
		require.NoError(t, err)
		var got strings.Builder
		_, err = io.CopyBuffer(&got, struct{ io.Reader }{&quiet{ReadCloser: io.NopCloser(iotest.HalfReader(strings.NewReader(text)))}}, make([]byte, 1+(size&0xff)))
		require.NoError(t, err)
		require.Equal(t, string(want), got.String(), "however it comes")
		if !strings.Contains(text, "argo=true") {
			require.Equal(t, text, got.String())
		}
	})
}
