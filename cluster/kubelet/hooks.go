package kubelet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// hookTimeout bounds a hook's request; a pod's grace may end it sooner.
const hookTimeout = 10 * time.Minute

// postStart runs a container's hook after its start. Where it fails the container is ended.
func (p *pod) postStart(c *corev1.Container, proc *process) {
	if c.Lifecycle == nil || c.Lifecycle.PostStart == nil {
		return
	}
	ctx, cancel := context.WithCancel(p.starting)
	defer cancel()
	stop := untilExit(proc, cancel)
	defer stop()
	err := p.hook(ctx, c, c.Lifecycle.PostStart)
	if err == nil || ctx.Err() != nil {
		return
	}
	p.log.Info("hook failed", "container", c.Name, "hook", "postStart", "err", err)
	p.containerEvent(c, corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed: %v", err)
	p.containerEvent(c, corev1.EventTypeNormal, "Killing", "FailedPostStartHook")
	p.endContainer(c, proc, p.grace())
}

// preStop runs a container's hook before its end. The context is what patience there is.
func (p *pod) preStop(ctx context.Context, c *corev1.Container, proc *process) {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := untilExit(proc, cancel)
	defer stop()
	err := p.hook(ctx, c, c.Lifecycle.PreStop)
	select {
	case <-proc.exited:
		return
	default:
	}
	if err != nil {
		p.log.Info("hook failed", "container", c.Name, "hook", "preStop", "err", err)
		p.containerEvent(c, corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed: %v", err)
	}
}

// untilExit calls f when the container ends, until stop is called.
func untilExit(proc *process, f func()) (stop func()) {
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-proc.exited:
			f()
		case <-stopped:
		}
	}()
	return func() {
		close(stopped)
		<-done
	}
}

// hook carries out one lifecycle handler.
func (p *pod) hook(ctx context.Context, c *corev1.Container, handler *corev1.LifecycleHandler) error {
	switch {
	case handler.Exec != nil:
		code, output, err := p.ask(ctx, c, handler.Exec.Command)
		if err == nil && code != 0 {
			err = fmt.Errorf("command %q exited with %d: %s", handler.Exec.Command, code, output)
		}
		return err
	case handler.HTTPGet != nil:
		return p.httpHook(ctx, c, handler.HTTPGet)
	case handler.Sleep != nil:
		timer := time.NewTimer(time.Duration(handler.Sleep.Seconds) * time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("hooks are of the kinds exec, httpGet and sleep, and this is none of them")
}

// httpHook makes a request. That there is an answer is enough, whatever it says.
func (p *pod) httpHook(ctx context.Context, c *corev1.Container, get *corev1.HTTPGetAction) error {
	req, err := httpRequest(get, c, p.addr.String(), "lifecycle")
	if err != nil {
		return err
	}
	resp, err := hookClient.Do(req.WithContext(ctx))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxProbeOutput))
	return errors.Join(err, resp.Body.Close())
}

// hookClient asks servers of pods, whose certificates nobody vouches for, and through no proxy.
var hookClient = &http.Client{
	Timeout:   hookTimeout,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
}
