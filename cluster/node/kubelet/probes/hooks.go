package probes

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

// PostStart runs the hook of a container that has started, and ends the container if the hook fails.
func (h Container) PostStart(starting context.Context) {
	c := h.Spec
	if c.Lifecycle == nil || c.Lifecycle.PostStart == nil {
		return
	}
	ctx, cancel := context.WithCancel(starting)
	defer cancel()
	stop := h.untilExit(cancel)
	defer stop()
	err := h.hook(ctx, c.Lifecycle.PostStart)
	if err == nil || ctx.Err() != nil {
		return
	}
	h.Log.Info("hook failed", "container", c.Name, "hook", "postStart", "err", err)
	h.Event(corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed: %v", err)
	h.Event(corev1.EventTypeNormal, "Killing", "FailedPostStartHook")
	h.End(h.Grace)
}

// PreStop runs the hook of a container that is about to be stopped, until the context ends.
func (h Container) PreStop(ctx context.Context) {
	c := h.Spec
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := h.untilExit(cancel)
	defer stop()
	err := h.hook(ctx, c.Lifecycle.PreStop)
	select {
	case <-h.Exited:
		return
	default:
	}
	if err != nil {
		h.Log.Info("hook failed", "container", c.Name, "hook", "preStop", "err", err)
		h.Event(corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed: %v", err)
	}
}

// untilExit calls f when the container ends, until stop is called.
func (h Container) untilExit(f func()) (stop func()) {
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-h.Exited:
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
func (h Container) hook(ctx context.Context, handler *corev1.LifecycleHandler) error {
	switch {
	case handler.Exec != nil:
		code, output, err := h.Exec(ctx, handler.Exec.Command)
		if err == nil && code != 0 {
			err = fmt.Errorf("command %q exited with %d: %s", handler.Exec.Command, code, output)
		}
		return err
	case handler.HTTPGet != nil:
		return h.httpHook(ctx, handler.HTTPGet)
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
	return errors.New("a hook must be of the kind exec, httpGet or sleep")
}

// httpHook makes a request. Any answer will do, whatever its code.
func (h Container) httpHook(ctx context.Context, get *corev1.HTTPGetAction) error {
	req, err := httpRequest(get, h.Spec, h.Address, "lifecycle")
	if err != nil {
		return err
	}
	resp, err := hookClient.Do(req.WithContext(ctx))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, MaxOutput))
	return errors.Join(err, resp.Body.Close())
}

// hookClient calls servers in pods. It uses no proxy and does not check certificates, as in Kubernetes.
var hookClient = &http.Client{
	Timeout:   hookTimeout,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
}
