package kubelet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	pullsecrets "github.com/google/go-containerregistry/pkg/authn/kubernetes"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/container"
)

// imageWhenPossible finds the image of a container, and tries again with Kubernetes' pauses as long as it cannot be had.
// An error means that the container is not wanted any more.
func (p *pod) imageWhenPossible(c *corev1.Container, s slot) error {
	told := func(kind, reason, format string, args ...any) { p.containerEvent(c, kind, reason, format, args...) }
	backoff := firstBackoff
	for {
		u, err := p.k.images.find(p.starting, c, p.pullKeys, told)
		if err == nil {
			return p.useImage(c, u)
		}
		var failed *pullError
		if p.starting.Err() != nil || !errors.As(err, &failed) {
			return err
		}
		p.waitingForImage(c, s, failed.reason, failed.Error())
		pause := backoff
		switch failed.reason {
		case errImagePull:
			told(corev1.EventTypeWarning, "Failed", "Failed to pull image %q: %v", c.Image, err)
			told(corev1.EventTypeWarning, "Failed", "Error: %s", errImagePull)
			told(corev1.EventTypeNormal, "BackOff", "Back-off pulling image %q", c.Image)
			p.waitingForImage(c, s, imagePullBackOff, fmt.Sprintf("Back-off pulling image %q: %s: %v", c.Image, errImagePull, err))
			backoff = min(2*backoff, lastBackoff)
		default: // nothing was asked for, so it costs nothing to look again soon
			p.warnOnce(failed.reason, "Container %s: %v", c.Name, err)
			pause = configRetry
		}
		if !p.pauseFor(pause, s.stop) {
			return err
		}
	}
}

func (p *pod) waitingForImage(c *corev1.Container, s slot, reason, message string) {
	s.set(func(cs *corev1.ContainerStatus) {
		cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
	p.log.Info("no image", "container", c.Name, "image", c.Image, "reason", reason, "message", message)
}

// imageOf is what a container is made of; nil stands for this machine's files.
func (p *pod) imageOf(name string) *unpacked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.images[name]
}

// imageRecord is what the next kubelet has to know of a container's image.
type imageRecord struct {
	ID         string
	StopSignal string `json:",omitempty"`
}

// useImage remembers what a container is made of; nil stands for this machine's files.
func (p *pod) useImage(c *corev1.Container, u *unpacked) error {
	p.mu.Lock()
	p.images[c.Name] = u
	_, before := p.record.Images[c.Name]
	p.mu.Unlock()
	if u == nil && !before {
		return nil
	}
	return p.remember(func(r *podRecord) {
		r.Images = maps.Clone(r.Images) // others may be reading it
		if r.Images == nil {
			r.Images = map[string]imageRecord{}
		}
		delete(r.Images, c.Name)
		if u != nil {
			r.Images[c.Name] = imageRecord{ID: u.id(c.Image), StopSignal: u.config.StopSignal}
		}
	})
}

// stopSignal reads the signal with which an image wants to be stopped: SIGTERM where it says nothing, or nothing that is known.
func stopSignal(s string) syscall.Signal {
	if n, err := strconv.Atoi(s); err == nil && n > 0 && n < 65 {
		return syscall.Signal(n)
	}
	if s != "" && !strings.HasPrefix(s, "SIG") {
		s = "SIG" + s
	}
	return cmp.Or(unix.SignalNum(s), unix.SIGTERM)
}

// imageID is the id of what a container was made of, by this kubelet or an earlier one.
func (p *pod) imageID(container string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.record.Images[container].ID, hostID)
}

// secretLimit is how long the credentials of a pull may take to be read.
const secretLimit = 10 * time.Second

// pullKeys are the credentials of the pod, in the order in which they are to be tried, and something that is equal for
// equal credentials. Those of its service account are among its own: the apiserver put them there. After them come those
// of whoever runs the cluster.
func (p *pod) pullKeys() (keys []authn.Keychain, fingerprint string) {
	ctx, cancel := context.WithTimeout(p.starting, secretLimit)
	defer cancel()
	hash := sha256.New()
	for _, ref := range p.obj.Spec.ImagePullSecrets {
		secret, err := p.k.client.CoreV1().Secrets(p.obj.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		var key authn.Keychain
		if err == nil {
			key, err = pullsecrets.NewFromPullSecrets(ctx, []corev1.Secret{*secret})
		}
		if err != nil {
			p.warnOnce("FailedToRetrieveImagePullSecret", "Unable to use image pull secret %s, attempting to pull the image without it: %v", ref.Name, err)
			continue
		}
		fmt.Fprintf(hash, "%s/%s ", secret.UID, secret.ResourceVersion)
		keys = append(keys, key)
	}
	return append(keys, authn.DefaultKeychain), hex.EncodeToString(hash.Sum(nil))
}

// use makes a description of a container on this machine's files one of a container made of an image.
func (u *unpacked) use(spec *container.Spec, own []container.File) {
	spec.Image = &container.Image{Folder: u.folder, Layers: u.layers}
	for v := range u.config.Volumes {
		spec.Image.Folders = append(spec.Image.Folders, v)
	}
	spec.Layers, spec.Private, spec.Files, spec.Over, spec.Empty = nil, nil, own, "", nil
	if spec.Dir == "" {
		spec.Dir = u.config.WorkingDir
	}
}

// args is what a container runs when it says nothing, or only arguments, about that itself.
func (u *unpacked) args(command, args []string) []string {
	switch {
	case len(command) > 0:
		return slices.Concat(command, args)
	case len(args) > 0:
		return slices.Concat(u.config.Entrypoint, args)
	}
	return slices.Concat(u.config.Entrypoint, u.config.Cmd)
}
