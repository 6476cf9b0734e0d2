// Package probes carries out the probes and the lifecycle hooks of containers.
package probes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// MaxOutput is how many bytes of a probe's output are kept.
const MaxOutput = 10 << 10

// httpProber does not follow redirects to other hosts, as in Kubernetes.
var httpProber = httpprobe.New(false)

// Container is a running container.
type Container struct {
	Spec       *corev1.Container
	Pod        string // its name, for errors
	Address    string // of the pod
	Restarts   bool   // it is restarted after its end
	Began      time.Time
	Exited     <-chan struct{} // closed when the container has ended
	Grace      time.Duration   // of the pod
	Ending     func() bool     // the pod is being stopped
	Started    func() bool     // its status says that it has started; an earlier kubelet may have seen that
	SetStarted func()
	SetReady   func(bool)
	End        func(grace time.Duration)
	Event      func(kind, reason, format string, args ...any)
	Exec       Exec
	Log        *slog.Logger
}

// Exec runs a command in a container, and returns its exit code and the beginning of its output.
type Exec func(ctx context.Context, command []string) (code int, output string, err error)

// Watch carries out the probes of a container until it has ended.
func (h Container) Watch() {
	if h.Spec.StartupProbe == nil && h.Spec.LivenessProbe == nil && h.Spec.ReadinessProbe == nil {
		return
	}
	over, end := context.WithCancel(context.Background())
	defer end()
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		defer end()
		<-h.Exited
	})
	h.watch(over)
}

func (h Container) watch(over context.Context) {
	if h.Spec.StartupProbe != nil && !h.Started() {
		decided, started := false, false
		h.repeat(over, startupProbe, h.Spec.StartupProbe, func(ok bool) bool {
			decided, started = true, ok
			return false
		})
		if !decided { // the container has ended, or is being stopped
			return
		}
		if !started {
			h.end(startupProbe, h.Spec.StartupProbe)
			return
		}
		h.SetStarted()
	}
	var work sync.WaitGroup
	defer work.Wait()
	if h.Spec.LivenessProbe != nil {
		work.Go(func() {
			h.repeat(over, livenessProbe, h.Spec.LivenessProbe, func(ok bool) bool {
				if !ok {
					h.end(livenessProbe, h.Spec.LivenessProbe)
				}
				return ok
			})
		})
	}
	if h.Spec.ReadinessProbe != nil {
		h.repeat(over, readinessProbe, h.Spec.ReadinessProbe, func(ok bool) bool {
			h.SetReady(ok)
			return true
		})
	}
}

// end ends a container that failed a probe.
func (h Container) end(kind string, spec *corev1.Probe) {
	restart := ""
	if h.Restarts {
		restart = ", will be restarted"
	}
	h.Event(corev1.EventTypeNormal, "Killing", "Container %s failed %s probe%s", h.Spec.Name, strings.ToLower(kind), restart)
	grace := h.Grace
	if s := spec.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	h.End(grace)
}

// repeat probes until the context ends or news returns false. It calls news when the result has changed, and as many probes in a row agree
// as their thresholds ask for.
func (h Container) repeat(over context.Context, kind string, spec *corev1.Probe, news func(ok bool) bool) {
	told, last, run := false, false, int32(0)
	wait := time.Until(h.Began.Add(time.Duration(spec.InitialDelaySeconds) * time.Second))
	for {
		timer := time.NewTimer(max(wait, 0))
		select {
		case <-over.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if kind != readinessProbe && h.Ending() {
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

// once probes once, and records an event for a failure.
func (h Container) once(over context.Context, kind string, spec *corev1.Probe) bool {
	result, output, err := h.probe(over, spec)
	switch {
	case over.Err() != nil:
	case err != nil:
		h.Event(corev1.EventTypeWarning, "Unhealthy", "%s probe errored and resulted in %s state: %v", kind, result, err)
	case result == probe.Warning:
		h.Event(corev1.EventTypeWarning, "ProbeWarning", "%s probe warning: %s", kind, output)
	case result != probe.Success:
		h.Event(corev1.EventTypeWarning, "Unhealthy", "%s probe failed: %s", kind, output)
	}
	return err == nil && (result == probe.Success || result == probe.Warning)
}

func (h Container) probe(over context.Context, spec *corev1.Probe) (probe.Result, string, error) {
	timeout := time.Duration(max(spec.TimeoutSeconds, 1)) * time.Second
	address := h.Address
	switch {
	case spec.Exec != nil:
		return h.command(over, spec.Exec.Command, timeout)
	case spec.HTTPGet != nil:
		req, err := httpRequest(spec.HTTPGet, h.Spec, address, "probe")
		if err != nil {
			return probe.Unknown, "", err
		}
		return httpProber.Probe(req, timeout)
	case spec.TCPSocket != nil:
		port, err := probe.ResolveContainerPort(spec.TCPSocket.Port, h.Spec)
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
	return probe.Unknown, "", fmt.Errorf("missing probe handler for %s:%s", h.Pod, h.Spec.Name)
}

// command runs a probe in the container.
func (h Container) command(over context.Context, command []string, timeout time.Duration) (probe.Result, string, error) {
	ctx, cancel := context.WithTimeout(over, timeout)
	defer cancel()
	code, output, err := h.Exec(ctx, command)
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

// httpRequest returns the request of a probe or a hook. It goes to the pod unless the spec names another host.
func httpRequest(get *corev1.HTTPGetAction, c *corev1.Container, address, purpose string) (*http.Request, error) {
	req, err := httpprobe.NewRequestForHTTPGetAction(get, c, address, purpose)
	if err == nil && strings.HasPrefix(req.UserAgent(), "kube-"+purpose+"/") {
		req.Header.Set("User-Agent", "kube-"+purpose+"/"+kubernetesVersion)
	}
	return req, err
}

// kubernetesVersion is the version whose kubelet this one imitates.
const kubernetesVersion = "1.34"
