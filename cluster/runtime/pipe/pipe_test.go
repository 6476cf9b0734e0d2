package pipe

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/runtime/pipe/pipetest"
)

// What was written before the deadline is read, however slowly it is taken, whether something still has the other end open or not.
func TestWhatHasArrivedIsRead(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 60_000) // more than is read at a time, and less than a pipe holds
	for name, open := range map[string]bool{"all ended": false, "one goes on": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			defer w.Close()
			_, err = io.WriteString(w, text)
			require.NoError(t, err)
			if !open {
				require.NoError(t, w.Close())
			}
			from := make(chan struct{})
			to := &pipetest.Late{From: from}
			copied := make(chan error, 1)
			go func() {
				_, err := io.Copy(to, New(r))
				copied <- err
			}()
			require.NoError(t, r.SetReadDeadline(time.Unix(1, 0)))
			close(from)
			require.NoError(t, <-copied)
			require.Equal(t, len(text), to.Len())
		})
	}
}

// A deadline ends the wait for those who say nothing.
func TestNobodyIsWaitedForLonger(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.NoError(t, r.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	said, err := io.ReadAll(New(r))
	require.NoError(t, err)
	require.Empty(t, said)
}

// Those who never stop writing are heard to an end.
func TestEndlessWritersAreCutOff(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}()
	require.NoError(t, r.SetReadDeadline(time.Unix(1, 0)))
	said, err := io.ReadAll(New(r))
	require.NoError(t, err)
	require.LessOrEqual(t, len(said), most)
	require.NoError(t, r.Close())
	<-written
	require.NoError(t, w.Close())
}
