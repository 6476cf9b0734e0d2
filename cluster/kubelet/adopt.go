package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/podholder"
	"github.com/argosy-ml/argosy/cluster/podlog"
)

// recordFile is what a kubelet leaves in a pod's folder for the next one. What
// became of the containers, their holder tells and package podlog has.
const recordFile = "pod.json"

// podRecord says what the pod was given. It is written when the pod is set up, before any container is started.
type podRecord struct {
	Addr    netip.Addr
	Began   time.Time
	Volumes map[string]string      // folder of each
	Images  map[string]imageRecord `json:",omitempty"` // of the containers that are not made of this machine's files
	Reason  string                 `json:",omitempty"` // why it is made to fail, once that is decided
	Message string                 `json:",omitempty"`
	Over    bool                   `json:",omitempty"` // its end was reported
}

const lostMessage = "The node was stopped, or the pod's holder ended, while the pod was running; its processes are gone."

func readRecord(dir string) (podRecord, error) {
	var r podRecord
	b, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}

// remember changes the pod's record and writes it down.
func (p *pod) remember(change func(*podRecord)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.record)
	b, err := json.Marshal(p.record)
	if err != nil {
		return err
	}
	return replaceFile(p.path(recordFile), b, 0o600)
}

// cleanUp looks at what earlier kubelets left. Pods that exist and have not
// ended are kept, to be taken over when they are seen; of those that have ended
// the logs are kept; of those that exist no more nothing is.
func (k *Kubelet) cleanUp(ctx context.Context) error {
	var list *corev1.PodList
	err := retry(ctx, func() (err error) {
		list, err = k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: bound.String()})
		return err
	})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	exists := map[types.UID]*corev1.Pod{}
	for i := range list.Items {
		exists[list.Items[i].UID] = &list.Items[i]
	}
	folders, err := os.ReadDir(k.podsDir())
	if err != nil {
		return err
	}
	mounts, err := container.MountPoints()
	if err != nil {
		return err
	}
	for _, f := range folders {
		uid := types.UID(f.Name())
		k.complain(uid, k.sortOut(uid, exists[uid], mounts))
	}
	return k.clearBerths(mounts)
}

// sortOut decides what becomes of what earlier kubelets left of a pod, whose object is nil where it exists no more.
func (k *Kubelet) sortOut(uid types.UID, obj *corev1.Pod, mounts []container.MountPoint) error {
	dir := k.podDir(uid)
	r, err := readRecord(dir)
	switch {
	case obj == nil:
		return errors.Join(k.endLeftover(uid, mounts), os.RemoveAll(dir))
	case err == nil && !r.Over && !finished(obj):
		k.left[uid] = r
		k.addresses.Hold(r.Addr)
		return k.holdShare(obj)
	}
	// Ended, or never set up: then no container was started and it can begin anew.
	k.over[uid] = finished(obj) || err == nil && r.Over
	return errors.Join(k.endLeftover(uid, mounts), clearFolder(dir))
}

// complain tells what is wrong with what was left of a pod. It does not keep the others waiting.
func (k *Kubelet) complain(uid types.UID, err error) {
	if err != nil {
		k.log.Warn("what is left of a pod", "uid", uid, "err", err)
	}
}

// endUnseen ends the pods that were there when cleanUp looked, and not any more when the watch began, and those of nodes that
// this kubelet does not have.
func (k *Kubelet) endUnseen() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.left) == 0 {
		return nil
	}
	mounts, err := container.MountPoints()
	if err != nil {
		return err
	}
	for uid, r := range k.left {
		k.complain(uid, errors.Join(k.endLeftover(uid, mounts), os.RemoveAll(k.podDir(uid))))
		k.addresses.Give(r.Addr)
		for _, room := range k.rooms {
			room.leave(uid)
		}
		delete(k.left, uid)
	}
	return nil
}

// endLeftover ends what runs of a pod that is not taken over, if anything does.
func (k *Kubelet) endLeftover(uid types.UID, mounts []container.MountPoint) error {
	if h, err := podholder.Find(k.podDir(uid)); err == nil {
		h.Kill()
	}
	k.limits.forget(uid)
	return unmountBelow(k.podDir(uid), mounts)
}

// unbegun says whether an earlier kubelet took the pod on, but started no container.
func (k *Kubelet) unbegun(uid types.UID) bool {
	if _, err := os.Stat(k.podDir(uid)); err != nil {
		return false
	}
	logs, err := fs.Glob(os.DirFS(k.podDir(uid)), podholder.LogFolder+"/*/*")
	return err == nil && len(logs) == 0
}

// unmountBelow unmounts what an earlier kubelet mounted in a folder.
func unmountBelow(dir string, mounts []container.MountPoint) error {
	var errs []error
	for _, m := range slices.Backward(mounts) {
		if strings.HasPrefix(m.Path, dir+"/") {
			if err := unix.Unmount(m.Path, unix.MNT_DETACH); err != nil {
				errs = append(errs, fmt.Errorf("unmount %s: %w", m.Path, err))
			}
		}
	}
	return errors.Join(errs...)
}

// clearFolder removes everything of a pod but its logs and its record.
func clearFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // it was refused
		return nil
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != podholder.LogFolder && e.Name() != recordFile {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(append(errs, err)...)
}

// adoptPod goes on with a pod that an earlier kubelet started. The kubelet's lock is held.
func adoptPod(k *Kubelet, obj *corev1.Pod, r podRecord) *pod {
	var err error
	p := newPod(k, obj)
	p.record, p.addr, p.volumes, p.adopted = r, r.Addr, r.Volumes, true
	p.reason, p.message = r.Reason, r.Message
	// What was reported stays true until there is news.
	if len(obj.Status.ContainerStatuses) == len(obj.Spec.Containers) && len(obj.Status.InitContainerStatuses) == len(obj.Spec.InitContainers) {
		p.status = *obj.Status.DeepCopy()
	}
	if p.gpus, err = readGPUs(p.dir); err != nil {
		p.log.Warn("pod's GPUs not known", "err", err)
	}
	k.work.Go(p.live)
	return p
}

// takeOver finds what the earlier kubelet set up. Without a holder the pod is
// lost, unless all its containers had ended before.
func (p *pod) takeOver() {
	holder, err := podholder.Find(p.dir)
	if err != nil {
		p.log.Info("pod has no holder any more", "err", err)
	} else if hostname, err := kernelHostname(p.obj); err == nil { // or the pod would not have begun
		holder.Name(hostname) // the earlier kubelet may not have come to its first container
	}
	p.holder = holder
	p.update(p.began)
}

func (p *pod) holderGone() bool {
	if p.holder == nil {
		return true
	}
	select {
	case <-p.holder.Gone():
		return true
	default:
		return false
	}
}

// began marks the status of a pod that was set up.
func (p *pod) began(s *corev1.PodStatus) {
	began := metav1.NewTime(p.record.Began)
	s.StartTime = &began
	s.PodIP, s.PodIPs = p.addr.String(), []corev1.PodIP{{IP: p.addr.String()}}
	setCondition(s, corev1.PodReadyToStartContainers, corev1.ConditionTrue, "")
}

// latestLife is the number of a container's latest life, 0 where it has none yet.
func (p *pod) latestLife(c *corev1.Container) int32 {
	if !p.adopted {
		return 0
	}
	lives, err := podlog.Lives(p.life(c.Name, 0).Folder)
	if err != nil {
		p.log.Warn("log not read", "container", c.Name, "err", err)
	}
	if len(lives) == 0 {
		return 0
	}
	return int32(lives[len(lives)-1])
}

// wasRunning says whether an earlier kubelet had started any of the pod's main containers.
func (p *pod) wasRunning() bool {
	return p.adopted && slices.ContainsFunc(p.obj.Spec.Containers, func(c corev1.Container) bool {
		lives, err := podlog.Lives(p.life(c.Name, 0).Folder)
		return err == nil && len(lives) > 0
	})
}

// rejoin finds a life of a container that an earlier kubelet started: it still
// runs, or it has ended. Both are nil for a life that was not begun.
func (p *pod) rejoin(c *corev1.Container, restarts int32) (*process, *podlog.Exit) {
	if !p.adopted {
		return nil, nil
	}
	life := p.life(c.Name, restarts)
	if exit, err := life.ReadExit(); err == nil {
		return nil, &exit
	}
	if segments, err := life.Segments(); err == nil && len(segments) == 0 {
		return nil, nil
	}
	if p.holder != nil {
		run, err := p.holder.Watch(c.Name, int(restarts))
		if err == nil {
			proc := p.attend(c, restarts, run, func() {}) // its groups go with the pod
			if p.isEnding() {
				// Whoever ended the pod may not have found it.
				if err := proc.signal(proc.polite, false); err != nil {
					p.log.Warn("container not told to stop", "container", c.Name, "err", err)
				}
			}
			return proc, nil
		}
		p.log.Warn("container not found again", "container", c.Name, "err", err)
	}
	exit := lostExit(time.Time{})
	return nil, &exit
}

func lostExit(started time.Time) podlog.Exit {
	return podlog.Exit{Code: 137, Started: started, Finished: time.Now(), Lost: true}
}

// lost writes down that nobody saw a container end, and fails the pod.
func (p *pod) lost(c *corev1.Container, restarts int32, exit podlog.Exit) {
	if err := p.life(c.Name, restarts).WriteExit(exit); err != nil {
		p.log.Warn("end of a container not written down", "container", c.Name, "err", err)
	}
	p.abandon()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" {
		p.reason, p.message = "NodeLost", lostMessage
	}
}
