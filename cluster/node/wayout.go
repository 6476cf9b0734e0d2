package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/egress"
	"github.com/argosy-ml/argosy/cluster/handover"
	"github.com/argosy-ml/argosy/cluster/podnet"
)

// socketPair makes the connection over which the sandbox hands its way out to the node.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket pair: %w", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "outside")
	if ours, err = unixConn(os.NewFile(uintptr(fds[0]), "sandbox")); err != nil {
		_ = theirs.Close()
	}
	return ours, theirs, err
}

// unixConn takes the file over.
func unixConn(f *os.File) (*net.UnixConn, error) {
	defer f.Close() // FileConn works on a copy
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return nil, fmt.Errorf("%s is no unix socket", f.Name())
	}
	return u, nil
}

// serveWayOut waits for the sandbox's way out and serves it, outside, until the context ends.
func serveWayOut(ctx context.Context, sandbox *net.UnixConn, log *slog.Logger) error {
	defer func() { _ = sandbox.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = sandbox.Close() })
	defer stop()
	_, socket, err := handover.Receive(sandbox)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("receive the way out: %w", err)
	case socket == nil: // the sandbox ended, or has none
		<-ctx.Done()
		return nil
	}
	return egress.Forward(ctx, socket, egress.Config{
		MTU: podnet.WayOutMTU, Near: podnet.NearMAC, World: podnet.WorldMAC, Log: log,
		Inside: []netip.Prefix{podnet.Subnet, podnet.ServiceRange, podnet.WayOut},
	})
}

// openWayOut makes the sandbox's way out and hands it over.
func openWayOut() error {
	unix.CloseOnExec(outsideFD)
	outside, err := unixConn(os.NewFile(outsideFD, "outside"))
	if err != nil {
		return fmt.Errorf("hand the way out over: %w", err)
	}
	defer func() { _ = outside.Close() }()
	socket, err := podnet.OpenWayOut()
	if err != nil {
		return err
	}
	defer socket.Close()
	if err := handover.Send(outside, []byte("way out"), int(socket.Fd())); err != nil {
		return fmt.Errorf("hand the way out over: %w", err)
	}
	return nil
}
