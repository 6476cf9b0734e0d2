package scrape_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

func TestStepOfAPoint(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int64{
		"10\timages/sec: 189.6 +/- 0.4 (jitter = 1.2)\t7.853": 10,
		"[1,0]<stdout>:20\timages/sec: 190.1 +/- 0.4":         20,
		"step 7 images/sec: 1":                                7,
		"Step: 8, images/sec: 1":                              8,
		"global_step=900 epoch=3 images/sec=1":                900,
		"Epoch [3/90] Iter [40/100] images/sec: 1":            40,
		"Train Epoch: 4 images/sec: 1":                        4,
		`{"iteration": 12, "images/sec": 1.5}`:                12,
		"batch 5 images/sec: 1":                               5,
		"total images/sec: 379.2":                             -1,
		"batch_size: 64 images/sec: 1":                        -1,
		"steps/sec: 9 images/sec: 1":                          -1,
		"time per step: 1.5 images/sec: 1":                    -1,
	} {
		var got []scrape.Point
		s := scrape.New([]scrape.Rule{{Name: "images/sec"}}, scrape.OnPoint(func(p scrape.Point) { got = append(got, p) }))
		_, err := s.Write([]byte(line + "\n"))
		require.NoError(t, err)
		require.Len(t, got, 1, line)
		if want < 0 {
			require.False(t, got[0].Stepped, line)
			continue
		}
		require.True(t, got[0].Stepped, line)
		require.Equal(t, want, got[0].Step, line)
	}
}
