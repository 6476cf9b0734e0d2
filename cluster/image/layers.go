package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	var fresh []string // layers that are only in tmp so far, as pairs of paths
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	seen := map[string]bool{}
	for _, l := range img.Layers {
		key := layerKey(l.DiffID)
		layers = append([]string{key}, layers...)
		if seen[key] || isFolder(filepath.Join(folder, key)) {
			continue
		}
		seen[key] = true
		tmp, err := os.MkdirTemp(s.path("tmp"), "layer-")
		if err != nil {
			return "", nil, err
		}
		fresh = append(fresh, tmp, filepath.Join(folder, key))
		g.Go(func() error { return s.unpackLayer(gctx, l, tmp, ids) })
	}
	err = g.Wait()
	if err == nil && len(fresh) > 0 {
		// A layer whose files a power cut emptied would be taken for whole for ever.
		err = syncFiles(folder)
	}
	for i := 0; i < len(fresh); i += 2 {
		if err == nil {
			err = os.Rename(fresh[i], fresh[i+1])
		}
		if isFolder(fresh[i+1]) && errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
			err = nil // another process was as quick
		}
		err = errors.Join(err, removeTree(fresh[i]))
	}
	if err != nil {
		return "", nil, err
	}
	for _, l := range img.Layers {
		_ = os.Remove(s.blob(l.Digest)) // a leftover is swept later
	}
	return folder, layers, nil
}

// mostBytes is what a layer's archive may unpack to.
func (l Layer) mostBytes() int64 { return min(maxLayer, bombFloor+bombRatio*l.Size) }

func layerKey(diffID string) string {
	_, hash, _ := strings.Cut(diffID, ":")
	return hash[:min(len(hash), keyLength)]
}

// unpackLayer unpacks a layer's archive and checks that it was the right one.
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
	if err := os.Chmod(dir, 0o755); err != nil {
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

// removeTree removes a folder whatever the modes of the folders in it. It is no error when there is none.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // if that fails, the removal below says so
		}
		return nil
	})
	return os.RemoveAll(dir)
}
