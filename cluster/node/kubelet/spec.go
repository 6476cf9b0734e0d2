package kubelet

import (
	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/spec"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// spec describes the container to argosy-podinit.
func (m member) spec() (*container.Spec, error) {
	p := m.p
	env, err := m.environment()
	if err != nil {
		return nil, err
	}
	described := spec.Container{
		Node: &p.k.spec, Pod: p.obj, Of: m.c, Dir: p.dir, Addr: p.addr, GPUs: p.gpus, Step: p.argo, Image: m.image(),
		Environment: env, Volumes: p.volumeSet(), Folders: p.volumes, Warn: p.events.WarnOnce,
	}
	return described.Spec()
}

// environment returns the environment of the container.
func (m member) environment() (environment.Variables, error) {
	p, c := m.p, m.c
	var image []string
	if img := m.image(); img != nil {
		image = img.Config.Env
	}
	devices := map[string]string{}
	if len(p.room().Node.GPUs) > 0 {
		admission.ShowGPUs(admission.GPUsOf(p.obj, p.gpus, c), devices)
	}
	from := environment.Source{Pod: p.obj, Objects: p.objects(), Fields: p.fields(), Services: p.k.services, Warn: p.events.WarnOnce}
	return from.Of(p.starting, c, image, devices)
}
