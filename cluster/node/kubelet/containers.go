package kubelet

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/argo"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
)

// configRetry is the wait for a missing ConfigMap or Secret.
const configRetry = 2 * time.Second

// runContainers runs the init containers in order and then the others side by side.
func (p *pod) runContainers() {
	var sidecars sync.WaitGroup
	stopSidecars := make(chan struct{})
	p.ephemerals.begin()
	defer func() {
		close(stopSidecars)
		p.ephemerals.end()
		if !p.isEnding() { // else they are being stopped
			patience, cancel := context.WithTimeout(context.Background(), p.grace())
			defer cancel()
			p.stopContainers(patience, false)
		}
		sidecars.Wait()
		p.ephemerals.work.Wait()
	}()
	for i := range p.obj.Spec.InitContainers {
		c := &p.obj.Spec.InitContainers[i]
		if podspec.IsSidecar(c) {
			started := make(chan struct{})
			sidecar := p.member(c, initContainer, i)
			sidecar.started, sidecar.stop = sync.OnceFunc(func() { close(started) }), stopSidecars
			sidecars.Go(func() { sidecar.keep(corev1.RestartPolicyAlways) })
			select {
			case <-started:
			case <-p.starting.Done():
			}
			continue
		}
		policy := p.obj.Spec.RestartPolicy
		if policy == corev1.RestartPolicyAlways {
			policy = corev1.RestartPolicyOnFailure
		}
		if code := p.member(c, initContainer, i).keep(policy); code != 0 || p.starting.Err() != nil && !p.wasRunning() {
			return
		}
	}
	p.status.Update(func(s *corev1.PodStatus) {
		podstatus.SetCondition(s, corev1.PodInitialized, corev1.ConditionTrue, "")
		for i := range s.ContainerStatuses {
			if w := s.ContainerStatuses[i].State.Waiting; w != nil {
				w.Reason = "ContainerCreating"
			}
		}
	})
	var main sync.WaitGroup
	for i := range p.obj.Spec.Containers {
		main.Go(func() {
			c := &p.obj.Spec.Containers[i]
			p.member(c, mainContainer, i).keep(p.obj.Spec.RestartPolicy)
			if c.Name == argo.Main {
				close(p.mainOver)
			}
		})
	}
	main.Wait()
}

// pauseFor waits, and says whether the pod is still wanted.
func (p *pod) pauseFor(d time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.starting.Done():
		return false
	case <-stop:
		return false
	case <-timer.C:
		return true
	}
}

// executor does the work of Argo's executor for the pod.
func (p *pod) executor() *argo.Executor {
	return &argo.Executor{
		Step: p.argo, Pod: p.obj, Volumes: p.volumes, Client: p.k.client, Reporters: p.k.reporters,
		MainOver: p.mainOver, Adopted: p.adopted, Reporting: p.k.reporting, Log: p.log,
	}
}
