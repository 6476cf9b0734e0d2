package image

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Load stores the images of an archive: what `docker save` or `podman save`
// writes, or an OCI layout, as a tar file (packed or not) or a folder; "-" is
// standard input. Name is for an image whose archive does not name it, or to be
// used instead when there is one image only. All digests are checked.
func (s *Store) Load(ctx context.Context, file string, stdin io.Reader, name string) ([]Image, error) {
	done, err := s.working()
	if err != nil {
		return nil, err
	}
	defer done()
	var a archive
	if file == "-" {
		a, err = s.spoolArchive(ctx, stdin)
	} else {
		a, err = s.openArchive(ctx, file)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", file, err)
	}
	l := &loader{s: s, ctx: ctx, a: a}
	err = l.load()
	if err == nil {
		err = l.name(name)
	}
	if err = errors.Join(err, a.close()); err != nil {
		return nil, fmt.Errorf("load %s: %w", file, err)
	}
	var stored []Image
	for _, f := range l.found {
		f.img.Loaded = true
		img, err := s.put(f.img, f.names...)
		if err != nil {
			return nil, err
		}
		stored = append(stored, *img)
	}
	return stored, nil
}

// loader is one Load.
type loader struct {
	s     *Store
	ctx   context.Context
	a     archive
	found []loaded
	seen  int // entries of lists
}

type loaded struct {
	img   Image
	names []string
}

func (l *loader) load() error {
	b, err := document(l.a, "manifest.json")
	if err == nil {
		return l.loadSaved(b)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, err = document(l.a, "index.json")
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has neither manifest.json, as `docker save` writes it, nor index.json, as an OCI layout has it")
	}
	if err != nil {
		return err
	}
	return l.loadIndex(b, 0)
}

// name gives the images the names that they are to have.
func (l *loader) name(instead string) error {
	if len(l.found) == 0 {
		return fmt.Errorf("it has no image for %s", platform.String())
	}
	if instead != "" {
		ref, err := ParseName(instead)
		if err != nil {
			return err
		}
		if len(l.found) > 1 {
			return fmt.Errorf("it has %d images, which cannot all be called %s", len(l.found), ref)
		}
		l.found[0].names = []string{ref.String()}
	}
	for _, f := range l.found {
		if len(f.names) == 0 {
			return fmt.Errorf("image %s has no name there: give it one with --name", f.img.Digest)
		}
	}
	return nil
}

// loadSaved reads what `docker save` writes, see https://github.com/moby/docker-image-spec.
func (l *loader) loadSaved(b []byte) error {
	var entries []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(b, &entries); err != nil {
		return fmt.Errorf("manifest.json: %w", err)
	}
	for _, e := range entries {
		if err := errors.Join(l.look(), checkLayers(len(e.Layers))); err != nil {
			return err
		}
		config, err := document(l.a, e.Config)
		if err != nil {
			return err
		}
		manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: v1.Descriptor{MediaType: types.OCIConfigJSON, Size: int64(len(config))}}
		if manifest.Config.Digest, err = v1.NewHash(digestOf(config)); err != nil {
			return err
		}
		for _, file := range e.Layers {
			d, err := l.layer(file, "")
			if err != nil {
				return err
			}
			manifest.Layers = append(manifest.Layers, d)
		}
		raw, err := json.Marshal(manifest)
		if err != nil {
			return err
		}
		if err := l.add(raw, config, e.RepoTags); err != nil {
			return err
		}
	}
	return nil
}

// maxImages bounds what an archive's lists, which may repeat each other, have looked at.
const maxImages = 1000

// look goes on to the next entry of a list.
func (l *loader) look() error {
	if l.seen++; l.seen > maxImages {
		return fmt.Errorf("it lists more than %d images", maxImages)
	}
	return l.ctx.Err()
}

// annotations under which tools leave an image's name: containerd's whole one, and the standard's, which may be a tag only.
var nameAnnotations = []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}

// maxNesting bounds indexes of indexes.
const maxNesting = 3

// loadIndex reads the list of images of an OCI layout, see https://github.com/opencontainers/image-spec/blob/main/image-layout.md.
func (l *loader) loadIndex(b []byte, depth int) error {
	index, err := parseDocument(b, v1.ParseIndexManifest)
	if err != nil {
		return err
	}
	if depth > maxNesting {
		return errors.New("its lists of images are nested too deep")
	}
	for _, d := range index.Manifests {
		if err := l.look(); err != nil {
			return err
		}
		if d.Platform != nil && d.Platform.OS != "" && !d.Platform.Satisfies(platform) {
			continue
		}
		raw, err := l.verified(d)
		if err != nil {
			return err
		}
		before := len(l.found)
		if d.MediaType.IsIndex() {
			err = l.loadIndex(raw, depth+1)
		} else {
			err = l.loadManifest(raw)
		}
		if err != nil {
			return err
		}
		for i := range l.found[before:] {
			found := &l.found[before+i]
			found.img.Target = d.Digest.String()
			if n := nameIn(d.Annotations); n != "" {
				found.names = append(found.names, n)
			}
		}
	}
	return nil
}

func nameIn(annotations map[string]string) string {
	for _, key := range nameAnnotations {
		n := annotations[key]
		// A mere tag names no image.
		if ref, err := ParseName(n); err == nil && strings.ContainsAny(n, "/:") {
			return ref.String()
		}
	}
	return ""
}

func (l *loader) loadManifest(raw []byte) error {
	manifest, err := parseDocument(raw, v1.ParseManifest)
	if err != nil {
		return err
	}
	config, err := l.verified(manifest.Config)
	if err != nil {
		return err
	}
	if err := checkLayers(len(manifest.Layers)); err != nil {
		return err
	}
	for _, d := range manifest.Layers {
		if _, err := l.layer(blobPath(d.Digest.String()), d.Digest.String()); err != nil {
			return err
		}
	}
	return l.add(raw, config, nil)
}

func (l *loader) add(manifest, config []byte, names []string) error {
	img, err := l.s.describe(manifest, config)
	if err != nil {
		return err
	}
	for _, layer := range img.Layers {
		if err := l.s.checkArchive(l.ctx, layer); err != nil {
			return err
		}
	}
	f := loaded{img: *img}
	for _, n := range names {
		ref, err := ParseName(n)
		if err != nil {
			return err
		}
		f.names = append(f.names, ref.String())
	}
	l.found = append(l.found, f)
	return nil
}

// verified reads a document that must have the digest that names it.
func (l *loader) verified(d v1.Descriptor) ([]byte, error) {
	b, err := document(l.a, blobPath(d.Digest.String()))
	if err == nil && digestOf(b) != d.Digest.String() {
		err = fmt.Errorf("the archive is broken: %s holds something else", d.Digest)
	}
	return b, err
}

// layer stores a layer's archive, which must have the given digest, if there is one.
func (l *loader) layer(file, digest string) (v1.Descriptor, error) {
	r, err := l.a.open(file)
	if err != nil {
		return v1.Descriptor{}, err
	}
	defer r.Close()
	tmp, got, err := l.s.spool(l.ctx, r, maxLayer)
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("%s: %w", file, err)
	}
	fi, err := os.Stat(tmp)
	if err == nil && got != cmp.Or(digest, got) {
		err = fmt.Errorf("the archive is broken: %s holds something else", file)
	}
	if err != nil {
		return v1.Descriptor{}, errors.Join(err, os.Remove(tmp))
	}
	hash, err := v1.NewHash(got)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: types.OCILayer, Size: fi.Size(), Digest: hash}, os.Rename(tmp, l.s.blob(got))
}

// checkArchive checks that a layer's archive unpacks to what the configuration says.
func (s *Store) checkArchive(ctx context.Context, l Layer) error {
	f, err := os.Open(s.blob(l.Digest))
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := decompress(f)
	if err != nil {
		return err
	}
	defer plain.Close()
	hash := sha256.New()
	most := l.mostBytes()
	n, err := io.Copy(hash, io.LimitReader(&cancelled{ctx, plain}, most+1))
	switch {
	case err != nil:
		return fmt.Errorf("layer %s: %w", l.Digest, err)
	case n > most:
		return fmt.Errorf("layer %s unpacks to more than %d bytes, which its archive's size does not account for", l.Digest, most)
	case "sha256:"+hex.EncodeToString(hash.Sum(nil)) != l.DiffID:
		return fmt.Errorf("layer %s is not %s, as the image's configuration says: the image is broken", l.Digest, l.DiffID)
	}
	return nil
}
