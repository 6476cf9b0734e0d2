package emissary

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/runtime/pipe/pipetest"
)

// What a command wrote is kept however slowly it is taken, whether something still has the other end of the pipe or not.
func TestOutputIsKeptHoweverSlowlyItIsTaken(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 60_000) // more than is read at a time, and less than a pipe holds
	for name, open := range map[string]bool{"all ended": false, "one goes on": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var outputs taps
			from := make(chan struct{})
			to := &pipetest.Late{From: from}
			into, err := outputs.open(to)
			require.NoError(t, err)
			_, err = io.WriteString(into, text)
			require.NoError(t, err)
			if open {
				outputs.into = nil
				defer into.Close()
			}
			time.AfterFunc(3*outputLimit, func() { close(from) })
			outputs.end()
			require.Equal(t, len(text), to.Len())
		})
	}
}
