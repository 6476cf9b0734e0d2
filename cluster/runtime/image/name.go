package image

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/name"
)

// Reference is where an image is to be found.
type Reference struct{ ref name.Reference }

// ParseName reads the name of an image the way container engines do, and Kubernetes: `python` is
// docker.io/library/python:latest, and a name may have one letter.
func ParseName(s string) (Reference, error) {
	full, err := reference.ParseNormalizedNamed(s)
	if err != nil {
		return Reference{}, fmt.Errorf("image name %q: %w", s, err)
	}
	ref, err := name.ParseReference(full.String())
	if err != nil {
		return Reference{}, fmt.Errorf("image name %q: %w", s, err)
	}
	return Reference{ref}, nil
}

// String is the full name.
func (r Reference) String() string { return friendly(r.ref.Name()) }

// Registry is the host, and port if it is not the usual one, that serves the image.
func (r Reference) Registry() string { return friendly(r.ref.Context().RegistryStr()) }

// Pinned says that the name holds a digest, so that it can only ever mean one image.
func (r Reference) Pinned() bool { _, ok := r.ref.(name.Digest); return ok }

// At is the name of exactly one image of the repository: that with a digest.
func (r Reference) At(digest string) string { return friendly(r.ref.Context().Digest(digest).Name()) }

// friendly is a name as people write it: Docker Hub answers under another name than the one it goes by.
func friendly(s string) string {
	if rest, ok := strings.CutPrefix(s, name.DefaultRegistry); ok {
		return "docker.io" + rest
	}
	return s
}

// HostName is the image that is this machine's own files. It is in no registry.
const HostName = "host"

// IsHost says whether an image name stands for this machine's own files, whatever its tag.
func IsHost(s string) bool {
	for _, n := range []string{HostName, "argosy/" + HostName} {
		if rest, ok := strings.CutPrefix(s, n); ok && (rest == "" || rest[0] == ':' || rest[0] == '@') {
			return true
		}
	}
	return false
}
