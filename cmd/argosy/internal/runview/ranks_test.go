package runview_test

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
)

const jobLog = "argosy: created MPIJob train-5f1c\n[1,0]<stdout>:hello [1,1]<stdout>:hello from 1\n[1,0]<stdout>:from 0\n" +
	"[1,11]<stderr>:Traceback\n[1,3]<stdout>:loss=2\n[1,10]<stdout>:the end"

// Lines of ranks come apart, wherever the log was cut, and can be chosen by rank and by text.
func TestRanks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ ranks, grep, want string }{
		{"", "", "     argosy: created MPIJob train-5f1c\n   1 hello from 1\n   0 hello from 0\n  11 Traceback\n   3 loss=2\n  10 the end\n"},
		{"0", "", "   0 hello from 0\n"},
		{"1,3,9-11", "", "   1 hello from 1\n  11 Traceback\n   3 loss=2\n  10 the end\n"},
		{"0-1", "from 1$", "   1 hello from 1\n"},
		{"", "MPIJob|=", "     argosy: created MPIJob train-5f1c\n   3 loss=2\n"},
		{"7", "", ""},
	} {
		var out strings.Builder
		r := runview.Ranks{Out: &out}
		if tc.ranks != "" {
			require.NoError(t, r.Only.Set(tc.ranks))
		}
		if tc.grep != "" {
			r.Grep = regexp.MustCompile(tc.grep)
		}
		w := r.Writer()
		_, err := io.Copy(w, struct{ io.Reader }{iotest.OneByteReader(strings.NewReader(jobLog))})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Equal(t, tc.want, out.String(), "%+v", tc)
	}
	for _, wrong := range []string{"", "a", "-1", "3-1", "1,", "99999999999"} {
		var set runview.RankSet
		require.Equal(t, exit.Usage, exit.Code(set.Set(wrong)), wrong)
	}
}

// On a terminal each rank has a colour.
func TestRanksInColour(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := runview.Ranks{Out: &out, Color: true}
	w := r.Writer()
	_, err := io.WriteString(w, "[1,0]<stdout>:a\n[1,1]<stdout>:b\n[1,0]<stdout>:c\n")
	require.NoError(t, err)
	require.Equal(t, "\x1b[36m   0\x1b[0m a\n\x1b[33m   1\x1b[0m b\n\x1b[36m   0\x1b[0m c\n", out.String())
}
