package kubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/etc"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
)

// startNetwork gives the pod its namespaces with their holder, its address and its names.
func (p *pod) startNetwork() error {
	hostname, err := etc.KernelHostname(p.obj)
	if err != nil {
		return err
	}
	if !p.obj.Spec.HostNetwork {
		box, err := p.k.sandboxes.Take(p.dir, p.obj.Namespace, hostname)
		p.addr, p.holder = box.Addr, box.Holder
		if err != nil {
			return err
		}
		return etc.Write(p.path(sandbox.Etc), p.obj, p.addr)
	}
	p.addr = podnet.Node
	if err := sandbox.MakeFolders(p.dir); err != nil {
		return err
	}
	if err := etc.Write(p.path(sandbox.Etc), p.obj, p.addr); err != nil {
		return err
	}
	if p.holder, err = p.k.sandboxes.StartOnNode(p.dir, hostname); err != nil {
		return err
	}
	p.events.Event(corev1.EventTypeNormal, "SharedNetwork", "hostNetwork means a network that all pods with hostNetwork share, with the address %s: "+
		"not the machine's, and not that of other pods or of the gateway", p.addr)
	return nil
}

// mayKeepSandbox says whether the next pod may have the sandbox: no process of this one could have changed its network, or still be there.
func (p *pod) mayKeepSandbox() bool {
	spec := &p.obj.Spec
	if p.adopted || p.holder == nil || p.holderGone() || p.isEnding() || p.dialed.Load() || spec.HostNetwork || podspec.IsTrue(spec.ShareProcessNamespace) ||
		spec.SecurityContext != nil && len(spec.SecurityContext.Sysctls) > 0 || len(p.ephemerals.containers()) > 0 {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		s := c.SecurityContext
		return s != nil && (podspec.IsTrue(s.Privileged) || s.Capabilities != nil && len(s.Capabilities.Add) > 0)
	})
}
