package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseSubordinate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file  string
		names []string
		want  idRange
		fails string
	}{
		"by name":        {"root:1:1\nann:100000:65536\n", []string{"1000", "ann"}, idRange{100000, 65536}, ""},
		"by id":          {"1000:5:7\n", []string{"1000", "ann"}, idRange{5, 7}, ""},
		"first row wins": {"ann:1:2\nann:3:4\n", []string{"ann"}, idRange{1, 2}, ""},
		"blanks":         {"  ann:1:2  \n\n", []string{"ann"}, idRange{1, 2}, ""},
		"other rows":     {"nonsense\nann:1:2", []string{"ann"}, idRange{1, 2}, ""},
		"not there":      {"bob:1:2\n", []string{"1000", "ann"}, idRange{}, "no range for 1000 or ann"},
		"empty range":    {"ann:1:0\n", []string{"ann"}, idRange{}, "not name:start:count"},
		"not a number":   {"ann:x:1\n", []string{"ann"}, idRange{}, "not name:start:count"},
		"too large":      {"ann:4294967295:2\n", []string{"ann"}, idRange{}, "not name:start:count"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseSubordinate(strings.NewReader(c.file), c.names)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzParseSubordinate(f *testing.F) {
	f.Add("ann:100000:65536\n")
	f.Add("ann:::\n:1:2\nann:-1:4\n")
	f.Fuzz(func(t *testing.T, file string) {
		r, err := parseSubordinate(strings.NewReader(file), []string{"ann"})
		if err == nil && (r.count == 0 || r.start+r.count > 1<<32) {
			t.Fatalf("%q gave the impossible range %+v", file, r)
		}
	})
}
