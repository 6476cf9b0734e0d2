package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExecutorLines(t *testing.T) {
	t.Parallel()
	const executor = `time="2026-11-21T02:45:06.546Z" level=info msg="sub-process exited" argo=true error="<nil>"`
	for text, want := range map[string]struct{ whole, begun bool }{
		"":                           {false, true},
		"ti":                         {false, true},
		"a line":                     {false, false},
		"50%\r60%":                   {false, false},
		executor:                     {true, true},
		executor[:40]:                {false, true},
		"unfinished " + executor:     {false, false},
		`time="now" level=info mine`: {false, true},
		`time="` + strings.Repeat("x", maxExecutorLine) + " argo=true": {false, false},
	} {
		require.Equal(t, want.whole, isExecutorLine([]byte(text), true), "%.80q", text)
		require.Equal(t, want.begun, isExecutorLine([]byte(text), false), "%.80q", text)
	}
}
