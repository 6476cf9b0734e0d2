package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// LayOver moves the replacements of the machine's files that all containers share into one folder, which overlays the
// machine's files in each container, so that they are created once. What an overlay cannot express stays in Files, Private
// and Layers. The folder becomes a file system in memory; containers that use an earlier one keep it.
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
	if err := errors.Join(s.hide(), s.ownTop(), s.emptyFolders(), s.ownTemporary()); err != nil {
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

// ownTop has root of containers own the machine's outermost folders, where it is not their owner: as with a layer for each of them, something
// can be put there.
func (s *Spec) ownTop() error {
	if !InUserNamespace() || !s.overlaid("/") {
		return nil
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := "/" + e.Name()
		if l, ok := (&root{spec: s}).layerOf(path); e.IsDir() && ok && l.Path == "/" && unix.Access(path, unix.R_OK|unix.X_OK) == nil {
			if err := s.foldersOver(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// hide keeps what is hidden out of the layers. No mount covers it: a container with CAP_SYS_ADMIN could take that away.
func (s *Spec) hide() error {
	var hidden []string
	for _, path := range s.Hidden {
		hidden = append(hidden, realPaths(path)...)
	}
	slices.SortFunc(hidden, byDepth)
	s.Hidden, s.Layers = nil, slices.Clone(s.Layers)
	for _, path := range hidden {
		if within(path, s.Hidden) {
			continue
		}
		s.Hidden = append(s.Hidden, path)
		if i := slices.IndexFunc(s.Layers, func(l Layer) bool { return l.Path == path && l.Kind != Symlink }); i >= 0 {
			s.Layers[i].Kind = Fresh
			continue
		}
		if !s.overlaid(path) {
			continue
		}
		if err := s.foldersOver(filepath.Dir(path)); err != nil {
			return err
		}
		// A whiteout: what an overlay has where something of a lower folder was removed.
		if err := unix.Mknod(filepath.Join(s.Over, path), unix.S_IFCHR, 0); err != nil {
			return fmt.Errorf("hide %s: %w", path, err)
		}
	}
	s.Layers = slices.DeleteFunc(s.Layers, func(l Layer) bool { return l.Kind != Fresh && within(l.Path, s.Hidden) })
	return nil
}

// realPaths are a place in a folder that is there, whether it is there itself or not, and what it leads to where it is a link.
func realPaths(path string) (paths []string) {
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		paths = append(paths, filepath.Join(folder, filepath.Base(path)))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(paths, real) {
		paths = append(paths, real)
	}
	return paths
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

// ownTemporary makes /var/tmp a folder of the container's root. It can be the machine's root's, who is not known in an ordinary user's
// sandbox: an overlay could not copy it up when something is written there.
func (s *Spec) ownTemporary() error {
	const path = "/var/tmp"
	if fi, err := os.Lstat(path); err != nil || !fi.IsDir() || !s.overlaid(path) {
		return nil //nolint:nilerr // the machine has none, or not of its own
	}
	return s.foldersOver(path)
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
func (r *root) lower(l Layer) string {
	lower := escapeOption(l.source(), true)
	if over := r.seen(l.Path); over != l.Path {
		lower = escapeOption(over, true) + ":" + lower
	}
	return lower
}
