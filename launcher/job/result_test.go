package job

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/train/option"
)

func TestWriteMetrics(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out", "mlpipeline-metrics.json")
	var said strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
	rule := func(name string, f scrape.Format) scrape.Rule {
		return scrape.Rule{Name: name, Format: f, Reduce: scrape.Last}
	}
	require.NoError(t, writeMetrics(file, []scrape.Metric{
		{Rule: rule("images/sec", scrape.Raw), Value: 3033.57, Points: 32},
		{Rule: rule("top-1", scrape.Percentage), Value: 0, Points: 1},
		{Rule: rule("loss", scrape.Raw), Value: math.NaN(), Points: 4},
		{Rule: rule("speed", scrape.Raw)},
	}, say))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, `{"metrics":[{"name":"images/sec","numberValue":3033.57,"format":"RAW"},{"name":"top-1","numberValue":0,"format":"PERCENTAGE"}]}`, string(text))
	for _, want := range []string{"metric images/sec = 3033.57", "metric loss is NaN", "metric speed was not found"} {
		require.Contains(t, said.String(), want)
	}

	none := filepath.Join(t.TempDir(), "none.json")
	require.NoError(t, writeMetrics(none, nil, say))
	require.NoFileExists(t, none)
}

func TestTerminationMessage(t *testing.T) {
	t.Parallel()
	var tl tail
	for i := range 100 {
		_, _ = fmt.Fprintf(&tl, "line %d\n\n", i)
	}
	_, _ = tl.Write([]byte("Traceback \xff"))
	_, _ = tl.Write([]byte("(most recent call last)"))
	got := terminationMessage("it failed", tl.last())
	require.True(t, strings.HasPrefix(got, "it failed\nline 81\n"), got)
	require.True(t, strings.HasSuffix(got, "\nline 99\nTraceback ?(most recent call last)"), got)

	long := make([]string, 20)
	for i := range long {
		long[i] = fmt.Sprintf("%d %s", i, strings.Repeat("é", 150))
	}
	got = terminationMessage("it failed", long)
	require.LessOrEqual(t, len(got), maxTermination)
	require.Contains(t, got, "\n19 é", "the last lines are the ones to keep")
	require.LessOrEqual(t, len(terminationMessage(strings.Repeat("x", 9999), long)), maxTermination)
}

func TestWriteTermination(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "log")
	require.NoError(t, writeTermination(file, "x"))
	require.NoFileExists(t, file, "outside a pod there is nothing to write to")
	require.NoError(t, os.WriteFile(file, []byte("much longer than before"), 0o600))
	require.NoError(t, writeTermination(file, "short"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "short", string(text))
}

func TestConsole(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &console{w: &out}
	c.say("one")
	_, _ = c.Write([]byte("job line\nprogress 10%"))
	c.say("two\n")
	_, _ = c.Write(nil)
	_, _ = c.Write([]byte("100%\n"))
	c.say("three")
	require.Equal(t, "argosy: one\njob line\nprogress 10%\nargosy: two\n100%\nargosy: three\n", out.String())
}

func TestSayWorld(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		world scrape.World
		want  []string
	}{
		{scrape.World{Ranks: 4, Hosts: []string{"a", "b"}}, []string{"argosy: world size 4 (requested 4) on 2 hosts\n"}},
		{scrape.World{Ranks: 1, Hosts: []string{"a"}}, []string{"world size 1 (requested 4) on 1 host\n", "warning: mpirun started 1 of 4 ranks"}},
		{scrape.World{Ranks: 4, Hosts: []string{"a"}}, []string{"world size 4 (requested 4) on 1 host\n", "warning: the ranks run on 1 of 2 workers"}},
	} {
		var out strings.Builder
		l := &Launcher{Spec: &Spec{Kind: &mpiJob, Roles: []Role{{Name: "worker", Replicas: 2, Trains: true}}, Values: option.Values{Slots: 2}}, out: &console{w: &out}}
		l.sayWorld(tc.world)
		for _, want := range tc.want {
			require.Contains(t, out.String(), want)
		}
		require.Equal(t, len(tc.want) > 1, strings.Contains(out.String(), "warning"))
	}
}
