// Package registrytest is a registry of images for tests: on the loopback, in
// memory, and it writes down what it is asked for.
package registrytest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry is one that ends with its test.
type Registry struct {
	Host string // and port

	mu       sync.Mutex
	requests []string
}

// Admit says whether a request is let in. It answers others itself.
type Admit func(http.ResponseWriter, *http.Request) bool

// New starts a registry. Nil admits everybody.
func New(t testing.TB, admit Admit) *Registry {
	t.Helper()
	r := &Registry{}
	serve := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if admit != nil && !admit(w, req) {
			return
		}
		r.mu.Lock()
		r.requests = append(r.requests, req.Method+" "+req.URL.Path)
		r.mu.Unlock()
		serve.ServeHTTP(w, req)
	}))
	t.Cleanup(srv.Close)
	r.Host = strings.TrimPrefix(srv.URL, "http://")
	return r
}

// Refuse answers that another login, described as in the header WWW-Authenticate, is wanted.
func Refuse(w http.ResponseWriter, login string) bool {
	w.Header().Set("WWW-Authenticate", login)
	w.WriteHeader(http.StatusUnauthorized)
	return false
}

// Asked returns the requests that were let in since Forget was called last.
func (r *Registry) Asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Forget forgets the requests so far.
func (r *Registry) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = nil
}

// Push stores an image, forgets the requests so far and returns the image's name.
func (r *Registry) Push(t testing.TB, repo string, img v1.Image, options ...remote.Option) string {
	t.Helper()
	ref, err := name.ParseReference(r.Host + "/" + repo)
	if err == nil {
		err = remote.Write(ref, img, options...)
	}
	if err != nil {
		t.Fatalf("push %s: %v", repo, err)
	}
	r.Forget()
	return ref.Name()
}
