package controllers

import (
	"net/http"
	"path"
	"sync"

	"k8s.io/client-go/rest"
)

// onWatching calls f once every one of the resources is being watched through
// cfg. A controller opens a watch after it has read the whole list, so it
// then knows the state of the cluster: that is what "ready" means for it.
func onWatching(cfg *rest.Config, f func(), resources ...string) {
	w := &watching{missing: map[string]bool{}, f: f}
	for _, r := range resources {
		w.missing[r] = true
	}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && resp.StatusCode == http.StatusOK && req.URL.Query().Has("watch") {
				w.seen(path.Base(req.URL.Path))
			}
			return resp, err
		})
	})
}

type watching struct {
	mu      sync.Mutex
	missing map[string]bool
	f       func()
}

func (w *watching) seen(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.missing[resource] {
		return
	}
	delete(w.missing, resource)
	if len(w.missing) == 0 {
		w.f()
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
