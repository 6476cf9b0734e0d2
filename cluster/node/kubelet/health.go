package kubelet

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/probes"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/process"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/stream"
)

// probed is a running container for package probes.
func (m member) probed(proc *process.Process) probes.Container {
	p, c := m.p, m.c
	return probes.Container{
		Spec: c, Pod: p.obj.Name, Address: p.addr.String(), Began: proc.Started, Exited: proc.Exited, Grace: p.grace(), Log: p.log,
		Restarts: p.obj.Spec.RestartPolicy != corev1.RestartPolicyNever || podspec.IsSidecar(c),
		Ending:   p.isEnding,
		End:      func(grace time.Duration) { m.end(proc, grace) },
		Event:    func(kind, reason, format string, args ...any) { p.events.Container(c, kind, reason, format, args...) },
		Exec: func(ctx context.Context, command []string) (int, string, error) {
			var out probes.Output
			running, err := servedPod{p}.Container(c.Name)
			if err != nil {
				return 0, "", err
			}
			code, err := running.Exec(ctx, command, stream.Streams{Out: &out, Err: &out, Drain: outputDrain})
			return code, out.String(), err
		},
	}
}

// watchHealth carries out the probes of a container until it has ended.
func (m member) watchHealth(proc *process.Process) {
	h := m.probed(proc)
	h.Started = func() bool { return podspec.IsTrue(m.get().Started) }
	h.SetReady = func(ready bool) {
		m.set(func(cs *corev1.ContainerStatus) { cs.Ready = ready && cs.State.Running != nil })
	}
	h.SetStarted = func() {
		m.set(func(cs *corev1.ContainerStatus) {
			yes := true
			cs.Started, cs.Ready = &yes, m.c.ReadinessProbe == nil
		})
		if m.started != nil {
			m.started()
		}
	}
	m.p.k.work.Go(h.Watch)
}

// outputDrain is how long to wait for the output of a hook or a probe that has ended.
const outputDrain = time.Second
