package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmaxmax/go-sse"

	"github.com/argosy-ml/argosy/server/run"
)

// TestHeartbeat waits for a minute of made-up time.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := &run.Feed{}
		changes := feed.Subscribe("r")
		defer changes.Close()
		beat := time.NewTicker(heartbeat)
		defer beat.Stop()
		var sent []string
		begin := time.Now()
		time.AfterFunc(time.Minute+time.Second, func() { feed.Publish("r") })
		err := waitForChange(t.Context(), changes, beat.C, func(m *sse.Message) error {
			sent = append(sent, m.String())
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, time.Minute+time.Second, time.Since(begin))
		require.Equal(t, []string{": still here\n\n", ": still here\n\n", ": still here\n\n", ": still here\n\n"}, sent)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, waitForChange(ctx, changes, beat.C, nil), context.DeadlineExceeded)
	})
}
