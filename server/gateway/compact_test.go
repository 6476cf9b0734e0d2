package gateway

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzCompact(f *testing.F) {
	for _, text := range []string{"", " ", `a "b" c`, `\`, `\" \\`, "ä\n : , "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		for _, spaced := range []string{"%", "[%,  %]", `{"a" :%, "b" : [ ],  %: {"c":1, "d":"" } } `, " 1 "} {
			spaced := bytes.ReplaceAll([]byte(spaced), []byte("%"), quoted)
			var want bytes.Buffer
			require.NoError(t, json.Compact(&want, spaced))
			require.Equal(t, want.String(), string(compact(spaced)))
		}
	})
}
