package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Answers is a transport for others that look into registries, Argo's controller
// above all, which asks there for the command of an image that a step gives
// none. It lets the store answer for loaded images, which no registry may have,
// and for others when their registry does not. Those named as insecure are asked
// without encryption.
func (s *Store) Answers(next http.RoundTripper, insecure []string) http.RoundTripper {
	return answers{s, next, insecure}
}

// InsecureEnv is the environment variable that tells Argo's controller of insecure registries, separated by commas.
const InsecureEnv = "ARGOSY_INSECURE_REGISTRIES"

type answers struct {
	s        *Store
	next     http.RoundTripper
	insecure []string
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if slices.Contains(a.insecure, r.URL.Host) {
		r = r.Clone(r.Context())
		r.URL.Scheme = "http"
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return a.next.RoundTrip(r)
	}
	known := a.answer(r)
	if known != nil && known.first {
		return known.response(r), nil
	}
	resp, err := a.next.RoundTrip(r)
	if known == nil || err == nil && resp.StatusCode < http.StatusBadRequest || known.ping && !unreachable(err) {
		return resp, err
	}
	if err == nil {
		_ = resp.Body.Close()
	}
	return known.response(r), nil
}

// unreachable says whether no connection came about.
func unreachable(err error) bool {
	var dial *dialError
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dial) || errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// known is what the store can say to a request.
type known struct {
	first  bool // without asking the registry
	ping   bool // of the registry as a whole: whatever it says itself counts
	kind   types.MediaType
	digest string
	body   []byte
}

func (k *known) response(r *http.Request) *http.Response {
	h := http.Header{"Content-Type": {string(k.kind)}}
	if k.digest != "" {
		h.Set("Docker-Content-Digest", k.digest)
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(k.body)), ContentLength: int64(len(k.body)), Request: r,
	}
}

// answer is nil where the store knows nothing of what is asked for.
func (a answers) answer(r *http.Request) *known {
	all, err := a.s.List()
	if err != nil || len(all) == 0 {
		return nil // the registry is still there to be asked
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/v2/")
	if !ok {
		return token(r.URL, all)
	}
	if path == "" {
		if slices.ContainsFunc(all, func(i Image) bool { return i.in(r.URL.Host, "") }) {
			return &known{ping: true, kind: "application/json", body: []byte("{}")}
		}
		return nil
	}
	repo, tag, ok := strings.Cut(path, "/manifests/")
	if ok {
		return a.manifest(all, r.URL.Host, repo, tag)
	}
	repo, digest, ok := strings.Cut(path, "/blobs/")
	at := slices.IndexFunc(all, func(i Image) bool { return i.Config == digest && i.in(r.URL.Host, repo) })
	if !ok || at < 0 {
		return nil
	}
	return a.document(types.OCIConfigJSON, digest, all[at].Loaded)
}

func (a answers) manifest(all []Image, registry, repo, tag string) *known {
	separator := ":"
	if strings.Contains(tag, ":") {
		separator = "@"
	}
	ref, err := ParseName(registry + "/" + repo + separator + tag)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(all, func(i Image) bool { return i.is(ref.String()) })
	// The list of platforms that a digest may name is not kept.
	if at < 0 || ref.Pinned() && tag != all[at].Digest {
		return nil
	}
	k := a.document(types.OCIManifestSchema1, all[at].Digest, all[at].Loaded)
	if k == nil {
		return nil
	}
	var m v1.Manifest
	if json.Unmarshal(k.body, &m) == nil && m.MediaType != "" {
		k.kind = m.MediaType
	}
	return k
}

func (a answers) document(kind types.MediaType, digest string, first bool) *known {
	b, err := os.ReadFile(a.s.blob(digest))
	if err != nil {
		return nil
	}
	return &known{first: first, kind: kind, digest: digest, body: b}
}

// token lets a refusal of a token for a stored image pass, so that its manifest is asked for.
func token(u *url.URL, all []Image) *known {
	repo := strings.TrimSuffix(strings.TrimPrefix(u.Query().Get("scope"), "repository:"), ":pull")
	if repo == "" || !slices.ContainsFunc(all, func(i Image) bool { return i.in("", repo) }) {
		return nil
	}
	return &known{kind: "application/json", body: []byte(`{"token":"none"}`)}
}

// in says whether the image has a name of a registry and a repository; empty ones stand for any.
func (i *Image) in(registry, repo string) bool {
	return slices.ContainsFunc(i.Names, func(n string) bool {
		ref, err := ParseName(n)
		if err != nil {
			return false
		}
		at := ref.ref.Context()
		return (registry == "" || at.RegistryStr() == registry) && (repo == "" || at.RepositoryStr() == repo)
	})
}
