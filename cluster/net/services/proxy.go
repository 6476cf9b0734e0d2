package services

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// Proxy listens on the addresses of Services and carries what comes to their
// endpoints: kube-proxy's part, without the kernel's help. A Service is listened
// for only while it has an endpoint, so that others refuse connections at once.
type Proxy struct {
	Directory *Directory
	NodeIP    netip.Addr                // where node ports are
	OnNode    func(func() error) error  // calls a function in the network that has NodeIP
	Via       map[netip.AddrPort]string // endpoints that are reached by a unix socket
	Log       *slog.Logger
}

// front is an address that is listened on, for a port of a Service.
type front struct {
	protocol corev1.Protocol
	addr     netip.AddrPort
}

// backing is what stands behind it.
type backing struct {
	service Key
	port    PortKey
}

// Run keeps the listeners as the directory has them until the context ends, and
// then ends every connection. Connections outlive their Service.
func (p *Proxy) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	open := map[front]*listener{}
	defer func() {
		for _, l := range open {
			l.close()
		}
	}()
	failed := map[front]backing{} // said once
	for {
		wanted := p.wanted()
		for f, l := range open {
			if wanted[f] != l.to {
				l.close()
				delete(open, f)
			}
		}
		for f, to := range wanted {
			if open[f] != nil {
				continue
			}
			l, err := p.listen(ctx, f, to, &work)
			if err == nil {
				open[f] = l
				delete(failed, f)
			} else if failed[f] != to {
				failed[f] = to
				p.Log.Warn("a Service is not served", "service", to.service, "address", f.addr, "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.Directory.changed:
		}
	}
}

// wanted are the addresses to be listened on.
func (p *Proxy) wanted() map[front]backing {
	all := map[front]backing{}
	for _, s := range p.Directory.addressed() {
		endpoints := p.Directory.Endpoints(s.Key)
		for _, port := range s.Ports {
			to := backing{s.Key, PortKey{port.Name, port.Protocol}}
			if !serves(endpoints, to.port) {
				continue
			}
			all[front{port.Protocol, netip.AddrPortFrom(s.ClusterIP, port.Port)}] = to
			if port.NodePort != 0 {
				all[front{port.Protocol, netip.AddrPortFrom(p.NodeIP, port.NodePort)}] = to
			}
		}
	}
	return all
}

func serves(endpoints []Endpoint, port PortKey) bool {
	for _, e := range endpoints {
		if _, ok := e.Ports[port]; ok {
			return true
		}
	}
	return false
}
