// Package stream serves the apiserver's requests for containers: logs, exec, attach and port-forward.
package stream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/logs"
)

// apiserverName is the only client that is served.
const apiserverName = "kube-apiserver-kubelet-client"

// Pods finds pods for the server.
type Pods interface {
	// Find returns the object of a pod, and the pod itself or nil if it does not run.
	Find(namespace, name string) (Pod, *corev1.Pod, error)
	// Logs returns the folder of a pod's logs.
	Logs(uid types.UID) string
}

// Server serves the apiserver.
type Server struct {
	Pods      Pods
	Watcher   *logs.Watcher
	TLS       tls.Certificate
	ClientCAs *x509.CertPool // who may sign the apiserver's client certificate
	Log       *slog.Logger
}

// Serve serves until the context ends.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := s.server()
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(tls.NewListener(lines{listener}, s.tlsConfig())); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve logs and exec: %w", err)
	}
	return nil
}

func (s *Server) server() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", s.serveLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", s.serveExec)
	mux.HandleFunc("/exec/{namespace}/{pod}/{uid}/{container}", s.serveExec)
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", s.serveAttach)
	mux.HandleFunc("/attach/{namespace}/{pod}/{uid}/{container}", s.serveAttach)
	mux.HandleFunc("/portForward/{namespace}/{pod}", s.servePortForward)
	mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", s.servePortForward)
	return &http.Server{
		Handler: onlyApiserver(mux), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:    slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		ConnContext: whileConnected,
		// Exec upgrades its connection, which HTTP/2 cannot do.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
}

func (s *Server) tlsConfig() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{s.TLS}, MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: s.ClientCAs,
	}
}

// onlyApiserver refuses everybody else: the authority also signs certificates of clients that must not run commands here.
func onlyApiserver(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 || r.TLS.PeerCertificates[0].Subject.CommonName != apiserverName {
			http.Error(w, "only the apiserver is served here", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) serveLogs(w http.ResponseWriter, r *http.Request) {
	_, obj, err := s.Pods.Find(r.PathValue("namespace"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	o, previous, err := logs.ParseOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	container := r.PathValue("container")
	life, err := logs.Choose(s.Pods.Logs(obj.UID), container, previous)
	if errors.Is(err, logs.ErrNone) && !previous && hasRun(obj, container) { // the kubelet did its work, and wrote nothing
		return
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("container %q in pod %q %v", container, obj.Name, err), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	if err := logs.Copy(r.Context(), flushed{w}, life, s.Watcher, o); err != nil && r.Context().Err() == nil {
		s.Log.Warn("log not sent", "pod", obj.Namespace+"/"+obj.Name, "container", container, "err", err)
	}
}

// flushed makes a response flush through whatever wraps it.
type flushed struct{ http.ResponseWriter }

func (f flushed) Flush() { _ = http.NewResponseController(f.ResponseWriter).Flush() }

// hasRun says whether a container of the pod runs or has ended.
func hasRun(obj *corev1.Pod, container string) bool {
	return slices.ContainsFunc(slices.Concat(obj.Status.InitContainerStatuses, obj.Status.ContainerStatuses, obj.Status.EphemeralContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.Name == container && (s.State.Running != nil || s.State.Terminated != nil)
	})
}
