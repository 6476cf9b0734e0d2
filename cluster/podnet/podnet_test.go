package podnet

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

func TestAddressesAreNotReusedSoon(t *testing.T) {
	t.Parallel()
	p := NewAddresses()
	first, err := p.Take()
	require.NoError(t, err)
	require.Equal(t, "10.88.0.2", first.String())
	p.Give(first)
	second, err := p.Take()
	require.NoError(t, err)
	require.Equal(t, "10.88.0.3", second.String())
}

func TestAddressesAreUniqueAndRunOut(t *testing.T) {
	t.Parallel()
	p := NewAddresses()
	seen := map[netip.Addr]bool{Gateway: true}
	for range 1<<16 - 3 { // the network's own, the gateway's and the broadcast address are nobody's
		a, err := p.Take()
		require.NoError(t, err)
		require.True(t, Subnet.Contains(a))
		require.False(t, seen[a], a)
		seen[a] = true
	}
	require.False(t, seen[netip.MustParseAddr("10.88.0.0")])
	require.False(t, seen[netip.MustParseAddr("10.88.255.255")])
	_, err := p.Take()
	require.ErrorContains(t, err, "no address left")
	last := netip.MustParseAddr("10.88.7.7")
	p.Give(last)
	again, err := p.Take()
	require.NoError(t, err)
	require.Equal(t, last, again)
	p.Give(Gateway)
	_, err = p.Take()
	require.Error(t, err, "the gateway's address is never handed out")
}

func TestRenderHosts(t *testing.T) {
	t.Parallel()
	launcher := Pod{Name: "job-launcher-x7", Namespace: "ns", Hostname: "job-launcher", Subdomain: "job", Addr: netip.MustParseAddr("10.88.0.4")}
	worker := Pod{Name: "job-worker-0", Namespace: "ns", Hostname: "job-worker-0", Subdomain: "job", Addr: netip.MustParseAddr("10.88.0.3")}
	step := Pod{Name: "step", Namespace: "ns", Addr: netip.MustParseAddr("10.88.0.10")}
	got := string(RenderHosts(launcher.Host(), []Host{step.Host(), worker.Host(), ServiceHost("minio-service", "kubeflow"), {}}))
	want := `127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
10.88.0.4 job-launcher.job.ns.svc.cluster.local job-launcher.job.ns.svc job-launcher.job.ns job-launcher.job job-launcher job-launcher-x7
10.88.0.1 minio-service.kubeflow.svc.cluster.local minio-service.kubeflow.svc minio-service.kubeflow
10.88.0.3 job-worker-0.job.ns.svc.cluster.local job-worker-0.job.ns.svc job-worker-0.job.ns job-worker-0.job job-worker-0
10.88.0.10 step
`
	require.Empty(t, cmp.Diff(want, got))
}

func TestSubdomainWithoutHostnameUsesThePodsName(t *testing.T) {
	t.Parallel()
	h := Pod{Name: "p", Namespace: "ns", Subdomain: "sub", Addr: Gateway}.Host()
	require.Contains(t, h.Names, "p.sub.ns.svc")
	require.Equal(t, 1, strings.Count(strings.Join(h.Names, " ")+" ", " p "))
}

func TestNoNamesAreServed(t *testing.T) {
	t.Parallel()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- ServeNoNames(server) }()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	_, err = resolver.LookupHost(t.Context(), "github.com.")
	var none *net.DNSError
	require.ErrorAs(t, err, &none)
	require.True(t, none.IsNotFound, err)
	require.NoError(t, server.Close())
	require.NoError(t, <-served)
}

func FuzzNoSuchName(f *testing.F) {
	q := dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName("a.b."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
	packed, err := q.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, question []byte) {
		answer, err := noSuchName(question)
		if err != nil {
			return
		}
		var p dnsmessage.Parser
		h, err := p.Start(answer)
		if err != nil || !h.Response || h.RCode != dnsmessage.RCodeNameError {
			t.Fatalf("%x was answered with %x", question, answer)
		}
	})
}
