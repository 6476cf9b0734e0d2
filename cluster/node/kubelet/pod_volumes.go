package kubelet

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/argo"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/objects"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/volumes"
)

const (
	mountRetry    = time.Second
	mountPatience = 3 // attempts before an event says so; what a pod needs is often created a moment after it
)

// volumeSet is what package volumes needs of the pod.
func (p *pod) volumeSet() *volumes.Pod {
	set := &volumes.Pod{
		Node: &p.k.volumes, Obj: p.obj, Objects: p.objects(), Fields: p.fields(), Held: &p.tokens,
		Disk: p.path("volumes"), Memory: p.path(sandbox.Memory, "volumes"), Shm: p.path(sandbox.Shm),
		Played: p.argo.Plays,
	}
	if p.argo.Quiet() { // the emissary leaves a few bytes there
		set.Small = argo.Volume
	}
	return set
}

func (p *pod) objects() objects.Reader {
	return objects.Reader{Client: p.k.client, Namespace: p.obj.Namespace, CA: p.k.cfg.CA}
}

// fields are the values of the downward API.
func (p *pod) fields() environment.Fields {
	return environment.Fields{Pod: p.obj, Latest: p.latest, Addr: p.addr, Allocatable: p.room().Node.Allocatable}
}

// latest returns the pod's object as it is now.
func (p *pod) latest() *corev1.Pod {
	if o, err := p.k.pods.Pods(p.obj.Namespace).Get(p.obj.Name); err == nil && o.UID == p.obj.UID && !podspec.Finished(o) {
		return o
	}
	return p.obj
}

// mountVolumes makes the pod's volumes. It waits for objects that do not exist yet.
func (p *pod) mountVolumes() error {
	p.volumes = map[string]string{}
	told, set := false, p.volumeSet()
	for _, v := range p.obj.Spec.Volumes {
		for attempt := 1; ; attempt++ {
			folder, err := set.Mount(p.starting, v)
			if err == nil {
				p.volumes[v.Name] = folder
				break
			}
			var unsupported *podspec.UnsupportedError
			if errors.As(err, &unsupported) {
				err = fmt.Errorf("volume %s: %w", v.Name, err)
				p.events.Event(corev1.EventTypeWarning, "FailedMount", "%v", err)
				return err
			}
			if attempt%30 == mountPatience {
				message := fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", v.Name, err)
				p.events.Event(corev1.EventTypeWarning, "FailedMount", "%s", message)
				p.status.Update(func(s *corev1.PodStatus) { podstatus.ExplainWaiting(s, message) })
				told = true
			}
			delay := min(time.Duration(attempt)*50*time.Millisecond, mountRetry)
			if !p.pauseFor(delay, nil) {
				return fmt.Errorf("volume %s: %w", v.Name, err)
			}
		}
	}
	if told {
		p.status.Update(func(s *corev1.PodStatus) { podstatus.ExplainWaiting(s, "") })
	}
	return nil
}
