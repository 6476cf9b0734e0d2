package kubelet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
)

// Kinds of probes, as events name them.
const (
	startupProbe   = "Startup"
	livenessProbe  = "Liveness"
	readinessProbe = "Readiness"
)

// maxProbeOutput is how much of what a probe printed is kept.
const maxProbeOutput = 10 << 10

// httpProber asks servers of pods; as in Kubernetes it does not follow redirects to other hosts.
var httpProber = httpprobe.New(false)

// health watches over a running container.
type health struct {
	p    *pod
	c    *corev1.Container
	s    slot
	proc *process
}

// watchHealth carries out the probes of a container until it has ended.
func (p *pod) watchHealth(c *corev1.Container, s slot, proc *process) {
	if c.StartupProbe == nil && c.LivenessProbe == nil && c.ReadinessProbe == nil {
		return
	}
	h := health{p, c, s, proc}
	p.k.work.Go(func() {
		over, end := context.WithCancel(context.Background())
		defer end()
		var work sync.WaitGroup
		defer work.Wait()
		work.Go(func() {
			defer end()
			<-proc.exited
		})
		h.watch(over)
	})
}

// watch takes it from the status whether the container has started: another kubelet may have seen that.
func (h health) watch(over context.Context) {
	status := h.s.get()
	if h.c.StartupProbe != nil && !isTrue(status.Started) {
		decided, started := false, false
		h.repeat(over, startupProbe, h.c.StartupProbe, func(ok bool) bool {
			decided, started = true, ok
			return false
		})
		if !decided { // the container has ended, or is being stopped
			return
		}
		if !started {
			h.end(startupProbe, h.c.StartupProbe)
			return
		}
		h.started()
	}
	var work sync.WaitGroup
	defer work.Wait()
	if h.c.LivenessProbe != nil {
		work.Go(func() {
			h.repeat(over, livenessProbe, h.c.LivenessProbe, func(ok bool) bool {
				if !ok {
					h.end(livenessProbe, h.c.LivenessProbe)
				}
				return ok
			})
		})
	}
	if h.c.ReadinessProbe != nil {
		h.repeat(over, readinessProbe, h.c.ReadinessProbe, func(ok bool) bool {
			h.s.set(func(cs *corev1.ContainerStatus) { cs.Ready = ok && cs.State.Running != nil })
			return true
		})
	}
}

// started marks a container whose startup probe succeeded.
func (h health) started() {
	h.s.set(func(cs *corev1.ContainerStatus) {
		yes := true
		cs.Started, cs.Ready = &yes, h.c.ReadinessProbe == nil
	})
	if h.s.started != nil {
		h.s.started()
	}
}

// end ends a container that is not well.
func (h health) end(kind string, spec *corev1.Probe) {
	h.p.containerEvent(h.c, corev1.EventTypeNormal, "Killing", "Container %s failed %s probe%s", h.c.Name, strings.ToLower(kind), h.willRestart())
	grace := h.p.grace()
	if s := spec.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	h.p.endContainer(h.c, h.proc, grace)
}

func (h health) willRestart() string {
	if h.p.obj.Spec.RestartPolicy == corev1.RestartPolicyNever && !isSidecar(h.c) {
		return ""
	}
	return ", will be restarted"
}

// repeat probes until the context ends or the news is not to be continued. There is news when so many results in a row as
// wanted were the same, and other than before.
func (h health) repeat(over context.Context, kind string, spec *corev1.Probe, news func(ok bool) bool) {
	told, last, run := false, false, int32(0)
	wait := time.Until(h.proc.started.Add(time.Duration(spec.InitialDelaySeconds) * time.Second))
	for {
		timer := time.NewTimer(max(wait, 0))
		select {
		case <-over.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if kind != readinessProbe && h.p.isEnding() {
			return
		}
		began := time.Now()
		ok := h.once(over, kind, spec)
		if over.Err() != nil {
			return
		}
		if run++; ok != last {
			last, run = ok, 1
		}
		needed := max(spec.SuccessThreshold, 1)
		if !ok {
			needed = max(spec.FailureThreshold, 1)
		}
		if run >= needed && (!told || run == needed) {
			told = true
			if !news(ok) {
				return
			}
		}
		wait = time.Duration(max(spec.PeriodSeconds, 1))*time.Second - time.Since(began)
	}
}

// once probes, and tells of what is wrong.
func (h health) once(over context.Context, kind string, spec *corev1.Probe) bool {
	result, output, err := h.probe(over, spec)
	switch {
	case over.Err() != nil:
	case err != nil:
		h.p.containerEvent(h.c, corev1.EventTypeWarning, "Unhealthy", "%s probe errored and resulted in %s state: %v", kind, result, err)
	case result == probe.Warning:
		h.p.containerEvent(h.c, corev1.EventTypeWarning, "ProbeWarning", "%s probe warning: %s", kind, output)
	case result != probe.Success:
		h.p.containerEvent(h.c, corev1.EventTypeWarning, "Unhealthy", "%s probe failed: %s", kind, output)
	}
	return err == nil && (result == probe.Success || result == probe.Warning)
}

func (h health) probe(over context.Context, spec *corev1.Probe) (probe.Result, string, error) {
	timeout := time.Duration(max(spec.TimeoutSeconds, 1)) * time.Second
	address := h.p.addr.String()
	switch {
	case spec.Exec != nil:
		return h.command(over, spec.Exec.Command, timeout)
	case spec.HTTPGet != nil:
		req, err := httpRequest(spec.HTTPGet, h.c, address, "probe")
		if err != nil {
			return probe.Unknown, "", err
		}
		return httpProber.Probe(req, timeout)
	case spec.TCPSocket != nil:
		port, err := probe.ResolveContainerPort(spec.TCPSocket.Port, h.c)
		if err != nil {
			return probe.Unknown, "", err
		}
		if host := spec.TCPSocket.Host; host != "" {
			address = host
		}
		return tcpprobe.New().Probe(address, port, timeout)
	case spec.GRPC != nil:
		service := ""
		if spec.GRPC.Service != nil {
			service = *spec.GRPC.Service
		}
		return grpcprobe.New().Probe(address, service, int(spec.GRPC.Port), timeout)
	}
	return probe.Unknown, "", fmt.Errorf("missing probe handler for %s:%s", h.p.obj.Name, h.c.Name)
}

// command runs a probe in the container.
func (h health) command(over context.Context, command []string, timeout time.Duration) (probe.Result, string, error) {
	ctx, cancel := context.WithTimeout(over, timeout)
	defer cancel()
	code, output, err := h.p.ask(ctx, h.c, command)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return probe.Failure, fmt.Sprintf("command timed out: %q timed out after %s", strings.Join(command, " "), timeout), nil
	case err != nil:
		return probe.Unknown, "", err
	case code != 0:
		return probe.Failure, output, nil
	}
	return probe.Success, output, nil
}

// outputDrain is how long the output of a hook or a probe that has ended is waited for.
const outputDrain = time.Second

// ask runs a command of a hook or a probe in a container. What it leaves running is not waited for.
func (p *pod) ask(ctx context.Context, c *corev1.Container, command []string) (code int, output string, err error) {
	var out shortOutput
	code, err = p.exec(ctx, c.Name, command, streams{out: &out, errOut: &out, drain: outputDrain})
	return code, out.String(), err
}

// shortOutput keeps the beginning of what is written to it, by several writers.
type shortOutput struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *shortOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b.Write(p[:min(len(p), maxProbeOutput-o.b.Len())])
	return len(p), nil
}

func (o *shortOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// httpRequest is the request of a probe or a hook; an address of its own is the author's choice, else it is the pod's.
func httpRequest(get *corev1.HTTPGetAction, c *corev1.Container, address, purpose string) (*http.Request, error) {
	req, err := httpprobe.NewRequestForHTTPGetAction(get, c, address, purpose)
	if err == nil && strings.HasPrefix(req.UserAgent(), "kube-"+purpose+"/") {
		req.Header.Set("User-Agent", "kube-"+purpose+"/"+kubernetesVersion)
	}
	return req, err
}

// kubernetesVersion is the one whose kubelet this one behaves like.
const kubernetesVersion = "1.34"

// isSidecar says whether an init container lives beside the main ones.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
