package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// keyLength is how much of a layer's digest its folder is called by: the
// folders of 127 layers have to fit into the one page that mount(2) takes.
const keyLength = 26

// parallel bounds how many layers are fetched or unpacked at once.
const parallel = 3

// MissingError says that a layer is neither unpacked for these user ids nor here as an archive.
type MissingError struct{ Digest string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("layer %s is not in the store (any more)", e.Digest)
}

// Unpacked returns the folder that holds the unpacked layers and the names of
// the image's in it, topmost first, as overlayfs wants them. Layers that are
// not unpacked yet are unpacked now; their archives are of no more use after
// that and are removed.
func (s *Store) Unpacked(ctx context.Context, img *Image) (folder string, layers []string, err error) {
	done, err := s.working()
	if err != nil {
		return "", nil, err
	}
	defer done()
	ids, err := currentIDs()
	if err != nil {
		return "", nil, err
	}
	folder = s.path("layers", ids.key)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", nil, err
	}
	missing := map[string]Layer{} // by name
	for _, l := range img.Layers {
		key := layerKey(l.DiffID)
		layers = append(layers, key)
		if !isFolder(filepath.Join(folder, key)) {
			missing[key] = l
		}
	}
	slices.Reverse(layers)
	if err := s.unpackLayers(ctx, folder, missing, ids); err != nil {
		return "", nil, err
	}
	for _, l := range img.Layers {
		_ = os.Remove(s.blob(l.Digest)) // a leftover is swept later
	}
	return folder, layers, nil
}

// unpackLayers makes the layers' folders. They appear when all of them are whole, and safely on the disk: one whose files a
// power cut emptied would be taken for whole for ever.
func (s *Store) unpackLayers(ctx context.Context, folder string, missing map[string]Layer, ids idMap) (err error) {
	if len(missing) == 0 {
		return nil
	}
	tmp, err := os.MkdirTemp(s.path("tmp"), "layers-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeTree(tmp)) }()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for key, l := range missing {
		g.Go(func() error { return s.unpackLayer(gctx, l, filepath.Join(tmp, key), ids) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := syncFiles(folder); err != nil {
		return err
	}
	for key := range missing {
		err := os.Rename(filepath.Join(tmp, key), filepath.Join(folder, key))
		if err != nil && !isFolder(filepath.Join(folder, key)) { // another process may have been as quick
			return err
		}
	}
	return nil
}

// mostBytes is what a layer's archive may unpack to.
func (l Layer) mostBytes() int64 { return min(maxLayer, bombFloor+bombRatio*l.Size) }

func layerKey(diffID string) string {
	_, hash, _ := strings.Cut(diffID, ":")
	return hash[:min(len(hash), keyLength)]
}

// unpackLayer unpacks a layer's archive into a new folder and checks that it was the right one.
func (s *Store) unpackLayer(ctx context.Context, l Layer, dir string, ids idMap) error {
	f, err := os.Open(s.blob(l.Digest))
	if errors.Is(err, os.ErrNotExist) {
		return &MissingError{l.Digest}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := decompress(f)
	if err != nil {
		return fmt.Errorf("layer %s: %w", l.Digest, err)
	}
	defer plain.Close()
	hash := sha256.New()
	most := l.mostBytes()
	archive := io.TeeReader(&cancelled{ctx, plain}, hash)
	rules := Rules{MaxBytes: most, Trusted: ids.trusted, Owner: ids.owner}
	// Folders of a container's root are for everybody.
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
		return err
	}
	if err := Unpack(ctx, archive, dir, rules); err != nil {
		return fmt.Errorf("layer %s: %w", l.Digest, err)
	}
	// What follows the archive's end counts for its digest.
	n, err := io.Copy(io.Discard, io.LimitReader(archive, most))
	if err != nil {
		return fmt.Errorf("layer %s: %w", l.Digest, err)
	}
	if got := "sha256:" + hex.EncodeToString(hash.Sum(nil)); n == most || got != l.DiffID {
		return fmt.Errorf("layer %s unpacks to %s, and not to %s as the image's configuration says: the image is broken, or not what it claims to be", l.Digest, got, l.DiffID)
	}
	return nil
}

func isFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func syncFiles(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// removeTree removes a folder, if there is one, whatever the modes of the folders in it.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = os.Chmod(dir, 0o700) // if that fails, or one below, the removal says so
	if root, err := os.OpenRoot(dir); err == nil {
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = root.Chmod(name, 0o700)
			}
			return nil
		})
		_ = root.Close()
	}
	return os.RemoveAll(dir)
}
