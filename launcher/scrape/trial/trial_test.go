package trial_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape/trial"
)

// Each rule is reported by itself, also where two have one name, and a number that JSON lacks is null.
func TestTry(t *testing.T) {
	t.Parallel()
	log := "[1,0]<stdout>:loss=3\n[1,1]<stdout>:loss=1\n[1,0]<stdout>:val_loss=9\n[1,0]<stdout>:loss=nan\n" + strings.Repeat("loss: x ", 100) + "\n"
	reports, err := trial.Try(strings.NewReader(log), []string{"loss", "loss:RAW:min", "none"}, 2)
	require.NoError(t, err)
	require.Len(t, reports, 3)
	for _, r := range reports[:2] {
		require.Equal(t, 3, r.Points)
		require.Equal(t, 2, r.Ranks)
		require.Len(t, r.Matches, 2)
		require.Equal(t, 1, r.MoreMatches)
		require.Len(t, r.Misses, 2)
		require.Equal(t, 3, r.Misses[0].Line)
		require.Equal(t, 0, *r.Misses[0].Rank)
		require.Nil(t, r.Misses[1].Rank)
		require.LessOrEqual(t, len(r.Misses[1].Text), 203)
		require.EqualValues(t, 1, r.Results["min"])
		require.EqualValues(t, 3, r.Results["max"])
	}
	text, err := json.Marshal(reports[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"last":null`)
	require.Zero(t, reports[2].Points)
	require.Empty(t, reports[2].Results)

	_, err = trial.Try(strings.NewReader(""), []string{"x:y"}, 2)
	require.ErrorContains(t, err, "unknown format")
}

// The launcher's own lines in a step's log are not searched, but they count in line numbers.
func TestJobOnly(t *testing.T) {
	t.Parallel()
	log := "argosy: world size 4\n" + strings.Repeat("x", 200_000) + "\nargosy: metric loss = 7" + strings.Repeat(".", 200_000) + "\nargosy\nloss=1\nargosy: loss=9"
	text, err := io.ReadAll(iotest.HalfReader(trial.JobOnly(strings.NewReader(log))))
	require.NoError(t, err)
	require.Equal(t, "\n"+strings.Repeat("x", 200_000)+"\n\nargosy\nloss=1\n", string(text))
	reports, err := trial.Try(strings.NewReader(log), []string{"loss"}, 5)
	require.NoError(t, err)
	require.Equal(t, 1, reports[0].Points)
	require.Equal(t, 5, reports[0].Matches[0].Line)
}
