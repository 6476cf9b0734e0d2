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
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/net/descriptor"
	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/net/uplink"
	"github.com/argosy-ml/argosy/cluster/runtime/idmap"
)

const (
	socketFD = 3 // of uplink: the packets
	// uplinkIdle is how long nothing leaves the sandbox before the process for it ends.
	uplinkIdle = 5 * time.Minute
)

// socketPair makes the connection over which the sandbox hands its uplink to the node.
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
		return nil, fmt.Errorf("%s is not a unix socket", f.Name())
	}
	return u, nil
}

// serveUplink waits for the sandbox's uplink and serves it, outside, until the context ends.
func serveUplink(ctx context.Context, o options, sandbox *net.UnixConn, log *slog.Logger) error {
	defer func() { _ = sandbox.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = sandbox.Close() })
	defer stop()
	_, socket, err := descriptor.Receive(sandbox)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("receive the uplink: %w", err)
	case socket == nil: // the sandbox ended, or has none
		<-ctx.Done()
		return nil
	}
	defer socket.Close()
	for {
		if err := uplink.Await(ctx, socket); err != nil || ctx.Err() != nil {
			return err
		}
		if err := runUplink(ctx, o, socket); err != nil && ctx.Err() == nil {
			log.Warn("the uplink is lost, with all connections that went through it, and opened again", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

// runUplink serves the uplink in a process of its own until that is idle or the context ends.
func runUplink(ctx context.Context, o options, socket *os.File) error {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = o.args("uplink")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{socket}
	if idmap.Needed() { // it reads what pods send, and needs no rights for that
		ids, err := idmap.Take(home.Home(o.home))
		if err != nil {
			return err
		}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: ids.Nobody()}
	}
	lifeline, err := cmd.StdinPipe() // ends with this process, however that ends
	if err != nil {
		return err
	}
	cmd.Cancel = lifeline.Close
	cmd.WaitDelay = 2 * time.Second
	return cmd.Run()
}

// uplinkCommand is the process that pods' connections to the outside go through.
func uplinkCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "uplink",
		Short:  "Connect pods to the host's network",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() { // ends with the process
				_, _ = io.Copy(io.Discard, os.Stdin)
				cancel()
			}()
			return uplink.Forward(ctx, os.NewFile(socketFD, "uplink"), uplink.Config{
				MTU: podnet.UplinkMTU, Near: podnet.NearMAC, World: podnet.WorldMAC, Idle: uplinkIdle, Log: logger("uplink"),
				Inside: []netip.Prefix{podnet.Subnet, podnet.ServiceRange, podnet.Uplink},
			})
		},
	}
}

// openUplink makes the sandbox's uplink and hands it over.
func openUplink() error {
	unix.CloseOnExec(outsideFD)
	outside, err := unixConn(os.NewFile(outsideFD, "outside"))
	if err != nil {
		return fmt.Errorf("hand the uplink over: %w", err)
	}
	defer func() { _ = outside.Close() }()
	socket, err := podnet.OpenUplink()
	if err != nil {
		return err
	}
	defer socket.Close()
	if err := descriptor.Send(outside, []byte("uplink"), int(socket.Fd())); err != nil {
		return fmt.Errorf("hand the uplink over: %w", err)
	}
	return nil
}
