package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/argosy-ml/argosy/cluster/relay"
)

// relays join addresses on the gateway to unix sockets, whose paths lead out of
// the sandbox's network namespace.
type relays struct {
	log       *slog.Logger
	listeners []net.Listener
	work      sync.WaitGroup
}

// start listens on addr and joins each connection to the socket until the context ends or stop is called.
func (r *relays) start(ctx context.Context, addr, socket string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	r.listeners = append(r.listeners, l)
	r.work.Go(func() {
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				r.log.Warn("relay does not accept", "address", addr, "err", err)
				continue
			}
			r.work.Go(func() { r.join(ctx, c.(*net.TCPConn), socket) })
		}
	})
	return nil
}

func (r *relays) stop() {
	for _, l := range r.listeners {
		_ = l.Close()
	}
	r.work.Wait()
}

// join connects an accepted connection to the socket.
func (r *relays) join(ctx context.Context, c *net.TCPConn, socket string) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		_ = c.Close()
		r.log.Warn("relay finds nobody", "err", err)
		return
	}
	relay.Join(ctx, c, conn.(*net.UnixConn))
}
