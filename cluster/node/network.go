package node

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/net/dialer"
	"github.com/argosy-ml/argosy/cluster/net/dns"
	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/net/relay"
	"github.com/argosy-ml/argosy/cluster/net/services"
)

// relayed are the services on the gateway: port there, and name of the socket.
var relayed = map[uint16]string{443: "apiserver", 9000: "s3"}

// network is what pods find on the gateway and on the addresses of Services. It
// belongs to the sandbox's holder, not to the kubelet, which may be restarted
// while pods have connections.
type network struct {
	cancel context.CancelFunc
	names  *dns.Server
	work   sync.WaitGroup
}

func startNetwork(ctx context.Context, h home.Home, nodeNetwork *os.File, log *slog.Logger) (_ *network, err error) {
	client, err := clientConfig(h)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	n := &network{cancel: cancel}
	defer func() {
		if err != nil {
			n.stop()
		}
	}()
	directory, watched, err := services.Watch(ctx, client)
	if err != nil {
		return nil, err
	}
	n.work.Go(watched)
	via := map[netip.AddrPort]string{}
	for port, service := range relayed {
		gateway := netip.AddrPortFrom(podnet.Gateway, port)
		via[gateway] = h.Socket(service)
		if err := n.relay(ctx, gateway, h.Socket(service), log); err != nil {
			return nil, err
		}
	}
	onNode := func(listen func() error) error { return podnet.In(nodeNetwork, listen) }
	proxy := &services.Proxy{Directory: directory, NodeIP: podnet.Node, OnNode: onNode, Via: via, Log: log}
	n.work.Go(func() { proxy.Run(ctx) })
	return n, n.startNames(ctx, h, directory, log)
}

// relay joins connections to an address on the gateway to a unix socket, whose path leads out of the sandbox's network namespace.
func (n *network) relay(ctx context.Context, addr netip.AddrPort, socket string, log *slog.Logger) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr.String())
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	n.work.Go(func() {
		relay.Accept(ctx, l, log, func(ctx context.Context, c net.Conn) {
			if err := relay.Connect(ctx, c.(*net.TCPConn), "unix", socket); err != nil {
				log.Warn("relay finds no listener", "err", err)
			}
		})
	})
	return nil
}

func (n *network) startNames(ctx context.Context, h home.Home, directory *services.Directory, log *slog.Logger) error {
	var lc net.ListenConfig
	addr := netip.AddrPortFrom(podnet.Gateway, 53).String()
	packets, err := lc.ListenPacket(ctx, "udp", addr)
	if err != nil {
		return fmt.Errorf("name server: %w", err)
	}
	streams, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		_ = packets.Close()
		return fmt.Errorf("name server: %w", err)
	}
	n.names = dns.Start(packets, streams, dns.Config{
		Directory: directory, Pods: podnet.Subnet, Services: podnet.ServiceRange,
		Resolv: "/etc/resolv.conf", Dial: dialer.DialContext(h.Socket("dial")), Log: log,
	})
	return nil
}

func (n *network) stop() {
	n.cancel()
	if n.names != nil {
		n.names.Stop()
	}
	n.work.Wait()
}
