package runview_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
)

// TestSources: each source keeps its colour, whatever pieces the text comes in; a line is printed as soon as it is whole.
func TestSources(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &runview.Sources{Out: &out}
	text := "[load] a\n2026-11-21T12:00:00.123456789Z [train worker 0] b\n[load] [x] c\nno source\n[load] d"
	_, err := io.Copy(s, iotest.OneByteReader(strings.NewReader(text)))
	require.NoError(t, err)
	whole := "\x1b[36m[load]\x1b[0m a\n2026-11-21T12:00:00.123456789Z \x1b[33m[train worker 0]\x1b[0m b\n\x1b[36m[load]\x1b[0m [x] c\nno source\n"
	require.Equal(t, whole, out.String())
	require.NoError(t, s.Close())
	require.Equal(t, whole+"\x1b[36m[load]\x1b[0m d", out.String())
}
