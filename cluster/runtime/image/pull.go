package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"
)

// platform is what images must be made for.
var platform = v1.Platform{OS: "linux", Architecture: runtime.GOARCH}

// stallLimit ends a download that stands still for so long.
const stallLimit = time.Minute

// Pull gets an image from its registry, less what is here already, and returns
// it. Credentials are tried one after the other as long as the registry refuses
// them; with none it is asked without. The error is an *UnreachableError when no
// connection to the registry came about.
func (s *Store) Pull(ctx context.Context, c *Client, ref Reference, credentials ...authn.Keychain) (*Image, error) {
	done, err := s.working()
	if err != nil {
		return nil, err
	}
	defer done()
	if len(credentials) == 0 {
		credentials = []authn.Keychain{authn.NewMultiKeychain()}
	}
	for _, keys := range credentials {
		var img *Image
		if img, err = s.pullWith(ctx, c, ref, keys); err == nil {
			return img, nil
		}
		if !refused(err) {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return nil, explain(ref, err)
}

func (s *Store) pullWith(ctx context.Context, c *Client, r Reference, keys authn.Keychain) (*Image, error) {
	p, err := c.puller(keys)
	if err != nil {
		return nil, err
	}
	ref, err := c.reference(r)
	if err != nil {
		return nil, err
	}
	known, err := s.Find(r.String())
	if err != nil {
		return nil, err
	}
	if known != nil && s.Complete(known) {
		// Asking which image has the name costs a registry nothing, and is not counted by those that count.
		if d, err := p.Head(ctx, ref); err == nil && d.Digest.String() == known.Target {
			return known, nil
		}
	}
	d, err := p.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	switch d.MediaType {
	case types.DockerManifestSchema1, types.DockerManifestSchema1Signed:
		return nil, errors.New("the image is of a format that was given up in 2017; push it again with a newer tool")
	}
	remoteImage, err := d.Image()
	if err != nil {
		return nil, fmt.Errorf("choose the image for %s: %w", platform.String(), err)
	}
	img, err := s.fetch(ctx, remoteImage, d)
	if err != nil {
		return nil, err
	}
	return s.put(*img, r.String())
}

// fetch stores an image's documents and the archives of those layers that are missing.
func (s *Store) fetch(ctx context.Context, from v1.Image, d *remote.Descriptor) (*Image, error) {
	manifest, err := from.Manifest()
	if err != nil {
		return nil, err
	}
	if manifest.Config.Size > maxDocument {
		return nil, fmt.Errorf("its configuration has %d bytes, which is more than %d", manifest.Config.Size, maxDocument)
	}
	rawManifest, err1 := from.RawManifest()
	rawConfig, err2 := from.RawConfigFile()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	img, err := s.describe(rawManifest, rawConfig)
	if err != nil {
		return nil, err
	}
	img.Target = d.Digest.String()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, l := range manifest.Layers {
		if len(l.URLs) > 0 {
			return nil, fmt.Errorf("layer %s is not in the registry but at an address of its author's choice, which is not followed", l.Digest)
		}
	}
	for i, l := range img.Layers {
		if s.hasLayer(l) || slices.ContainsFunc(img.Layers[:i], func(o Layer) bool { return o.Digest == l.Digest }) {
			continue
		}
		g.Go(func() error { return s.fetchLayer(ctx, from, l) })
	}
	return img, g.Wait()
}

// describe reads an image's documents, stores them and returns what they say. No layer is looked at.
func (s *Store) describe(rawManifest, rawConfig []byte) (*Image, error) {
	manifest, err := parseDocument(rawManifest, v1.ParseManifest)
	if err != nil {
		return nil, fmt.Errorf("its manifest: %w", err)
	}
	config, err := parseDocument(rawConfig, v1.ParseConfigFile)
	if err != nil {
		return nil, fmt.Errorf("its configuration: %w", err)
	}
	if config.OS != "" && config.OS != platform.OS || config.Architecture != "" && config.Architecture != platform.Architecture {
		return nil, fmt.Errorf("it is made for %s/%s, and this machine is %s", config.OS, config.Architecture, platform.String())
	}
	if err := checkLayers(len(manifest.Layers)); err != nil {
		return nil, err
	}
	diffs := config.RootFS.DiffIDs
	if len(manifest.Layers) != len(diffs) {
		return nil, fmt.Errorf("it has %d layers by its manifest and %d by its configuration, which must agree", len(manifest.Layers), len(diffs))
	}
	img := &Image{Created: config.Created.Time, Stored: time.Now().UTC().Truncate(time.Second)}
	for i, l := range manifest.Layers {
		if l.Size < 0 || l.Size > maxLayer || l.Digest.Algorithm != "sha256" || diffs[i].Algorithm != "sha256" {
			return nil, fmt.Errorf("its layer %s has no size or digest that can be worked with", l.Digest)
		}
		img.Layers = append(img.Layers, Layer{Digest: l.Digest.String(), DiffID: diffs[i].String(), Size: l.Size})
	}
	if img.Config, err = s.putBlob(rawConfig); err != nil {
		return nil, err
	}
	if img.Digest, err = s.putBlob(rawManifest); err != nil {
		return nil, err
	}
	img.Target = img.Digest
	return img, nil
}

func checkLayers(n int) error {
	if n > maxLayers {
		return fmt.Errorf("it has %d layers, and %d are the most that are mounted", n, maxLayers)
	}
	return nil
}

// hasLayer says whether a layer is here, unpacked or as an archive.
func (s *Store) hasLayer(l Layer) bool {
	if s.hasBlob(l.Digest) {
		return true
	}
	// Whether it is unpacked for the ids of pods only shows inside the sandbox; there the ids are this process's own.
	if ids, err := currentIDs(); err == nil && os.Geteuid() == 0 && !ids.trusted {
		return isFolder(s.path("layers", ids.key, layerKey(l.DiffID)))
	}
	return len(s.glob("layers/*/"+layerKey(l.DiffID))) > 0
}

// Complete says whether all of an image is still here. What was unpacked for other user ids than pods have now is not.
func (s *Store) Complete(img *Image) bool {
	return s.hasBlob(img.Config) && !slices.ContainsFunc(img.Layers, func(l Layer) bool { return !s.hasLayer(l) })
}

// parseDocument reads one of the JSON documents of an image.
func parseDocument[T any](b []byte, parse func(io.Reader) (*T, error)) (*T, error) {
	if len(b) > maxDocument {
		return nil, fmt.Errorf("%d bytes are more than the %d that are read", len(b), maxDocument)
	}
	return parse(bytes.NewReader(b))
}

func (s *Store) fetchLayer(ctx context.Context, from v1.Image, l Layer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hash, err := v1.NewHash(l.Digest)
	if err != nil {
		return err
	}
	layer, err := from.LayerByDigest(hash)
	if err != nil {
		return err
	}
	r, err := layer.Compressed()
	if err != nil {
		return fmt.Errorf("layer %s: %w", l.Digest, err)
	}
	defer r.Close()
	// The reader knows no context; closing it is what ends a read that hangs.
	stop := context.AfterFunc(ctx, func() { _ = r.Close() })
	defer stop()
	stalled := time.AfterFunc(stallLimit, func() { cancel(fmt.Errorf("nothing came for %v", stallLimit)) })
	defer stalled.Stop()
	tmp, digest, err := s.spool(ctx, &watched{r, stalled}, l.Size)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("layer %s: %w", l.Digest, err)
	}
	if digest != l.Digest {
		return errors.Join(fmt.Errorf("layer %s came as %s", l.Digest, digest), os.Remove(tmp))
	}
	return os.Rename(tmp, s.blob(l.Digest))
}

// watched is a reader that puts an alarm off whenever something comes.
type watched struct {
	r     io.Reader
	alarm *time.Timer
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	w.alarm.Reset(stallLimit)
	return n, err
}
