package kubelet

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/argosy-ml/argosy/cluster/podnet"
)

// Changes are gathered for a moment, the longer the more pods there are, before
// hosts files are written: a fan-out of a hundred pods would otherwise write
// ten thousand.
const (
	hostsSettle    = 5 * time.Millisecond
	hostsSettlePod = time.Millisecond
)

var attach = podnet.Attach

// hosts keeps the hosts file of every running pod up to date: it stands in for
// cluster DNS.
type hosts struct {
	services []podnet.Host
	log      *slog.Logger
	changed  chan struct{}

	mu    sync.Mutex
	names map[string]map[types.UID]hostsEntry // by namespace
	dirty map[string]bool
}

type hostsEntry struct {
	pod     podnet.Pod
	file    string
	aliases []byte // rows of the pod's own
}

func newHosts(services []podnet.Host, log *slog.Logger) *hosts {
	return &hosts{
		services: services, log: log, changed: make(chan struct{}, 1),
		names: map[string]map[types.UID]hostsEntry{}, dirty: map[string]bool{},
	}
}

// add makes the pod known to its namespace and writes its own file at once.
func (h *hosts) add(p *pod) {
	o := p.obj
	e := hostsEntry{
		pod:  podnet.Pod{Name: o.Name, Namespace: o.Namespace, Hostname: o.Spec.Hostname, Subdomain: o.Spec.Subdomain, Addr: p.addr},
		file: filepath.Join(p.path("etc"), "hosts"), aliases: aliases(o),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names[o.Namespace] == nil {
		h.names[o.Namespace] = map[types.UID]hostsEntry{}
	}
	h.names[o.Namespace][o.UID] = e
	h.write(e)
	h.touch(o.Namespace)
}

func (h *hosts) remove(o *corev1.Pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.names[o.Namespace][o.UID]; !ok {
		return
	}
	delete(h.names[o.Namespace], o.UID)
	if len(h.names[o.Namespace]) == 0 {
		delete(h.names, o.Namespace)
	}
	h.touch(o.Namespace)
}

func (h *hosts) touch(namespace string) {
	h.dirty[namespace] = true
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// write writes one pod's file. The lock is held.
func (h *hosts) write(e hostsEntry) {
	others := append([]podnet.Host{}, h.services...)
	for _, o := range h.names[e.pod.Namespace] {
		if o.file != e.file {
			others = append(others, o.pod.Host())
		}
	}
	if err := replaceFile(e.file, append(podnet.RenderHosts(e.pod.Host(), others), e.aliases...), 0o644); err != nil && !os.IsNotExist(err) {
		h.log.Warn("hosts file not written", "pod", e.pod.Namespace+"/"+e.pod.Name, "err", err)
	}
}

func (h *hosts) settle() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := hostsSettle
	for ns := range h.dirty {
		d += time.Duration(len(h.names[ns])) * hostsSettlePod
	}
	return d
}

// run writes files until the context ends.
func (h *hosts) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(h.settle()):
		}
		h.mu.Lock()
		for ns := range h.dirty {
			delete(h.dirty, ns)
			for _, e := range h.names[ns] {
				h.write(e)
			}
		}
		h.mu.Unlock()
	}
}
