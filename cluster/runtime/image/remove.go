package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// NotFoundError says that the store has no image of a name.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("no image %s is stored here", e.Name) }

// Remove takes a name off its image, and the image out of the index when that
// was its last name or when it is called by its digest. Check may refuse: it
// sees the image before it goes. What nothing needs any more is on the disk until Sweep.
func (s *Store) Remove(name string, check func(*Image) error) error {
	return s.change(func(all []Image) ([]Image, error) {
		at := slices.IndexFunc(all, func(i Image) bool { return i.is(name) })
		if at < 0 {
			return nil, &NotFoundError{name}
		}
		img := &all[at]
		if len(img.Names) > 1 && img.Digest != name {
			img.Names = slices.DeleteFunc(img.Names, func(n string) bool { return n == name })
			return all, nil
		}
		if err := check(img); err != nil {
			return nil, err
		}
		return slices.Delete(all, at, at+1), nil
	})
}

// Resolve completes a user's reference to an image: a name, a digest, or the
// beginning of a digest with or without `sha256:`. It returns a reference for Find and Remove.
func (s *Store) Resolve(what string) (string, error) {
	all, err := s.read()
	if err != nil {
		return "", err
	}
	if ref, err := ParseName(what); err == nil && slices.ContainsFunc(all, func(i Image) bool { return i.is(ref.String()) }) {
		return ref.String(), nil
	}
	const shortest = 6
	hash := strings.TrimPrefix(what, "sha256:")
	var found []string
	for _, i := range all {
		if len(hash) >= shortest && strings.HasPrefix(strings.TrimPrefix(i.Digest, "sha256:"), hash) {
			found = append(found, i.Digest)
		}
	}
	switch len(found) {
	case 0:
		return "", &NotFoundError{what}
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%d images have a digest that begins with %s", len(found), what)
}

// Changed says whether the index was replaced since Changed was asked last by this Store.
func (s *Store) Changed() bool {
	fi, err := os.Stat(s.index())
	if err != nil || s.seen != nil && os.SameFile(s.seen, fi) && s.seen.ModTime().Equal(fi.ModTime()) {
		return false
	}
	s.seen = fi
	return true
}

// Sweep removes what no image needs: images without a name that are not used,
// archives and unpacked layers of none, what interrupted work left behind. It
// leaves that to a later call while images are being pulled, loaded or unpacked.
// Files of other users can only be removed inside the sandbox; left says how many
// layers are such.
func (s *Store) Sweep(used func(*Image) bool) (left int, err error) {
	if err := s.moveUnneeded(used); err != nil {
		return 0, err
	}
	// Without the lock: it may take a while, and no name leads there any more.
	for _, path := range s.glob("trash/*") {
		switch rmErr := removeTree(path); {
		case errors.Is(rmErr, os.ErrPermission):
			left++
		default:
			err = errors.Join(err, rmErr)
		}
	}
	return left, err
}

// moveUnneeded moves what nothing needs into the folder `trash`.
func (s *Store) moveUnneeded(used func(*Image) bool) error {
	unlock, err := s.lock("busy", unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	var needed []Image
	err = s.change(func(all []Image) ([]Image, error) {
		needed = slices.DeleteFunc(all, func(i Image) bool { return len(i.Names) == 0 && !used(&i) })
		return needed, nil
	})
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, i := range needed {
		keep[filepath.Base(s.blob(i.Digest))], keep[filepath.Base(s.blob(i.Config))] = true, true
		for _, l := range i.Layers {
			keep[filepath.Base(s.blob(l.Digest))], keep[layerKey(l.DiffID)] = true, true
		}
	}
	for _, path := range s.glob("blobs/*", "layers/*/*", "tmp/*") {
		if keep[filepath.Base(path)] && filepath.Dir(path) != s.path("tmp") {
			continue
		}
		to, mkErr := os.MkdirTemp(s.path("trash"), "")
		if mkErr != nil {
			return errors.Join(err, mkErr)
		}
		err = errors.Join(err, os.Rename(path, filepath.Join(to, "it")))
	}
	return err
}

// glob returns what lies in the store at places of these patterns, which hold no part of the store's own path.
func (s *Store) glob(patterns ...string) (found []string) {
	for _, p := range patterns {
		names, _ := fs.Glob(os.DirFS(s.dir), p) // the patterns are right
		for _, n := range names {
			found = append(found, s.path(n))
		}
	}
	return found
}
