package kubelet

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/images"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podrecord"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/process"
	"github.com/argosy-ml/argosy/cluster/runtime/image"
)

// imageWhenPossible finds the image of the container, and tries again with Kubernetes' pauses as long as it cannot be had.
// An error means that the container is not wanted any more.
func (m member) imageWhenPossible() error {
	p, c := m.p, m.c
	told := func(kind, reason, format string, args ...any) { p.events.Container(c, kind, reason, format, args...) }
	keys := func() ([]authn.Keychain, string) {
		return images.Keys(p.starting, p.k.client, p.obj, p.events.WarnOnce)
	}
	backoff := process.FirstBackoff
	for {
		u, err := p.k.images.Find(p.starting, c, keys, told)
		if err == nil {
			return m.useImage(u)
		}
		var failed *images.PullError
		if p.starting.Err() != nil || !errors.As(err, &failed) {
			return err
		}
		m.waitingForImage(failed.Reason, failed.Error())
		pause := backoff
		switch failed.Reason {
		case images.ErrImagePull:
			told(corev1.EventTypeWarning, "Failed", "Failed to pull image %q: %v", c.Image, err)
			told(corev1.EventTypeWarning, "Failed", "Error: %s", images.ErrImagePull)
			told(corev1.EventTypeNormal, "BackOff", "Back-off pulling image %q", c.Image)
			m.waitingForImage(images.ImagePullBackOff, fmt.Sprintf("Back-off pulling image %q: %s: %v", c.Image, images.ErrImagePull, err))
			backoff = min(2*backoff, process.LastBackoff)
		default: // nothing was asked for, so it costs nothing to look again soon
			p.events.WarnOnce(failed.Reason, "Container %s: %v", c.Name, err)
			pause = configRetry
		}
		if !p.pauseFor(pause, m.stop) {
			return err
		}
	}
}

func (m member) waitingForImage(reason, message string) {
	m.set(func(cs *corev1.ContainerStatus) {
		cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
	m.p.log.Info("no image", "container", m.c.Name, "image", m.c.Image, "reason", reason, "message", message)
}

// image is what the container is made of; nil stands for this machine's files.
func (m member) image() *images.Image {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	return m.p.images[m.c.Name]
}

// useImage remembers what the container is made of; nil stands for this machine's files.
func (m member) useImage(u *images.Image) error {
	p, c := m.p, m.c
	p.mu.Lock()
	p.images[c.Name] = u
	_, before := p.record.Images[c.Name]
	p.mu.Unlock()
	if u == nil && !before {
		return nil
	}
	return p.remember(func(r *podrecord.Record) {
		r.Images = maps.Clone(r.Images) // others may be reading it
		if r.Images == nil {
			r.Images = map[string]podrecord.Image{}
		}
		delete(r.Images, c.Name)
		if u != nil {
			r.Images[c.Name] = podrecord.Image{ID: u.ID(c.Image), StopSignal: u.Config.StopSignal}
		}
	})
}

// imageID returns the id of the image that this kubelet, or an earlier one, made the container from.
func (m member) imageID() string {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	return cmp.Or(m.p.record.Images[m.c.Name].ID, images.HostID)
}

// usesImage says whether a pod that is not over uses an image, going by what it runs and, after a restart of the
// kubelet, by what it said then.
func (k *Kubelet) usesImage(img *image.Image) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.known {
		if p.uses(img) {
			return true
		}
	}
	return false
}

func (p *pod) uses(img *image.Image) bool {
	select {
	case <-p.done:
		return false
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.images {
		if u != nil && u.Digest == img.Digest {
			return true
		}
	}
	for _, r := range p.record.Images {
		if strings.HasSuffix(r.ID, img.Digest) || strings.HasSuffix(r.ID, img.Target) {
			return true
		}
	}
	return false
}
