package container

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// root assembles the private root of a container. Nothing here touches the
// host: it happens in a mount namespace of the container's own.
type root struct {
	spec    *Spec
	dir     string     // the new root
	volumes []volume   // outermost first
	parts   []*os.File // mounts that make up a root that is to be read-only
}

// path of something of the container before the root is changed.
func (r *root) in(path string) string { return filepath.Join(r.dir, path) }

// enterRoot builds the private root and makes it the root of this process.
func enterRoot(spec *Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if spec.Image == nil && spec.Over == "" {
		if err := spec.LayOver(filepath.Join(spec.Scratch, "over")); err != nil {
			return err
		}
	}
	r := &root{spec: spec, dir: filepath.Join(spec.Scratch, "root")}
	steps := []func() error{
		r.openVolumes, r.makeRoot, r.prepare, r.mountLayers, r.mountOwn, r.writeFiles, r.openOwn, r.mountVolumes, r.freeze, r.pivot,
	}
	if spec.Image != nil {
		steps = []func() error{r.openVolumes, r.mountImage, r.mountImageOwn, r.writeFiles, r.openOwn, r.mountVolumes, r.freeze, r.pivot}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *root) makeRoot() error {
	for _, d := range []string{r.dir, r.upper("/tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(r.upper("/tmp"), 0o1777|os.ModeSticky); err != nil {
		return err
	}
	if l, ok := r.layerOf("/"); ok && l.Kind == Overlay {
		return nil // it is a mount of its own
	}
	return unix.Mount(r.dir, r.dir, "", unix.MS_BIND, "")
}

// upper is the folder that takes what the container writes below a layer.
func (r *root) upper(layer string) string { return r.side("upper", layer) }

func (r *root) work(layer string) string { return r.side("work", layer) }

func (r *root) side(kind, layer string) string {
	return filepath.Join(r.spec.Scratch, kind, "%"+strings.ReplaceAll(strings.Trim(layer, "/"), "/", "%"))
}

// layerOf finds the innermost layer that holds path; ok is false where the
// container has something of its own there, or nothing yet.
func (r *root) layerOf(path string) (Layer, bool) {
	var best Layer
	for _, l := range r.spec.Layers {
		if l.Kind != Symlink && within(path, []string{l.Path}) && len(l.Path) > len(best.Path) {
			best = l
		}
	}
	return best, best.Path != "" && !r.apart(path)
}

// apart says whether a path is in none of the layers.
func (r *root) apart(path string) bool {
	return within(path, ownFolders) || within(path, r.spec.Private) || within(path, r.spec.Empty)
}

// own says whether nothing of the host is seen at a path.
func (r *root) own(path string) bool { return r.apart(path) || within(path, r.spec.Hidden) }

// resolve follows the host's symbolic links in path, the last one included,
// the way the container will see them. In an image there are none of the host's.
func (r *root) resolve(path string) (string, error) {
	if r.spec.Image != nil {
		return filepath.Clean("/" + path), nil
	}
	todo := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	at := "/"
	for links := 0; len(todo) > 0; {
		next := filepath.Join(at, todo[0])
		todo = todo[1:]
		if l, ok := r.layerOf(next); next == "/" || r.own(next) || ok && l.Kind == Fresh {
			at = next
			continue
		}
		target, err := os.Readlink(r.seen(next))
		if err != nil { // not a link, or not there at all
			at = next
			continue
		}
		if links++; links > 40 {
			return "", fmt.Errorf("%s: too many symbolic links", path)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		todo = append(strings.Split(strings.Trim(filepath.Clean(target), "/"), "/"), todo...)
		at = "/"
	}
	return at, nil
}

// prepare makes, in the upper layers, every place that files and volumes need.
// Below a folder that this user may not write this is the only way: a folder
// of the upper layer belongs to us and merges with the host's.
func (r *root) prepare() error {
	folders, err := r.ownPlaces()
	if err != nil {
		return err
	}
	for i, l := range r.spec.Layers {
		if l.Kind == Overlay && l.ReadOnly && !r.holdsAny(l.Path, folders) {
			r.spec.Layers[i].Kind = Plain
		}
	}
	for _, l := range r.spec.Layers {
		if l.Kind == Overlay {
			if err := errors.Join(os.MkdirAll(r.work(l.Path), 0o755), copyFolder(l.Path, r.upper(l.Path))); err != nil {
				return err
			}
		}
	}
	for _, dir := range folders {
		if err := r.makeUpper(dir); err != nil {
			return err
		}
	}
	for _, v := range r.volumes {
		make := r.makeUpperFile
		if v.dir {
			make = r.makeUpper
		}
		if err := make(v.Target); err != nil {
			return fmt.Errorf("mount %s: %w", v.Target, err)
		}
	}
	return nil
}

// ownPlaces are the folders, links followed, that the container's files lie in, the one it starts in, and those that are empty because the
// host's are hidden.
func (r *root) ownPlaces() (folders []string, err error) {
	places := []string{}
	for _, f := range r.spec.Files {
		places = append(places, filepath.Dir(f.Path)) // the file itself replaces whatever the host has there, a symbolic link included
	}
	if r.spec.Dir != "" {
		places = append(places, r.spec.Dir)
	}
	for _, path := range r.spec.Hidden {
		if fi, err := os.Stat(path); err == nil && fi.IsDir() {
			places = append(places, path)
		}
	}
	for _, place := range places {
		folder, err := r.resolve(place)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

// holdsAny says whether a folder of the host holds any of the folders, a volume, or what lies over the host's files.
func (r *root) holdsAny(path string, folders []string) bool {
	return r.seen(path) != path ||
		slices.ContainsFunc(folders, func(f string) bool { return within(f, []string{path}) }) ||
		slices.ContainsFunc(r.volumes, func(v volume) bool { return within(v.Target, []string{path}) })
}

// makeUpper makes path a folder of its upper layer, if it lies in one.
func (r *root) makeUpper(path string) error {
	l, ok := r.layerOf(path)
	if !ok || l.Kind != Overlay {
		return nil
	}
	host, upper := l.Path, r.upper(l.Path)
	rel, err := filepath.Rel(l.Path, path)
	if err != nil || rel == "." {
		return err
	}
	for name := range strings.SplitSeq(rel, "/") {
		host, upper = filepath.Join(host, name), filepath.Join(upper, name)
		like := r.seen(host)
		if within(host, r.spec.Hidden) {
			like = "" // nothing
		}
		if err := copyFolder(like, upper); err != nil {
			return err
		}
	}
	return nil
}

func (r *root) makeUpperFile(path string) error {
	l, ok := r.layerOf(path)
	if !ok || l.Kind != Overlay {
		return nil
	}
	if fi, err := os.Stat(r.seen(path)); err == nil && !fi.IsDir() && !r.own(path) {
		return nil
	}
	if err := r.makeUpper(filepath.Dir(path)); err != nil {
		return err
	}
	rel, err := filepath.Rel(l.Path, path)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.upper(l.Path), rel), nil, 0o644)
}

// copyFolder makes upper look like the host's folder, which may be missing.
func copyFolder(host, upper string) error {
	err := os.MkdirAll(filepath.Dir(upper), 0o755)
	if err == nil {
		err = os.Mkdir(upper, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var st unix.Stat_t
	switch err := unix.Stat(host, &st); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", host, err)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("%s is a file on this machine, and a folder is wanted there", host)
	}
	if err := unix.Chmod(upper, st.Mode&0o7777); err != nil {
		return err
	}
	// An owner that this user namespace does not know stays with us: the folder becomes writable, which is the point.
	if InUserNamespace() {
		return nil
	}
	return os.Lchown(upper, int(st.Uid), int(st.Gid))
}

func (r *root) mountLayers() error {
	slices.SortStableFunc(r.spec.Layers, func(a, b Layer) int { return byDepth(a.Path, b.Path) })
	for _, l := range r.spec.Layers {
		target := r.in(l.Path)
		if l.Kind == Symlink {
			if err := os.Symlink(l.Target, target); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			continue
		}
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		var err error
		switch l.Kind {
		case Overlay:
			err = mountOverlay(r.lower(l), r.upper(l.Path), r.work(l.Path), target)
		case Mirror:
			err = r.mirror(l.Path, target)
		case Fresh:
			err = r.empty(l.Path, target)
		case Plain:
			err = bind(l.Path, target, true)
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", cmp.Or(l.Kind, "mount"), l.Path, err)
		}
	}
	return nil
}

// empty makes a folder empty that a layer may show.
func (r *root) empty(path, target string) error {
	own := r.upper(path)
	if err := os.MkdirAll(own, 0o755); err != nil {
		return err
	}
	return bind(own, target, false)
}

// mirror shows each entry of the host's folder in the container's own folder. A folder that holds what is hidden is mirrored too.
func (r *root) mirror(folder, target string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, to := filepath.Join(folder, e.Name()), filepath.Join(target, e.Name())
		if r.replaced(from) {
			continue
		}
		if e.IsDir() && slices.ContainsFunc(r.spec.Hidden, func(h string) bool { return within(h, []string{from}) }) {
			if err := errors.Join(os.MkdirAll(to, 0o755), r.mirror(from, to)); err != nil {
				return err
			}
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(from)
			if err == nil {
				err = os.Symlink(link, to)
			}
			if err != nil {
				return err
			}
			continue
		}
		if err := place(to, e.IsDir()); err != nil {
			return err
		}
		if err := bind(from, to, true); err != nil {
			return err
		}
	}
	return nil
}

// replaced says whether the container has a file or folder of its own at path.
func (r *root) replaced(path string) bool {
	return r.own(path) || slices.ContainsFunc(r.spec.Files, func(f File) bool { return f.Path == path })
}

// place makes sure that something lies at path that can be mounted over.
func place(path string, dir bool) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return unix.Mknod(path, unix.S_IFREG|0o644, 0)
}

func bind(source, target string, readOnly bool) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if !readOnly {
		return nil
	}
	return unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

func (r *root) writeFiles() error {
	top, err := os.OpenFile(r.dir, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer top.Close()
	for _, f := range r.spec.Files {
		if err := r.writeFile(top, f); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

func (r *root) writeFile(top *os.File, f File) error {
	path, err := r.resolve(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	dir, err := MakeBelow(top, path, unix.RESOLVE_IN_ROOT, true, 0o755)
	if err != nil {
		return err
	}
	defer dir.Close()
	return replaceFile(filepath.Join(procPath(dir), filepath.Base(f.Path)), f)
}

// replaceFile puts a new file in place instead of writing into the old one,
// which may belong to a user that is not known here.
func replaceFile(path string, f File) error {
	tmp := path + ".argosy"
	if err := os.RemoveAll(tmp); err != nil { // an image may hold anything
		return err
	}
	if f.Link != "" {
		if err := os.Symlink(f.Link, tmp); err != nil {
			return err
		}
		return os.Rename(tmp, path)
	}
	if err := os.WriteFile(tmp, f.Data, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(tmp, f.Mode); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func (r *root) pivot() error {
	if err := os.Chdir(r.dir); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the host's root: %w", err)
	}
	return os.Chdir("/")
}
