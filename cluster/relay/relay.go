// Package relay joins connections: a unix socket to a TCP address, or any two. A unix socket's path
// crosses network namespaces where the host's loopback does not.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
)

// Serve accepts on the unix socket at path, which only the owner may use, and
// joins each connection to the TCP address until the context ends. It has
// closed every connection when it returns.
func Serve(ctx context.Context, path, address string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("relay: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return fmt.Errorf("relay: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var joined sync.WaitGroup
	defer joined.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("relay: %w", err)
		}
		joined.Go(func() { join(ctx, c.(*net.UnixConn), address) })
	}
}

// join connects an accepted connection to the address.
func join(ctx context.Context, c *net.UnixConn, address string) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		_ = c.Close() // the caller sees its connection closed, as with a refused one
		return
	}
	Join(ctx, c, conn.(*net.TCPConn))
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
