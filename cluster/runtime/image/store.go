package image

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
)

// Image is one image of one platform, as the store knows it.
type Image struct {
	// Digest of the image's manifest; by it an image is one and the same under all its names.
	Digest string `json:"digest"`
	// Target is the digest that a registry gave for the name: of the list of platforms, where there is one.
	Target string `json:"target"`
	// Names are full references. An image without any was replaced under its name by a newer one.
	Names  []string `json:"names"`
	Config string   `json:"config"` // digest of the configuration
	Layers []Layer  `json:"layers"` // lowest first
	// Loaded says that it came from an archive, so that no registry can be asked for it again.
	Loaded  bool      `json:"loaded,omitempty"`
	Created time.Time `json:"created"`
	Stored  time.Time `json:"stored"`
}

// Layer is a set of files that lie over those of the layers below it.
type Layer struct {
	Digest string `json:"digest"` // of the archive as it was pulled
	DiffID string `json:"diffID"` // of the archive unpacked to plain tar: what the layer is
	Size   int64  `json:"size"`   // bytes of the archive as it was pulled
}

// Size is what the image's layers take as archives, in bytes.
func (i *Image) Size() (n int64) {
	for _, l := range i.Layers {
		n += l.Size
	}
	return n
}

// Limits of what an image says about itself.
const (
	maxDocument = 8 << 20 // bytes of a manifest or configuration
	maxLayers   = 127     // as container engines have it
)

// Store is a folder of images. Several processes may use it at once.
type Store struct {
	dir  string
	seen os.FileInfo // the index when Changed was asked last
}

// Open makes the folder where it is missing.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	for _, d := range []string{"blobs", "layers", "tmp", "trash"} {
		if err := os.MkdirAll(s.path(d), 0o700); err != nil {
			return nil, fmt.Errorf("image store: %w", err)
		}
	}
	return s, nil
}

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *Store) blob(digest string) string {
	return s.path("blobs", strings.ReplaceAll(digest, ":", "-"))
}

// List returns all images that have a name, by name.
func (s *Store) List() ([]Image, error) {
	all, err := s.read()
	named := slices.DeleteFunc(all, func(i Image) bool { return len(i.Names) == 0 })
	slices.SortFunc(named, func(a, b Image) int { return strings.Compare(a.Names[0], b.Names[0]) })
	return named, err
}

// Find returns the image with a name, as ParseName gives it, or with a digest. Nil where the store has none.
func (s *Store) Find(name string) (*Image, error) {
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].is(name) {
			return &all[i], nil
		}
	}
	return nil, nil
}

func (i *Image) is(name string) bool { return i.Digest == name || slices.Contains(i.Names, name) }

// Config is what the image says about how it is to be run.
func (s *Store) Config(i *Image) (*v1.ConfigFile, error) {
	b, err := os.ReadFile(s.blob(i.Config))
	if err != nil {
		return nil, fmt.Errorf("configuration of image %s: %w", i.Digest, err)
	}
	var c v1.ConfigFile
	return &c, json.Unmarshal(b, &c)
}

// put records an image, under names if it is given some, which it takes from any other. It returns what the store knows of
// the image now.
func (s *Store) put(img Image, names ...string) (*Image, error) {
	err := s.change(func(all []Image) ([]Image, error) {
		for i := range all {
			all[i].Names = slices.DeleteFunc(all[i].Names, func(n string) bool { return slices.Contains(names, n) })
		}
		at := slices.IndexFunc(all, func(i Image) bool { return i.Digest == img.Digest })
		if at < 0 {
			at, all = len(all), append(all, img)
		}
		img.Loaded = img.Loaded && all[at].Loaded
		img.Names = slices.Concat(all[at].Names, names)
		slices.Sort(img.Names)
		img.Names = slices.Compact(img.Names)
		all[at] = img
		return all, nil
	})
	return &img, err
}

func (s *Store) index() string { return s.path("index.json") }

// read returns the index, which is replaced as a whole whenever it changes.
func (s *Store) read() ([]Image, error) {
	b, err := os.ReadFile(s.index())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Image
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("image store: %s: %w (remove the folder %s to begin with an empty store)", s.index(), err, s.dir)
	}
	return all, nil
}

// change reads the index, has it changed and writes it, with no other process in between.
func (s *Store) change(change func([]Image) ([]Image, error)) error {
	unlock, err := s.lock("lock", unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	if all, err = change(all); err != nil {
		return err
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return s.write(b, s.index())
}

// working keeps others from taking away what is not in the index yet.
func (s *Store) working() (done func(), err error) { return s.lock("busy", unix.LOCK_SH) }

func (s *Store) lock(name string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(s.path(name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("image store: %w", err)
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			_ = f.Close()
			return nil, fmt.Errorf("image store: lock %s: %w", f.Name(), err)
		}
		return func() { _ = f.Close() }, nil
	}
}

// putBlob stores a document under its digest.
func (s *Store) putBlob(b []byte) (digest string, err error) {
	digest = digestOf(b)
	if s.hasBlob(digest) {
		return digest, nil
	}
	return digest, s.write(b, s.blob(digest))
}

func (s *Store) hasBlob(digest string) bool {
	_, err := os.Stat(s.blob(digest))
	return err == nil
}

// write puts a file in place in one step, so that readers never see half of it.
func (s *Store) write(b []byte, path string) error {
	tmp, _, err := s.spool(context.Background(), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// spool writes a temporary file, safely on the disk when it returns, and returns its path and digest.
func (s *Store) spool(ctx context.Context, r io.Reader, limit int64) (path, digest string, err error) {
	f, err := os.CreateTemp(s.path("tmp"), "file-")
	if err != nil {
		return "", "", fmt.Errorf("image store: %w", err)
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, hash, &diskGuard{dir: s.dir}), io.LimitReader(&cancelled{ctx, r}, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("larger than %d bytes", limit)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

// cancelled is a reader that ends with a context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
