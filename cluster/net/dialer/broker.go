package dialer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/argosy-ml/argosy/cluster/net/descriptor"
	"github.com/argosy-ml/argosy/cluster/net/relay"
)

// connectLimit ends an attempt whose asker does not say how long to wait.
const connectLimit = 2 * time.Minute

// Serve is the broker: it answers on the unix socket at path, which only the
// owner may use, until the context ends. Nothing of it is left when it returns.
func Serve(ctx context.Context, path string, log *slog.Logger) error {
	l, err := relay.Listen(ctx, "unixpacket", path)
	if err != nil {
		return fmt.Errorf("dial broker: %w", err)
	}
	relay.Accept(ctx, l, log, func(ctx context.Context, c net.Conn) {
		defer c.Close()
		serve(ctx, c.(*net.UnixConn))
	})
	return nil
}

// serve answers one request. An asker that cannot be answered has gone away,
// which is not a failure.
func serve(ctx context.Context, c *net.UnixConn) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()

	buf := make([]byte, descriptor.Limit)
	n, err := c.Read(buf)
	if err != nil {
		return
	}
	watching.Go(func() { // until the asker loses interest, or is answered
		_, _ = io.Copy(io.Discard, c)
		cancel()
	})
	conn, err := connect(ctx, buf[:n])
	if ctx.Err() != nil && conn != nil {
		_ = conn.Close()
		return
	}
	if err != nil {
		send(c, answer{Error: err.Error()}, -1)
		return
	}
	defer conn.Close()
	hand(c, conn)
}

func connect(ctx context.Context, question []byte) (net.Conn, error) {
	var r request
	if err := json.Unmarshal(question, &r); err != nil {
		return nil, fmt.Errorf("not a request: %w", err)
	}
	switch r.Network {
	case "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6":
	default:
		return nil, fmt.Errorf("network %q is neither TCP nor UDP", r.Network)
	}
	var d net.Dialer
	return d.DialContext(ctx, r.Network, r.Address)
}

// hand gives the connection away; the broker's own copy is closed by the caller.
func hand(c *net.UnixConn, conn net.Conn) {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { send(c, answer{}, int(fd)) })
	}
	if err != nil {
		send(c, answer{Error: err.Error()}, -1)
	}
}

func send(c *net.UnixConn, a answer, fd int) {
	const longest = descriptor.Limit / 8 // as JSON, a byte may take six
	a.Error = a.Error[:min(len(a.Error), longest)]
	b, err := json.Marshal(a)
	if err != nil {
		return // it has one field of text
	}
	_ = descriptor.Send(c, b, fd)
}
