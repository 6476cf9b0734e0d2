package stream

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

	"github.com/argosy-ml/argosy/cluster/net/podnet"
)

// Limits of a port-forward session.
const (
	forwardIdle   = 4 * time.Hour
	forwardCreate = 30 * time.Second
)

func (s *Server) servePortForward(w http.ResponseWriter, r *http.Request) {
	p, obj, err := s.Pods.Find(r.PathValue("namespace"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if uid := r.PathValue("uid"); p == nil || uid != "" && uid != string(obj.UID) || !p.Running() {
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
type forwarder struct{ pod Pod }

// PortForward joins one stream to a port on the pod's loopback until the pod closes the connection.
func (f forwarder) PortForward(ctx context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	conn, err := dial(ctx, f.pod, int(port))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	// Nothing waits for this one, which may be blocked in a read that ends only with the client's connection.
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

// dial connects to a port on the loopback of a pod's network.
func dial(ctx context.Context, pod Pod, port int) (*net.TCPConn, error) {
	ns, err := pod.Network()
	if err != nil {
		return nil, fmt.Errorf("network of the pod: %w", err)
	}
	defer ns.Close()
	var dialer net.Dialer
	to := func(address string) (c net.Conn, err error) {
		err = podnet.In(ns, func() (err error) {
			c, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
			return err
		})
		return c, err
	}
	conn, err := to("127.0.0.1")
	if err != nil {
		if six, err6 := to("::1"); err6 == nil {
			conn, err = six, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}
