package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/podholder"
	"github.com/argosy-ml/argosy/cluster/podnet"
)

// startNetwork starts the holder of the pod's namespaces and gives the pod its address and names.
func (p *pod) startNetwork() error {
	host := p.obj.Spec.HostNetwork
	hostname, err := kernelHostname(p.obj)
	if err != nil {
		return err
	}
	p.addr = podnet.Gateway
	if !host {
		addr, err := p.k.addresses.Take()
		if err != nil {
			return err
		}
		p.addr = addr
	}
	if err := p.writeEtc(); err != nil {
		return err
	}
	holder, err := podholder.Start(p.k.helper("argosy-podinit"), p.dir, hostname, !host)
	if err != nil {
		return fmt.Errorf("start the pod's holder: %w", err)
	}
	p.holder = holder
	if host {
		p.event(corev1.EventTypeNormal, "SharedNetwork", "hostNetwork means the network that the node's pods with hostNetwork share, with the address %s; "+
			"it is not the machine's own", p.addr)
		return nil
	}
	ns, err := holder.Namespace("net")
	if err != nil {
		return err
	}
	defer ns.Close()
	return podnet.Attach(ns, p.addr)
}
