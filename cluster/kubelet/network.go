package kubelet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/podnet"
)

// startNetwork gives the pod its namespaces with their holder, its address and its names.
func (p *pod) startNetwork() error {
	hostname, err := kernelHostname(p.obj)
	if err != nil {
		return err
	}
	if !p.obj.Spec.HostNetwork {
		if err := p.moveIn(hostname); err != nil {
			return err
		}
		return p.writeEtc()
	}
	p.addr = podnet.Gateway
	if err := makeFolders(p.dir); err != nil {
		return err
	}
	if err := p.writeEtc(); err != nil {
		return err
	}
	if p.holder, err = startHolder(p.k, p.dir, hostname, false); err != nil {
		return err
	}
	p.event(corev1.EventTypeNormal, "SharedNetwork", "hostNetwork means the network that the node's pods with hostNetwork share, with the address %s; "+
		"it is not the machine's own", p.addr)
	return nil
}
