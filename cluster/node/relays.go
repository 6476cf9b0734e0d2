package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"

	"github.com/argosy-ml/argosy/cluster/podnet"
)

// relays join addresses on the gateway to unix sockets, whose paths lead out of
// the sandbox's network namespace.
type relays struct {
	log       *slog.Logger
	listeners []net.Listener
	names     net.PacketConn
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

// startNames starts the pods' name server.
func (r *relays) startNames(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(ctx, "udp", addr)
	if err != nil {
		return fmt.Errorf("name server: %w", err)
	}
	r.names = conn
	r.work.Go(func() {
		if err := podnet.ServeNoNames(conn); err != nil {
			r.log.Warn("the pods' name server ended", "err", err)
		}
	})
	return nil
}

func (r *relays) stop() {
	if r.names != nil {
		_ = r.names.Close()
	}
	for _, l := range r.listeners {
		_ = l.Close()
	}
	r.work.Wait()
}

// join copies both ways; each end may finish on its own.
func (r *relays) join(ctx context.Context, c *net.TCPConn, socket string) {
	defer func() { _ = c.Close() }()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		r.log.Warn("relay finds nobody", "err", err)
		return
	}
	u := conn.(*net.UnixConn)
	defer func() { _ = u.Close() }()
	stop := context.AfterFunc(ctx, func() {
		_ = c.Close()
		_ = u.Close()
	})
	defer stop()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(c, u)
		_ = c.CloseWrite()
	})
	_, _ = io.Copy(u, c)
	_ = u.CloseWrite()
	back.Wait()
}
