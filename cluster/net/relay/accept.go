package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// acceptAgain is the pause after the kernel could not hand out a connection; most often no descriptor is left.
const acceptAgain = 100 * time.Millisecond

// Listen makes a unix socket that only the owner may use, in place of one that a killed process left at path.
func Listen(ctx context.Context, network, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listen: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network, path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// Accept has every connection served, each in a goroutine of its own, until the listener is closed or the context ends, with
// which it closes the listener. It returns when all are served. A connection that cannot be accepted waits.
func Accept(ctx context.Context, l net.Listener, log *slog.Logger, serve func(context.Context, net.Conn)) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var served sync.WaitGroup
	defer served.Wait()
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			served.Go(func() { serve(ctx, c) })
		case errors.Is(err, net.ErrClosed), ctx.Err() != nil:
			return
		default:
			log.Warn("a connection is not accepted yet", "address", l.Addr(), "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptAgain):
			}
		}
	}
}
