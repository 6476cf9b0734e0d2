package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/types"
	remotecommandconsts "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/remotecommand"
)

// Limits of a session of exec or attach.
const (
	sessionIdle   = 4 * time.Hour
	sessionCreate = 30 * time.Second
)

func (s *Server) serveExec(w http.ResponseWriter, r *http.Request) {
	s.serveSession(w, r, func(e *executor, name string, uid types.UID, o *remotecommand.Options) {
		remotecommand.ServeExec(w, r, e, name, uid, r.PathValue("container"), r.URL.Query()["command"],
			o, sessionIdle, sessionCreate, remotecommandconsts.SupportedStreamingProtocols)
	})
}

func (s *Server) serveAttach(w http.ResponseWriter, r *http.Request) {
	s.serveSession(w, r, func(e *executor, name string, uid types.UID, o *remotecommand.Options) {
		remotecommand.ServeAttach(w, r, e, name, uid, r.PathValue("container"),
			o, sessionIdle, sessionCreate, remotecommandconsts.SupportedStreamingProtocols)
	})
}

func (s *Server) serveSession(w http.ResponseWriter, r *http.Request, serve func(*executor, string, types.UID, *remotecommand.Options)) {
	p, obj, err := s.Pods.Find(r.PathValue("namespace"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	streams, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	serve(&executor{p, s.Watcher}, obj.Name, obj.UID, streams)
}

// lines accepts connections that notice when they break. A session takes its connection over from the HTTP server, which then no longer
// watches it, but the session always reads from it.
type lines struct{ net.Listener }

func (l lines) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &line{Conn: c, broken: func() {}}, nil
}

type line struct {
	net.Conn
	broken context.CancelFunc
}

func (l *line) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		l.broken()
	}
	return n, err
}

func (l *line) Close() error {
	l.broken()
	return l.Conn.Close()
}

// whileConnected makes the requests of a connection end with it.
func whileConnected(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		if l, ok := t.NetConn().(*line); ok {
			ctx, l.broken = context.WithCancel(ctx)
		}
	}
	return ctx
}
