package services

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ptr[T any](v T) *T { return &v }

// lastAddress makes Service addresses for these tests, all of them on this machine's loopback.
var lastAddress atomic.Uint32

func serviceOf(name string, change ...func(*corev1.ServiceSpec)) *corev1.Service {
	n := lastAddress.Add(1)
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	s.Spec.ClusterIP = fmt.Sprintf("127.96.%d.%d", n>>8, n&255)
	s.Spec.Ports = []corev1.ServicePort{{Name: "tcp", Protocol: corev1.ProtocolTCP, Port: 8080}, {Name: "udp", Protocol: corev1.ProtocolUDP, Port: 8080}}
	for _, f := range change {
		f(&s.Spec)
	}
	return s
}

// sliceOf puts endpoints behind a Service, all of the same ports.
func sliceOf(name, service string, port int, addresses ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}}}
	for _, p := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
		s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: ptr(strings.ToLower(string(p))), Protocol: ptr(p), Port: ptr(int32(port))})
	}
	for _, a := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}})
	}
	return s
}

// backends answer on TCP and UDP with their names and what they were sent, on 127.0.0.1, 127.0.0.2 and so on, all at the same port.
func backends(t *testing.T, names ...string) (port int) {
	t.Helper()
	streams, packets := listenAll(t, len(names))
	for i, name := range names {
		answer(t, streams[i], packets[i], name)
	}
	return streams[0].Addr().(*net.TCPAddr).Port
}

// listenAll finds a port that is free everywhere: others may have it for packets, or on another address.
func listenAll(t *testing.T, n int) (streams []net.Listener, packets []net.PacketConn) {
	t.Helper()
	for {
		streams, packets = nil, nil
		var err error
		port := 0
		for i := 0; i < n && err == nil; i++ {
			var l net.Listener
			if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.%d:%d", i+1, port)); err != nil {
				break
			}
			streams, port = append(streams, l), l.Addr().(*net.TCPAddr).Port
			var p net.PacketConn
			if p, err = net.ListenPacket("udp", l.Addr().String()); err == nil {
				packets = append(packets, p)
			}
		}
		if err == nil {
			return streams, packets
		}
		require.ErrorIs(t, err, unix.EADDRINUSE)
		for _, l := range streams {
			require.NoError(t, l.Close())
		}
		for _, p := range packets {
			require.NoError(t, p.Close())
		}
	}
}

// answer serves one of the backends until the test ends.
func answer(t *testing.T, l net.Listener, packets net.PacketConn, name string) {
	t.Helper()
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer c.Close()
				_, _ = io.WriteString(c, name+" ")
				_, _ = io.Copy(c, c)
			})
		}
	})
	work.Go(func() {
		buf := make([]byte, maxPacket)
		for {
			n, from, err := packets.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(append([]byte(name+" "), buf[:n]...), from)
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		_ = packets.Close()
		work.Wait()
	})
}

// serve runs a proxy until the test ends.
func serve(t *testing.T, d *Directory, change ...func(*Proxy)) {
	t.Helper()
	p := &Proxy{Directory: d, NodeIP: netip.MustParseAddr("127.97.0.1"), OnNode: func(listen func() error) error { return listen() }, Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(p)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// ask sends a line and returns the answer to it.
func ask(network, addr, from string) (string, error) {
	d := net.Dialer{Timeout: 5 * time.Minute}
	if from != "" && network == "tcp" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	c, err := d.Dial(network, addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	if _, err := io.WriteString(c, "hello\n"); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line), err
}

// eventually waits until the proxy has taken a change in, for which it has no signal.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for !f() {
		require.True(t, time.Now().Before(deadline), "not in time: %s", what)
		time.Sleep(time.Millisecond)
	}
}

func refused(addr string) func() bool {
	return func() bool {
		_, err := ask("tcp", addr, "")
		return errors.Is(err, unix.ECONNREFUSED)
	}
}

func TestConnectionsAndPacketsReachEveryEndpoint(t *testing.T) {
	t.Parallel()
	port := backends(t, "one", "two")
	s := serviceOf("web", func(s *corev1.ServiceSpec) { s.Ports[0].NodePort = 30080 })
	serve(t, Known([]*corev1.Service{s}, []*discoveryv1.EndpointSlice{sliceOf("a", "web", port, "127.0.0.1"), sliceOf("b", "web", port, "127.0.0.2")}))
	address := s.Spec.ClusterIP + ":8080"
	for network, addr := range map[string]string{"tcp": address, "udp": address, "tcp4": "127.97.0.1:30080"} {
		eventually(t, "it listens", func() bool { // on one address after the other
			_, err := ask(network, addr, "")
			return !errors.Is(err, unix.ECONNREFUSED)
		})
		seen := map[string]int{}
		for len(seen) < 2 { // that it never comes is as likely as a coin that always falls on one side
			answer, err := ask(network, addr, "")
			require.NoError(t, err, network)
			seen[answer]++
		}
		require.Contains(t, seen, "one hello")
		require.Contains(t, seen, "two hello")
	}
}

func TestClientsKeepTheirEndpointIfTheServiceWantsIt(t *testing.T) {
	t.Parallel()
	port := backends(t, "one", "two")
	s := serviceOf("sticky", func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP })
	serve(t, Known([]*corev1.Service{s}, []*discoveryv1.EndpointSlice{sliceOf("a", "sticky", port, "127.0.0.1", "127.0.0.2")}))
	address := s.Spec.ClusterIP + ":8080"
	eventually(t, "it listens", func() bool { return !refused(address)() })
	first := map[string]string{}
	for range 10 {
		for i := range 8 {
			client := fmt.Sprintf("127.0.1.%d", i+1)
			answer, err := ask("tcp", address, client)
			require.NoError(t, err)
			if first[client] == "" {
				first[client] = answer
			}
			require.Equal(t, first[client], answer, client)
		}
	}
	b := balancer{directory: Known([]*corev1.Service{s}, []*discoveryv1.EndpointSlice{sliceOf("a", "sticky", 1, "127.0.0.1", "127.0.0.2", "127.0.0.3")}), to: backing{Key{"ns", "sticky"}, PortKey{"tcp", corev1.ProtocolTCP}}}
	client, now := netip.MustParseAddr("127.0.1.1"), time.Now()
	b.chosen(client, netip.MustParseAddrPort("127.0.0.2:1"), now)
	for range 50 {
		require.Equal(t, "127.0.0.2:1", b.endpoints(client, now.Add(3*time.Hour-time.Second))[0].String())
	}
	b.chosen(netip.MustParseAddr("127.0.1.2"), netip.MustParseAddrPort("127.0.0.1:1"), now.Add(3*time.Hour))
	require.NotContains(t, b.sticky, client, "three hours are over")
}

func TestAnEndpointThatRefusesIsPassedOver(t *testing.T) {
	t.Parallel()
	port := backends(t, "one")
	s := serviceOf("half")
	serve(t, Known([]*corev1.Service{s}, []*discoveryv1.EndpointSlice{sliceOf("a", "half", port, "127.0.0.1", "127.0.0.3", "127.0.0.4")}))
	address := s.Spec.ClusterIP + ":8080"
	eventually(t, "it listens", func() bool { return !refused(address)() })
	for range 10 {
		answer, err := ask("tcp", address, "")
		require.NoError(t, err)
		require.Equal(t, "one hello", answer)
	}
}

func TestServicesComeAndGo(t *testing.T) {
	t.Parallel()
	port := backends(t, "one")
	d := Known(nil, nil)
	serve(t, d)
	s := serviceOf("web")
	address := s.Spec.ClusterIP + ":8080"
	d.takeService(s)
	eventually(t, "without endpoints it refuses", refused(address))
	d.takeSlice(sliceOf("a", "web", port, "127.0.0.1"))
	eventually(t, "with an endpoint it answers", func() bool {
		answer, err := ask("tcp", address, "")
		return err == nil && answer == "one hello"
	})
	old, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer old.Close()
	lines := bufio.NewReader(old)
	_, err = io.WriteString(old, "first\n")
	require.NoError(t, err)
	_, err = lines.ReadString('\n')
	require.NoError(t, err)

	d.removeSlice(Key{"ns", "a"})
	eventually(t, "its endpoint is gone", refused(address))
	d.takeSlice(sliceOf("a", "web", port, "127.0.0.1"))
	eventually(t, "it is back", func() bool { return !refused(address)() })
	d.removeService(Key{"ns", "web"})
	eventually(t, "the Service is gone", refused(address))
	_, err = io.WriteString(old, "second\n")
	require.NoError(t, err)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "second\n", line, "an open connection stays")
}

func TestSomeEndpointsAreSockets(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.WriteString(c, "from the socket\n")
			_ = c.Close()
		}
		served <- err
	}()
	s := serviceOf("kubernetes")
	serve(t, Known([]*corev1.Service{s}, []*discoveryv1.EndpointSlice{sliceOf("a", "kubernetes", 1, "127.0.0.9")}), func(p *Proxy) {
		p.Via = map[netip.AddrPort]string{netip.MustParseAddrPort("127.0.0.9:1"): socket}
	})
	var c net.Conn
	eventually(t, "it listens", func() bool {
		c, err = net.Dial("tcp", s.Spec.ClusterIP+":8080")
		return err == nil
	})
	defer c.Close()
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "from the socket\n", string(answer))
	require.NoError(t, <-served)
}

func TestWhatIsNotReadyGetsNothing(t *testing.T) {
	t.Parallel()
	slice := sliceOf("a", "web", 1, "127.0.0.1", "127.0.0.2", "127.0.0.3")
	slice.Endpoints[0].Conditions.Ready = ptr(false)
	slice.Endpoints[1].Conditions.Ready = ptr(true)
	var found []string
	for _, e := range Known(nil, []*discoveryv1.EndpointSlice{slice}).Endpoints(Key{"ns", "web"}) {
		found = append(found, e.Addr.String())
	}
	require.Equal(t, []string{"127.0.0.2", "127.0.0.3"}, found)
}

// What was deleted while the watch was broken is not in the next list.
func TestAListReplacesWhatWasKnown(t *testing.T) {
	t.Parallel()
	d := newDirectory()
	all := &store[*corev1.Service]{d: d, kind: "services", set: d.takeService, remove: d.removeService}
	slices := &store[*discoveryv1.EndpointSlice]{d: d, kind: "endpointslices", set: d.takeSlice, remove: d.removeSlice}
	old, kept := serviceOf("old"), serviceOf("kept")
	require.NoError(t, all.Replace([]any{old, kept}, "1"))
	select {
	case <-d.Ready():
		t.Fatal("ready without slices")
	default:
	}
	require.NoError(t, slices.Replace([]any{sliceOf("a", "kept", 1, "127.0.0.1")}, "1"))
	<-d.Ready()
	require.NoError(t, all.Add(serviceOf("new")))
	require.NoError(t, all.Replace([]any{kept}, "2"))
	require.NoError(t, slices.Replace(nil, "2"))
	for name, want := range map[string]bool{"old": false, "new": false, "kept": true} {
		_, ok := d.Service(Key{"ns", name})
		require.Equal(t, want, ok, name)
	}
	_, ok := d.At(netip.MustParseAddr(old.Spec.ClusterIP))
	require.False(t, ok)
	require.Empty(t, d.Endpoints(Key{"ns", "kept"}))
	require.Error(t, all.Add(&corev1.Pod{}))
}
