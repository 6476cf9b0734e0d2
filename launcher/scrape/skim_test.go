package scrape_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Lines that no rule reads are passed over where a piece of the log has them whole. Byte by byte none is: the same has to come of both.
func TestLinesThatArePassedOver(t *testing.T) {
	t.Parallel()
	parts := []string{
		"[1,0]<stdout>:", "[1,1]<stdout>:", "[1,1]<stderr>:", "[prterun-n@1,2][host:7]<stdout>:", "[3]<stdout>:", "[4] ", "5: ", "[rank6]:", "[a b]<stdout>:", "<stdout>:", "]<std", "<",
		"Fri Nov 20 23:13:20 2026[1,7]<stdout>:", "[1,12345678]<stdout>:", "\x1b[32m", "\x1b[0m", "\r", "\r\n", "\n", "\n", "\n",
		"x=1", "x=", "2.5 ", " total x: 3", "images/sec: 4", "val_x=5", "NCCL INFO Channel 00 ", "a/b/c ", "step 7 ", " Data for JOB [1,1]\n", "=====\n", strings.Repeat("long ", 14000),
	}
	for seed := range uint64(16) {
		random := rand.New(rand.NewPCG(seed, 0))
		var log strings.Builder
		for range 300 {
			part := parts[random.IntN(len(parts))]
			if len(part) > 1000 && random.IntN(40) > 0 {
				continue
			}
			log.WriteString(part)
		}
		whole, pieces := passedOver(t, log.String(), false), passedOver(t, log.String(), true)
		require.Empty(t, cmp.Diff(pieces, whole), "seed %d of\n%.5000q", seed, log.String())
	}
}

// read is all that a scanner tells of a log.
type read struct {
	Points          []scrape.Point
	Ranks           int
	Tagged, Between bool
}

func passedOver(t *testing.T, log string, byByte bool) read {
	t.Helper()
	var r read
	s := scrape.New([]scrape.Rule{{Name: "x"}, {Name: "images/sec"}, {Name: "<std"}}, scrape.OnPoint(func(p scrape.Point) { r.Points = append(r.Points, p) }))
	filter := scrape.NewMapFilter(s, false, func(scrape.World) {})
	if byByte {
		for i := range len(log) {
			_, err := filter.Write([]byte(log[i : i+1]))
			require.NoError(t, err)
		}
	} else {
		_, err := filter.Write([]byte(log))
		require.NoError(t, err)
	}
	require.NoError(t, filter.Close())
	r.Tagged, r.Between = s.Between()
	require.NoError(t, s.Close())
	r.Ranks = s.Ranks()
	return r
}
