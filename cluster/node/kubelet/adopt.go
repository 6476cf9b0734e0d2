package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/etc"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/leftovers"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podrecord"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/process"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/retry"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

const lostMessage = "The node was stopped, or the pod's holder ended, while the pod was running; its processes are gone."

// remember changes the pod's record and writes it down.
func (p *pod) remember(change func(*podrecord.Record)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.record)
	return p.record.Write(p.dir)
}

// cleanUp looks at what earlier kubelets left. Pods that exist and have not
// ended are kept, to be taken over when they are seen; of those that have ended
// the logs are kept; of those that exist no more nothing is.
func (k *Kubelet) cleanUp(ctx context.Context) error {
	var list *corev1.PodList
	err := retry.Do(ctx, func() (err error) {
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
	return k.sandboxes.Clear(mounts)
}

// sortOut decides what to do with the pod that earlier kubelets left: to adopt it or to clear it away. Its object is nil if it no longer
// exists.
func (k *Kubelet) sortOut(uid types.UID, obj *corev1.Pod, mounts []container.MountPoint) error {
	dir := k.podDir(uid)
	r, err := podrecord.Read(dir)
	switch {
	case obj == nil:
		return errors.Join(k.endLeftover(uid, mounts), os.RemoveAll(dir))
	case err == nil && !r.Over && !podspec.Finished(obj):
		k.left[uid] = r
		k.addresses.Hold(r.Addr)
		return k.holdShare(obj)
	}
	// It ended, or its setup never finished: then no container has started, and the pod can start from the beginning.
	k.over[uid] = podspec.Finished(obj) || err == nil && r.Over
	return errors.Join(k.endLeftover(uid, mounts), leftovers.ClearFolder(dir))
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
			room.Leave(uid)
		}
		delete(k.left, uid)
	}
	return nil
}

// endLeftover ends what runs of a pod that is not taken over, if anything does.
func (k *Kubelet) endLeftover(uid types.UID, mounts []container.MountPoint) error {
	if h, err := shim.Find(k.podDir(uid)); err == nil {
		h.Kill()
	}
	k.limits.Forget(uid)
	return sandbox.UnmountBelow(k.podDir(uid), mounts)
}

// unbegun says whether an earlier kubelet took the pod on, but started no container.
func (k *Kubelet) unbegun(uid types.UID) bool {
	if _, err := os.Stat(k.podDir(uid)); err != nil {
		return false
	}
	logs, err := fs.Glob(os.DirFS(k.podDir(uid)), shim.LogFolder+"/*/*")
	return err == nil && len(logs) == 0
}

// adoptPod goes on with a pod that an earlier kubelet started. The kubelet's lock is held.
func adoptPod(k *Kubelet, obj *corev1.Pod, r podrecord.Record) *pod {
	var err error
	p := newPod(k, obj)
	p.record, p.addr, p.volumes, p.adopted = r, r.Addr, r.Volumes, true
	p.reason, p.message = r.Reason, r.Message
	// What was reported stays true until there is news.
	if len(obj.Status.ContainerStatuses) == len(obj.Spec.Containers) && len(obj.Status.InitContainerStatuses) == len(obj.Spec.InitContainers) {
		p.status.Change(func(s *corev1.PodStatus) { *s = *obj.Status.DeepCopy() })
	}
	if p.gpus, err = admission.ReadGPUs(p.dir); err != nil {
		p.log.Warn("pod's GPUs not known", "err", err)
	}
	k.work.Go(p.live)
	return p
}

// takeOver finds what the earlier kubelet set up. Without a holder the pod is
// lost, unless all its containers had ended before.
func (p *pod) takeOver() {
	holder, err := shim.Find(p.dir)
	if err != nil {
		p.log.Info("pod has no holder any more", "err", err)
	} else if hostname, err := etc.KernelHostname(p.obj); err == nil { // or the pod would not have begun
		holder.Name(hostname) // the earlier kubelet may not have come to its first container
	}
	p.holder = holder
	p.status.Update(p.began)
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
	podstatus.SetCondition(s, corev1.PodReadyToStartContainers, corev1.ConditionTrue, "")
}

// latestLife is the number of the container's latest life, 0 where it has none yet.
func (m member) latestLife() int32 {
	if !m.p.adopted {
		return 0
	}
	lives, err := podlog.Lives(m.life(0).Folder)
	if err != nil {
		m.p.log.Warn("log not read", "container", m.c.Name, "err", err)
	}
	if len(lives) == 0 {
		return 0
	}
	return int32(lives[len(lives)-1])
}

// wasRunning says whether an earlier kubelet had started any of the pod's main containers.
func (p *pod) wasRunning() bool {
	return p.adopted && slices.ContainsFunc(p.obj.Spec.Containers, func(c corev1.Container) bool {
		lives, err := podlog.Lives(p.path(shim.LogFolder, c.Name))
		return err == nil && len(lives) > 0
	})
}

// rejoin finds a life of the container that an earlier kubelet started: it still
// runs, or it has ended. Both are nil for a life that was not begun.
func (m member) rejoin(restarts int32) (*process.Process, *podlog.Exit) {
	p, c := m.p, m.c
	if !p.adopted {
		return nil, nil
	}
	life := m.life(restarts)
	if exit, err := life.ReadExit(); err == nil {
		return nil, &exit
	}
	if segments, err := life.Segments(); err == nil && len(segments) == 0 {
		return nil, nil
	}
	if p.holder != nil {
		run, err := p.holder.Watch(c.Name, int(restarts))
		if err == nil {
			proc := m.attend(restarts, run, func() {}) // its groups go with the pod
			if p.isEnding() {
				// The process that ended the pod may have missed this container.
				if err := proc.Signal(proc.Polite, false); err != nil {
					p.log.Warn("container not told to stop", "container", c.Name, "err", err)
				}
			}
			return proc, nil
		}
		p.log.Warn("container not found again", "container", c.Name, "err", err)
	}
	exit := process.Lost(time.Time{})
	return nil, &exit
}

// lost records that a container ended unseen, and fails the pod.
func (m member) lost(restarts int32, exit podlog.Exit) {
	p := m.p
	if err := m.life(restarts).WriteExit(exit); err != nil {
		p.log.Warn("end of a container not written down", "container", m.c.Name, "err", err)
	}
	p.abandon()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" {
		p.reason, p.message = "NodeLost", lostMessage
	}
}
