package kubelet

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/podholder"
	"github.com/argosy-ml/argosy/cluster/podlog"
)

// apiserverName is the only client that is served.
const apiserverName = "kube-apiserver-kubelet-client"

// server answers the apiserver's questions for logs and its orders to run commands.
func (k *Kubelet) server() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.serveLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.serveExec)
	mux.HandleFunc("/exec/{namespace}/{pod}/{uid}/{container}", k.serveExec)
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", k.serveAttach)
	mux.HandleFunc("/attach/{namespace}/{pod}/{uid}/{container}", k.serveAttach)
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.servePortForward)
	mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", k.servePortForward)
	return &http.Server{
		Handler: onlyApiserver(mux), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:    slog.NewLogLogger(k.log.Handler(), slog.LevelDebug),
		ConnContext: whileConnected,
		// Exec upgrades its connection, which HTTP/2 cannot do.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
}

func (k *Kubelet) tlsConfig() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{k.cfg.TLS}, MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: k.cfg.ClientCAs,
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

// find returns what is known of a pod by its name.
func (k *Kubelet) find(namespace, name string) (*pod, *corev1.Pod, error) {
	obj, err := k.pods.Pods(namespace).Get(name)
	if err != nil {
		return nil, nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[obj.UID], obj, nil
}

func (k *Kubelet) serveLogs(w http.ResponseWriter, r *http.Request) {
	_, obj, err := k.find(r.PathValue("namespace"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	o, previous, err := parseLogOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	container := r.PathValue("container")
	life, err := k.chooseLog(obj.UID, container, previous)
	if errors.Is(err, errNoLog) && !previous && hasRun(obj, container) { // the kubelet played it and wrote nothing
		return
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("container %q in pod %q %v", container, obj.Name, err), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	if err := copyLog(r.Context(), flushed{w}, life, k.folders, o); err != nil && r.Context().Err() == nil {
		k.log.Warn("log not sent", "pod", obj.Namespace+"/"+obj.Name, "container", container, "err", err)
	}
}

// flushed makes a response flush through whatever wraps it.
type flushed struct{ http.ResponseWriter }

func (f flushed) Flush() { _ = http.NewResponseController(f.ResponseWriter).Flush() }

var errNoLog = errors.New("is waiting to start, or has no log")

// hasRun says whether a container of the pod runs or has ended.
func hasRun(obj *corev1.Pod, container string) bool {
	return slices.ContainsFunc(slices.Concat(obj.Status.InitContainerStatuses, obj.Status.ContainerStatuses, obj.Status.EphemeralContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.Name == container && (s.State.Running != nil || s.State.Terminated != nil)
	})
}

// chooseLog finds the log of a container's latest life, or of the one before.
func (k *Kubelet) chooseLog(uid types.UID, container string, previous bool) (podlog.Life, error) {
	if container != filepath.Base(container) {
		return podlog.Life{}, errors.New("does not exist")
	}
	folder := filepath.Join(k.podDir(uid), podholder.LogFolder, container)
	lives, err := podlog.Lives(folder)
	if err != nil {
		return podlog.Life{}, err
	}
	if previous && len(lives) == 1 {
		return podlog.Life{}, errors.New("was not restarted, there is no previous log")
	}
	if previous && len(lives) > 0 {
		lives = lives[:len(lives)-1]
	}
	if len(lives) == 0 {
		return podlog.Life{}, errNoLog
	}
	return podlog.Life{Folder: folder, Number: lives[len(lives)-1]}, nil
}

// parseLogOptions reads the query that the apiserver makes of PodLogOptions.
func parseLogOptions(r *http.Request) (o logOptions, previous bool, err error) {
	q := r.URL.Query()
	o.tail = -1
	number := func(name string, least int64, into *int64) {
		if s := q.Get(name); s != "" && err == nil {
			n, perr := strconv.ParseInt(s, 10, 64)
			if perr != nil || n < least {
				err = fmt.Errorf("%s must be a whole number of at least %d, not %q", name, least, s)
			}
			*into = n
		}
	}
	truth := func(name string, into *bool) {
		if s := q.Get(name); s != "" && err == nil {
			if *into, err = strconv.ParseBool(s); err != nil {
				err = fmt.Errorf("%s must be true or false, not %q", name, s)
			}
		}
	}
	var seconds int64
	number("tailLines", 0, &o.tail)
	number("limitBytes", 1, &o.limit)
	number("sinceSeconds", 1, &seconds)
	truth("follow", &o.follow)
	truth("timestamps", &o.timestamps)
	truth("previous", &previous)
	if seconds > 0 {
		o.since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if s := q.Get("sinceTime"); s != "" && err == nil {
		if o.since, err = time.Parse(time.RFC3339, s); err != nil {
			err = fmt.Errorf("sinceTime must be a time like 2006-01-02T15:04:05Z, not %q", s)
		}
	}
	return o, previous, err
}
