package uplink

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
)

// world is an address of the machine that these tests run on, as they see it:
// in network namespaces of their own, which an ordinary user may have too.
const world = "198.51.100.1"

func TestMain(m *testing.M) {
	if slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "-test.fuzz=") || a == "-test.fuzzworker" }) {
		os.Exit(m.Run()) // its processes talk over descriptors of their own, and it needs no network
	}
	const inside = "UPLINK_TEST_INSIDE"
	if os.Getenv(inside) == "" {
		cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
		cmd.Env = append(os.Environ(), inside+"=yes")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if os.Geteuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
		}
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := makeWorld(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func makeWorld() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(world + "/25")
	if err != nil {
		return err
	}
	return errors.Join(netlink.LinkSetUp(lo), netlink.AddrAdd(lo, addr))
}

// sandbox runs f in a network namespace whose only uplink is a gateway of this process.
func sandbox(t testing.TB, f func()) {
	t.Helper()
	socket, over := enter(t, f)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		if err := Await(ctx, socket); err != nil || ctx.Err() != nil {
			served <- errors.Join(err, socket.Close())
			return
		}
		served <- Forward(ctx, socket, config(patience))
	}()
	<-over
	cancel()
	require.NoError(t, <-served)
}

// patience is what a busy machine may take for what happens at once.
const patience = 5 * time.Minute

func config(idle time.Duration) Config {
	return Config{
		connect: 2 * patience,
		MTU:     podnet.UplinkMTU, Near: podnet.NearMAC, World: podnet.WorldMAC, Idle: idle, Log: slog.New(slog.DiscardHandler),
		Inside: []netip.Prefix{netip.MustParsePrefix("198.51.100.128/25")},
	}
}

// enter runs f in a new network namespace and returns the socket of its uplink.
func enter(t testing.TB, f func()) (*os.File, <-chan struct{}) {
	t.Helper()
	sockets, failed := make(chan *os.File), make(chan error, 1)
	over := make(chan struct{})
	go func() { // its thread is never used again: it belongs to another namespace
		defer close(over)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			failed <- err
			return
		}
		socket, err := podnet.OpenUplink()
		if err != nil {
			failed <- err
			return
		}
		sockets <- socket
		f()
	}()
	select {
	case socket := <-sockets:
		return socket, over
	case err := <-failed:
		t.Fatal(err)
		return nil, nil
	}
}

func listenTCP(t testing.TB, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", addr+":0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func TestStreamsReachTheWorldAndBack(t *testing.T) {
	l := listenTCP(t, world)
	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			served <- err
			return
		}
		defer c.Close()
		all, err := io.ReadAll(c) // to the end: half a connection must be able to close
		if err == nil {
			_, err = c.Write(all)
		}
		served <- err
	}()
	sent := make([]byte, 20<<20)
	_, err := rand.Read(sent)
	require.NoError(t, err)
	var got []byte
	sandbox(t, func() {
		var c net.Conn
		if c, err = net.Dial("tcp", l.Addr().String()); err != nil {
			return
		}
		defer c.Close()
		if _, err = c.Write(sent); err == nil {
			err = c.(*net.TCPConn).CloseWrite()
		}
		if err == nil {
			got, err = io.ReadAll(c)
		}
	})
	require.NoError(t, err)
	require.NoError(t, <-served)
	require.True(t, bytes.Equal(sent, got))
}

func TestPacketsReachTheWorldAndBack(t *testing.T) {
	server, err := net.ListenPacket("udp", world+":0")
	require.NoError(t, err)
	defer func() { _ = server.Close() }()
	served := make(chan error, 1)
	go func() {
		buf := make([]byte, udpPacket)
		for range 3 {
			n, from, err := server.ReadFrom(buf)
			if err == nil {
				_, err = server.WriteTo(buf[:n], from)
			}
			if err != nil {
				served <- err
				return
			}
		}
		served <- nil
	}()
	sandbox(t, func() {
		var c net.Conn
		if c, err = net.Dial("udp", server.LocalAddr().String()); err != nil {
			return
		}
		defer c.Close()
		buf := make([]byte, udpPacket)
		for _, size := range []int{1, 1400, 60000} {
			packet := bytes.Repeat([]byte{byte(size)}, size)
			if _, err = c.Write(packet); err != nil {
				return
			}
			var n int
			if n, err = c.Read(buf); err == nil && !bytes.Equal(buf[:n], packet) {
				err = fmt.Errorf("%d bytes came back as %d others", size, n)
			}
			if err != nil {
				return
			}
		}
	})
	require.NoError(t, err)
	require.NoError(t, <-served)
}

func TestWhatIsRefusedIsRefusedAtOnce(t *testing.T) {
	free, err := net.Listen("tcp", world+":0")
	require.NoError(t, err)
	closed := free.Addr().String()
	require.NoError(t, free.Close())
	attempts := map[string]string{
		"nobody listens":       closed,
		"metadata of a cloud":  "169.254.169.254:80",
		"the cluster's own":    "198.51.100.200:80",
		"a reserved address":   "250.1.2.3:80",
		"no way from the host": "203.0.113.1:80",
	}
	results := map[string]error{}
	sandbox(t, func() {
		for name, addr := range attempts {
			c, err := net.DialTimeout("tcp", addr, patience)
			if err == nil {
				_ = c.Close()
			}
			results[name] = err
		}
	})
	for name, err := range results {
		require.True(t, errors.Is(err, unix.ECONNREFUSED), "%s: %v", name, err)
	}
}

// Frames made by hand: the kernel of the sandbox would not send these.
func TestLoopbackOfTheHostStaysItsOwn(t *testing.T) {
	t.Parallel()
	g := &gateway{inside: []netip.Prefix{podnet.Subnet}}
	for addr, want := range map[string]bool{
		"127.0.0.1": false, "127.9.9.9": false, "0.0.0.0": false, "169.254.169.254": false, "100.100.100.200": false, "168.63.129.16": false,
		"224.0.0.251": false, "255.255.255.255": false, "10.88.3.4": false, "::1": false, "::ffff:127.0.0.1": false, "2001:db8::1": false,
		"10.1.2.3": true, "192.168.1.1": true, "8.8.8.8": true, "198.51.100.1": true,
	} {
		require.Equal(t, want, g.allowed(netip.MustParseAddr(addr)), addr)
	}
}

func TestItWaitsForTheFirstPacketAndStaysForConnections(t *testing.T) {
	l := listenTCP(t, world)
	dialed, finish := make(chan error), make(chan struct{})
	socket, over := enter(t, func() {
		c, err := net.Dial("tcp", l.Addr().String())
		dialed <- err
		if err == nil {
			go func() { _, _ = io.Copy(c, c) }()
			<-finish
			_ = c.Close()
		}
	})
	require.NoError(t, Await(t.Context(), socket))
	served := make(chan error, 1)
	go func() { served <- Forward(context.Background(), socket, config(time.Hour)) }()
	c, err := l.Accept()
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, <-dialed)
	// Its time without packets is over, again and again, while the connection is open.
	for range 20 {
		idle(socket)
		_, err := c.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(c, make([]byte, 1))
		require.NoError(t, err, "it ended under an open connection")
	}
	close(finish)
	<-over
	_, err = io.Copy(io.Discard, c)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for { // until it knows that the connection is over
		idle(socket)
		select {
		case err := <-served:
			require.NoError(t, err)
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// idle has the time without packets end now.
func idle(socket *os.File) { _ = socket.SetReadDeadline(time.Unix(1, 0)) } // it may be closed

func TestItEndsWhenIdle(t *testing.T) {
	socket, over := enter(t, func() {})
	<-over
	require.NoError(t, Forward(t.Context(), socket, config(50*time.Millisecond)))
}

func TestNobodyWaitsForEver(t *testing.T) {
	socket, over := enter(t, func() {})
	<-over
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, Await(ctx, socket))
	require.NoError(t, socket.Close())
}

// What pods send is theirs to choose.
func FuzzPackets(f *testing.F) {
	f.Add([]byte{0x45, 0, 0, 20})
	f.Add(append([]byte{0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 88, 0, 2, 250, 1, 2, 3}, make([]byte, 20)...))
	f.Add(append([]byte{0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 88, 0, 2, 250, 1, 2, 3}, make([]byte, 8)...))
	ours, theirs, err := os.Pipe() // where answers go
	if err != nil {
		f.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, ours) }()
	l, err := newLink(theirs, config(time.Minute))
	if err != nil {
		f.Fatal(err)
	}
	g := &gateway{log: slog.New(slog.DiscardHandler), inside: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, link: l, flows: make(chan struct{}, 1)}
	var cancel context.CancelFunc
	g.ctx, cancel = context.WithCancel(context.Background())
	if err := g.open(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		cancel()
		g.close()
		_, _ = theirs.Close(), ours.Close()
	})
	f.Fuzz(func(_ *testing.T, packet []byte) {
		if !isPing(packet) {
			l.deliver(packet)
		}
	})
}

// BenchmarkTransfer compares what pods receive and send with the same over the machine's loopback.
func BenchmarkTransfer(b *testing.B) {
	const size = 256 << 20
	chunk := make([]byte, 1<<20)
	send := func(c net.Conn) (err error) {
		for range size / len(chunk) {
			if _, err = c.Write(chunk); err != nil {
				break
			}
		}
		return errors.Join(err, c.(*net.TCPConn).CloseWrite())
	}
	receive := func(c net.Conn) error {
		n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{c}, make([]byte, 1<<20))
		if err == nil && n != size {
			err = fmt.Errorf("%d bytes came", n)
		}
		return err
	}
	for _, direction := range []struct {
		name         string
		here, beyond func(net.Conn) error
	}{{"download", receive, send}, {"upload", send, receive}} {
		l := listenTCP(b, world)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = direction.beyond(c)
				_ = c.Close()
			}
		}()
		transfer := func() error {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return err
			}
			defer c.Close()
			if err := direction.here(c); err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, c) // the other end has taken everything
			return err
		}
		b.Run(direction.name+" by loopback", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				require.NoError(b, transfer())
			}
		})
		b.Run(direction.name+" by the uplink", func(b *testing.B) {
			b.SetBytes(size)
			var err error
			sandbox(b, func() {
				for b.Loop() && err == nil {
					err = transfer()
				}
			})
			require.NoError(b, err)
		})
	}
}
