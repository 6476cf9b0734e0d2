package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// LayOver puts what all containers on the machine's files have in place of the machine's own into a folder that lies over
// its files in each of them, instead of making it anew for each. What cannot be had that way stays in Files, Private and
// Layers. The folder becomes a file system in memory; containers that still use the one that was there keep it.
func (s *Spec) LayOver(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := unix.Unmount(folder, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", folder, err)
	}
	// Not on the disk: it would lie in the very folder that it lies over.
	if err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount %s: %w", folder, err)
	}
	s.Over = folder
	if err := s.emptyFolders(); err != nil {
		return err
	}
	var left []File
	for _, f := range s.Files {
		if !within(f.Path, s.Empty) && !s.overlaid(f.Path) {
			left = append(left, f)
			continue
		}
		if err := s.foldersOver(filepath.Dir(f.Path)); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(folder, f.Path), f); err != nil {
			return err
		}
	}
	s.Files = left
	return nil
}

// emptyFolders makes folders that show nothing of the machine's, where the file system can say so.
func (s *Spec) emptyFolders() error {
	empty := func(path string) (done bool, err error) {
		if !s.overlaid(filepath.Dir(path)) {
			return false, nil
		}
		if err := s.foldersOver(filepath.Dir(path)); err != nil {
			return false, err
		}
		over := filepath.Join(s.Over, path)
		if err := os.Mkdir(over, 0o755); err != nil {
			return false, err
		}
		mark := "trusted.overlay.opaque"
		if InUserNamespace() {
			mark = "user.overlay.opaque"
		}
		if unix.Setxattr(over, mark, []byte("y"), 0) != nil {
			return false, os.Remove(over)
		}
		s.Empty = append(s.Empty, path)
		return true, nil
	}
	var private []string
	for _, p := range s.Private {
		done, err := empty(p)
		if err != nil {
			return err
		}
		if !done {
			private = append(private, p)
		}
	}
	s.Private = private
	var layers []Layer
	for _, l := range s.Layers {
		done := false
		if l.Kind == Fresh {
			var err error
			if done, err = empty(l.Path); err != nil {
				return err
			}
		}
		if !done {
			layers = append(layers, l)
		}
	}
	s.Layers = layers
	return nil
}

// overlaid says whether path lies in an overlay.
func (s *Spec) overlaid(path string) bool {
	l, ok := (&root{spec: s}).layerOf(path)
	return ok && l.Kind == Overlay
}

// foldersOver makes folders that merge with the machine's, and look like them.
func (s *Spec) foldersOver(path string) error {
	if path == "/" {
		return copyFolder(path, s.Over)
	}
	if err := s.foldersOver(filepath.Dir(path)); err != nil {
		return err
	}
	return copyFolder(path, filepath.Join(s.Over, path))
}

// seen is where something of the machine is found that a container sees at path.
func (r *root) seen(path string) string {
	if r.spec.Over == "" {
		return path
	}
	over := filepath.Join(r.spec.Over, path)
	if _, err := os.Lstat(over); err != nil {
		return path
	}
	return over
}

// lower is what an overlay shows of the machine.
func (r *root) lower(path string) string {
	lower := escapeOption(path, true)
	if over := r.seen(path); over != path {
		lower = escapeOption(over, true) + ":" + lower
	}
	return lower
}
