package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
)

// volume is a Mount whose source was found. From here on it is known by a descriptor: a pod that changes names and links
// in what it shares with others cannot have something else mounted.
type volume struct {
	Mount
	source *os.File
	real   string // path of the source, free of links
	dir    bool
}

// openVolumes finds the sources of all mounts.
func (r *root) openVolumes() error {
	for _, m := range r.spec.Mounts {
		v, err := openVolume(m)
		if errors.Is(err, fs.ErrNotExist) && m.Optional {
			continue
		}
		if err == nil && m.Host {
			err = r.guard(v)
		}
		if err == nil {
			v.Target, err = r.resolve(m.Target)
		}
		if err != nil {
			return fmt.Errorf("mount %s: %w", m.Target, err)
		}
		r.volumes = append(r.volumes, v)
	}
	slices.SortStableFunc(r.volumes, func(a, b volume) int { return byDepth(a.Target, b.Target) })
	return nil
}

// guard refuses a volume of the host that shows the cluster's own files or the processes of everybody. Covering them does not help:
// who may mount may unmount.
func (r *root) guard(v volume) error {
	for _, path := range append([]string{"/proc"}, r.spec.Guarded...) {
		if within(v.real, []string{path}) || within(path, []string{v.real}) {
			return fmt.Errorf("%s belongs to the cluster, or holds %s, and is not for pods", v.real, path)
		}
	}
	return nil
}

// openHost opens a place of a folder of the machine. Pods write to what others mount: links never lead out of the folder.
func openHost(m Mount) (*os.File, error) {
	top, err := beneath.Open2(unix.AT_FDCWD, m.Source, 0, unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: m.Source, Err: err}
	}
	defer func() { _ = unix.Close(top) }()
	path := filepath.Join(m.Source, m.Place)
	fd, err := beneath.Open2(top, filepath.Clean(m.Place), 0, unix.RESOLVE_BENEATH)
	if errors.Is(err, unix.EXDEV) {
		return nil, ErrLeadsOut
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func openVolume(m Mount) (v volume, err error) {
	v.Mount = m
	if m.Host {
		v.source, err = openHost(m)
	} else {
		v.source, err = os.OpenFile(m.Source, unix.O_PATH, 0)
	}
	if err != nil {
		return v, err
	}
	if m.SubPath != "" {
		var fi os.FileInfo
		if fi, err = v.source.Stat(); err != nil {
			return v, err
		}
		if v.source, err = MakeBelow(v.source, m.SubPath, unix.RESOLVE_BENEATH, true, fi.Mode().Perm()); err != nil {
			return v, fmt.Errorf("subPath %q: %w", m.SubPath, err)
		}
	}
	fi, err := v.source.Stat()
	if err != nil {
		return v, err
	}
	v.dir = fi.IsDir()
	v.real, err = os.Readlink(procPath(v.source))
	return v, err
}

// procPath is a path that means exactly what the descriptor means.
func procPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// ErrLeadsOut says that a symbolic link leads out of a volume.
var ErrLeadsOut = errors.New("a symbolic link leads out of the volume")

// MakeBelow opens path below the folder, following links as resolve (of openat2) says, and makes what is missing, also
// where a link leads. What lies there already may be a folder or a file.
func MakeBelow(folder *os.File, path string, resolve uint64, dir bool, mode fs.FileMode) (*os.File, error) {
	path = strings.Trim(filepath.Clean("/"+path), "/")
	if path == "" {
		path = "."
	}
	open := func() (*os.File, error) {
		fd, err := beneath.Open2(int(folder.Fd()), path, 0, resolve)
		if errors.Is(err, unix.EXDEV) {
			return nil, ErrLeadsOut
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
	f, err := open()
	if !errors.Is(err, fs.ErrNotExist) || path == "." {
		return f, err
	}
	parent, err := MakeBelow(folder, filepath.Dir(path), resolve, true, mode|mode>>2&0o111) // who reads a file enters its folder
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	at, name := int(parent.Fd()), filepath.Base(path)
	if target, ok := linkIn(folder, parent, name); ok {
		return MakeBelow(folder, target, resolve, dir, mode)
	}
	if !dir {
		fd, err := unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_WRONLY|unix.O_CLOEXEC, uint32(mode.Perm()))
		if errors.Is(err, fs.ErrExist) { // as with folders below
			return open()
		}
		if err != nil {
			return nil, &fs.PathError{Op: "create", Path: path, Err: err}
		}
		if err := unix.Close(fd); err != nil {
			return nil, err
		}
		return open()
	}
	// Another container of the pod may have created the same folder in between.
	if err := unix.Mkdirat(at, name, uint32(mode.Perm())); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	f, err = open()
	if err != nil {
		return nil, err
	}
	return f, os.Chmod(procPath(f), mode.Perm()) // the umask has no say in what containers share
}

// linkIn says where below folder a symbolic link leads that lies in parent; ok is false where there is none.
func linkIn(folder, parent *os.File, name string) (target string, ok bool) {
	target, err := os.Readlink(filepath.Join(procPath(parent), name))
	if err != nil || filepath.IsAbs(target) {
		return target, err == nil
	}
	top, err1 := os.Readlink(procPath(folder))
	in, err2 := os.Readlink(procPath(parent))
	rel, err3 := filepath.Rel(top, in)
	return filepath.Join("/", rel, target), errors.Join(err1, err2, err3) == nil
}

// mountVolumes shows the volumes and makes the working folder.
func (r *root) mountVolumes() error {
	top, err := os.OpenFile(r.dir, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer top.Close()
	for _, v := range r.volumes {
		if err := r.mountVolume(top, v); err != nil {
			return fmt.Errorf("mount %s: %w", v.Target, err)
		}
	}
	if r.spec.Dir == "" {
		return nil
	}
	dir, err := r.resolve(r.spec.Dir)
	if err != nil {
		return err
	}
	f, err := MakeBelow(top, dir, unix.RESOLVE_IN_ROOT, true, 0o755)
	if err != nil {
		return fmt.Errorf("working folder: %w", err)
	}
	return f.Close()
}

func (r *root) mountVolume(top *os.File, v volume) error {
	defer v.source.Close()
	mode := fs.FileMode(0o755)
	if !v.dir {
		mode = 0o644
	}
	target, err := MakeBelow(top, v.Target, unix.RESOLVE_IN_ROOT, v.dir, mode)
	if err != nil {
		return err
	}
	defer target.Close()
	mount, err := unix.OpenTree(int(v.source.Fd()), "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("copy the mount of %s: %w", v.real, err)
	}
	defer func() { _ = unix.Close(mount) }()
	if v.ReadOnly {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(mount, "", unix.AT_RECURSIVE|unix.AT_EMPTY_PATH, &attr); err != nil {
			return fmt.Errorf("make it read-only: %w", err)
		}
	}
	return unix.MoveMount(mount, "", int(target.Fd()), "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// openOwn remembers the mounts that make up the container's root, before volumes are put over them.
func (r *root) openOwn() error {
	if !r.spec.ReadOnlyRoot {
		return nil
	}
	paths := []string{"/"}
	if r.spec.Image == nil {
		paths = append(paths, "/tmp", "/run")
		paths = append(paths, r.spec.Private...)
		for _, l := range r.spec.Layers {
			if l.Kind == Overlay && l.Path != "/" || l.Kind == Fresh {
				paths = append(paths, l.Path)
			}
		}
	}
	for _, p := range paths {
		f, err := os.OpenFile(r.in(p), unix.O_PATH, 0)
		if err != nil {
			return err
		}
		r.parts = append(r.parts, f)
	}
	return nil
}

// freeze makes the root read-only, volumes and devices excepted.
func (r *root) freeze() error {
	for _, f := range r.parts {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(int(f.Fd()), "", unix.AT_EMPTY_PATH, &attr); err != nil {
			return fmt.Errorf("make %s read-only: %w", f.Name(), err)
		}
		_ = f.Close()
	}
	return nil
}
