package kubelet

import (
	"errors"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/podnet"
)

// moveIn gives the pod its berth, one that is ready if there is any.
func (p *pod) moveIn(hostname string) error {
	p.k.berths.busy.Add(1)
	defer p.k.berths.busy.Add(-1)
	if b := p.k.berths.take(p.k, p.obj.Namespace); b != nil {
		err := p.occupy(b, hostname)
		if err == nil {
			return nil
		}
		p.log.Warn("spare berth not used", "err", errors.Join(err, b.remove(p.k)))
	}
	b := &berth{dir: p.dir}
	err := b.make(p.k, hostname)
	p.addr, p.holder = b.addr, b.holder
	return err
}

// occupy makes a berth that was ready the pod's.
func (p *pod) occupy(b *berth, hostname string) error {
	b.holder.Name(hostname)
	// What is mounted in there goes along.
	if err := os.Rename(b.dir, p.dir); err != nil {
		return err
	}
	b.holder.Moved(p.dir)
	p.addr, p.holder = b.addr, b.holder
	return nil
}

// mayMoveOut says whether what the pod had is fit for another one: nothing that ran in it, or talks to it, could have changed its network
// or still be there.
func (p *pod) mayMoveOut() bool {
	spec := &p.obj.Spec
	if p.adopted || p.holder == nil || p.holderGone() || p.isEnding() || p.dialed.Load() || spec.HostNetwork || isTrue(spec.ShareProcessNamespace) ||
		spec.SecurityContext != nil && len(spec.SecurityContext.Sysctls) > 0 || len(p.ephemeralContainers()) > 0 {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		s := c.SecurityContext
		return s != nil && (isTrue(s.Privileged) || s.Capabilities != nil && len(s.Capabilities.Add) > 0)
	})
}

// moveOut leaves the pod's namespaces and their holder to the next pod of its Kubernetes namespace, with another address, other folders and
// other shared memory. To make them, and to take them down, is a good part of the cost of a short pod.
func (p *pod) moveOut() error {
	k := p.k
	b := &berth{dir: k.berths.folder(k), namespace: p.obj.Namespace}
	err := b.inherit(p)
	if err == nil && p.dialed.Load() {
		err = errors.New("somebody was about to talk to a port of the pod")
	}
	if err != nil {
		return errors.Join(err, b.remove(k))
	}
	if old := k.berths.keep(b); old != nil {
		k.discard(old)
	}
	return nil
}

// inherit makes the berth out of what the pod had. With an error there may be a part of it.
func (b *berth) inherit(p *pod) error {
	err := makeFolders(b.dir)
	if err != nil {
		return err
	}
	if b.addr, err = p.k.addresses.Take(); err != nil {
		return err
	}
	ns, err := p.holder.Namespace("net")
	if err != nil {
		return err
	}
	defer ns.Close()
	if b.holder, err = p.holder.Renew(b.dir); err != nil {
		return err
	}
	return podnet.Readdress(ns, p.addr, b.addr)
}
