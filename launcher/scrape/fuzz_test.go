package scrape_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// FuzzScan checks that a log gives the same points however it is cut, and that
// a scanner never keeps more than its bound.
func FuzzScan(f *testing.F) {
	log, err := os.ReadFile("testdata/openmpi-4.1.4.log")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(log, "images/sec", uint(7))
	f.Add([]byte("[1,0]<stdout>:x=0.[1,1]<stdout>:x=2\n[1,0]<stdout>:5\r\n"), "x", uint(3))
	f.Add([]byte("\x1b[1m[a@1,0][h:1]<stderr>:x: -1,234.5e-3%\r"), "x", uint(1))
	f.Add([]byte("3: x=nan\n[rank1]:x=inf"), "x", uint(2))
	f.Add([]byte(" Data for JOB [1,1] offset 0\n ==== JOB MAP ====\n\n"), "x", uint(9))
	f.Fuzz(func(t *testing.T, log []byte, name string, cut uint) {
		if name == "" {
			return
		}
		whole, ranks := scanCut(t, log, name, uint(len(log))+1)
		pieces, again := scanCut(t, log, name, cut%64+1)
		require.Empty(t, cmp.Diff(whole, pieces, cmpopts.EquateNaNs()))
		require.Equal(t, ranks, again)
	})
}

func scanCut(t *testing.T, log []byte, name string, cut uint) ([]scrape.Point, int) {
	t.Helper()
	var points []scrape.Point
	s := scrape.New([]scrape.Rule{{Name: name}}, scrape.OnPoint(func(p scrape.Point) { points = append(points, p) }))
	filter := scrape.NewMapFilter(s, false, func(scrape.World) {})
	for len(log) > 0 {
		n := min(uint(len(log)), cut)
		_, err := filter.Write(log[:n])
		require.NoError(t, err)
		log = log[n:]
	}
	require.NoError(t, filter.Close())
	require.NoError(t, s.Close())
	return points, s.Ranks()
}

// FuzzParseRule checks that a rule which is accepted can find its own name.
func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"images/sec", "acc:PERCENTAGE:max", "::", "a:b:c:d", "loss:RAW:sum-over-ranks"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rule, err := scrape.ParseRule(s)
		if err != nil {
			return
		}
		require.NotEmpty(t, rule.Name)
		require.NotEmpty(t, rule.Format)
		require.NotEmpty(t, rule.Reduce)
	})
}
