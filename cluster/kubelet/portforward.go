package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
)

// Limits of a port-forward session.
const (
	forwardIdle   = 4 * time.Hour
	forwardCreate = 30 * time.Second
)

func (k *Kubelet) servePortForward(w http.ResponseWriter, r *http.Request) {
	p, obj, err := k.find(r.PathValue("namespace"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if uid := r.PathValue("uid"); p == nil || uid != "" && uid != string(obj.UID) || !p.isRunning() {
		http.Error(w, fmt.Sprintf("pod %q does not run", obj.Name), http.StatusNotFound)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, forwarder{p}, obj.Name, obj.UID, options, forwardIdle, forwardCreate, portforward.SupportedProtocols)
}

// forwarder joins streams of a client to ports of a pod.
type forwarder struct{ pod *pod }

// PortForward joins one stream to a port on the pod's own loopback until the pod has no more to say.
func (f forwarder) PortForward(ctx context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	conn, err := f.pod.dialInside(ctx, int(port))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	// Nobody waits for this one: it may be blocked in a read that ends only with the client's connection.
	go func() {
		_, err := io.Copy(conn, stream)
		if err != nil { // the client is gone
			_ = conn.Close()
			return
		}
		_ = conn.CloseWrite()
	}()
	if _, err = io.Copy(stream, conn); errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// dialInside connects to a port on the loopback of the pod's network.
func (p *pod) dialInside(ctx context.Context, port int) (*net.TCPConn, error) {
	var dialer net.Dialer
	dial := func(address string) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	}
	if !p.obj.Spec.HostNetwork {
		p.dialed.Store(true) // first: or the connection might reach the next pod
		ns, err := p.holder.Namespace("net")
		if err != nil {
			return nil, fmt.Errorf("network of the pod: %w", err)
		}
		defer ns.Close()
		plain := dial
		dial = func(address string) (c net.Conn, err error) {
			err = inNamespace(ns, func() (err error) { c, err = plain(address); return err })
			return c, err
		}
	}
	conn, err := dial("127.0.0.1")
	if err != nil {
		if six, err6 := dial("::1"); err6 == nil {
			conn, err = six, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}
