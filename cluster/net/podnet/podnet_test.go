package podnet

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressesAreNotReusedSoon(t *testing.T) {
	t.Parallel()
	p := NewAddresses()
	first, err := p.Take()
	require.NoError(t, err)
	require.Equal(t, "10.88.0.3", first.String())
	p.Give(first)
	second, err := p.Take()
	require.NoError(t, err)
	require.Equal(t, "10.88.0.4", second.String())
}

func TestAddressesAreUniqueAndRunOut(t *testing.T) {
	t.Parallel()
	p := NewAddresses()
	seen := map[netip.Addr]bool{Gateway: true, Node: true}
	for range 1<<16 - 4 { // the network's own, the gateway's, the node's and the broadcast address are not for pods
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
	p.Give(Node)
	_, err = p.Take()
	require.Error(t, err, "the addresses of the gateway and the node are never handed out")
}
