// Package programimage makes container images of pipeline programs, so that their functions run on any cluster. It needs no
// container engine.
package programimage

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Registries says how registries are talked to. Passwords are those of `docker login`.
type Registries struct {
	Insecure []string // host, and port if there is one, of those that may be talked to without https
}

// Base fetches the image to build on, for one platform.
func (r Registries) Base(ctx context.Context, image string, platform v1.Platform) (v1.Image, error) {
	ref, err := r.parse(image)
	if err != nil {
		return nil, err
	}
	base, err := remote.Image(ref, append(r.options(ctx), remote.WithPlatform(platform))...)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", image, err)
	}
	return base, nil
}

// Push stores the image in its registry.
func (r Registries) Push(ctx context.Context, img v1.Image, image string) error {
	ref, err := r.parse(image)
	if err != nil {
		return err
	}
	if err := remote.Write(ref, img, r.options(ctx)...); err != nil {
		return fmt.Errorf("pushing %s: %w", image, err)
	}
	return nil
}

func (r Registries) options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("argosy")}
}

func (r Registries) parse(image string) (name.Reference, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return nil, err
	}
	for _, host := range r.Insecure {
		if ref.Context().RegistryStr() == host {
			return name.ParseReference(image, name.Insecure)
		}
	}
	return ref, nil
}

// New returns an image with a program at the path file, as its entrypoint. Nil for base means that there is nothing else in
// it but a folder /tmp. The same program and base give the same image: it holds no times.
func New(base v1.Image, platform v1.Platform, program []byte, file string) (v1.Image, error) {
	files := []*tar.Header{{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(path.Clean(file), "/"), Mode: 0o755, Size: int64(len(program))}}
	kind := types.OCILayer
	if base == nil {
		files = append(files, &tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777})
		base = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	} else if t, err := base.MediaType(); err != nil {
		return nil, fmt.Errorf("reading the base image: %w", err)
	} else if t == types.DockerManifestSchema2 {
		kind = types.DockerLayer
	}
	archive, err := pack(files, program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil },
		tarball.WithMediaType(kind), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(base, mutate.Addendum{Layer: layer, MediaType: kind, History: v1.History{CreatedBy: "argosy image"}})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the base image: %w", err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Config.Entrypoint, config.Config.Cmd = []string{file}, nil
	return mutate.ConfigFile(img, config)
}

func pack(files []*tar.Header, program []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, header := range files {
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := w.Write(program); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Save writes the image as `docker save` would.
func Save(img v1.Image, image, file string) (err error) {
	ref, err := name.NewTag(image)
	if err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := tarball.Write(ref, img, out); err != nil {
		return fmt.Errorf("writing the archive: %w", errors.Join(err, out.Close(), os.Remove(file)))
	}
	return out.Close()
}

// Tagged returns a name with a tag: that of the name, else the beginning of the image's digest, so that every version of a
// program has a name of its own and no cluster runs an old one.
func Tagged(img v1.Image, image string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", err
	}
	if strings.Contains(image, "@") {
		return "", fmt.Errorf("%s names a digest: give a name without one", image)
	}
	if ref.Identifier() != name.DefaultTag || strings.HasSuffix(image, ":"+name.DefaultTag) {
		return image, nil
	}
	digest, err := img.Digest()
	if err != nil {
		return "", err
	}
	return image + ":" + digest.Hex[:12], nil
}
