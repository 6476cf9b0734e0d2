// Package relay joins a unix socket to a TCP address. A unix socket's path
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

// join copies both ways until both ends have said all they had to say.
func join(ctx context.Context, c *net.UnixConn, address string) {
	defer func() { _ = c.Close() }()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return // the caller sees its connection closed, as with a refused one
	}
	t := conn.(*net.TCPConn)
	defer func() { _ = t.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close(); _ = t.Close() })
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(t, c)
		_ = t.CloseWrite()
	})
	_, _ = io.Copy(c, t)
	_ = c.CloseWrite()
	wg.Wait()
}
