// Package relay accepts connections and joins each to another: a unix socket to a TCP address, or any two. A unix socket works across
// network namespaces, which the host's loopback does not.
package relay

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync"
)

// Serve joins each connection to the unix socket at path, which only the owner may use, to the TCP address until the
// context ends. It has closed every connection when it returns.
func Serve(ctx context.Context, path, address string, log *slog.Logger) error {
	l, err := Listen(ctx, "unix", path)
	if err != nil {
		return err
	}
	Accept(ctx, l, log, func(ctx context.Context, c net.Conn) {
		_ = Connect(ctx, c.(Stream), "tcp", address) // the caller sees its connection closed, as with a refused one
	})
	return nil
}

// Connect joins a connection to the address. When that cannot be reached it closes the connection and says why.
func Connect(ctx context.Context, c Stream, network, address string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		_ = c.Close()
		return err
	}
	Join(ctx, c, conn.(Stream))
	return nil
}

// Stream is a connection whose directions can be ended one by one.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Join copies both ways until both ends have said all they had to say or the
// context ends. It closes both.
func Join(ctx context.Context, a, b Stream) {
	defer func() { _ = a.Close(); _ = b.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = a.Close(); _ = b.Close() })
	defer stop()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(a, b)
		_ = a.CloseWrite()
	})
	_, _ = io.Copy(b, a)
	_ = b.CloseWrite()
	back.Wait()
}
